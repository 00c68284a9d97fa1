/* larson.c's load by way of C++: operator new, and the operator delete that is told the
 * block's size.
 *
 *     larson_sized [SECONDS MIN MAX BLOCKS ROUNDS SEED THREADS]
 *                  5 8 1000 5000 100 4141 8
 *
 * Arguments, operations and source are larson.c's; sized deallocation is C++14's, and
 * mimalloc-bench runs it as larson-sized. */
#include <new>

#include "bench.h"

/* It is always in the library, but clang before 19 declares it only if asked to. */
void operator delete(void *block, std::size_t size) noexcept;

static inline void *larson_alloc(std::size_t size)
{
	return ::operator new(size);
}

static inline void larson_free(void *block, std::size_t size)
{
	::operator delete(block, size);
}

#include "larson.h"

int main(int argc, char **argv)
{
	return larson_main("larson_sized", argc, argv);
}
