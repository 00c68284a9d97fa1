/* A server: each of THREADS threads replaces random blocks of its table by new ones of
 * random size. After ROUNDS times as many replacements as the table has blocks, a fresh
 * thread takes the table over and the old one ends: blocks outlive the thread that made
 * them and are freed by another.
 *
 *     larson [SECONDS MIN MAX BLOCKS ROUNDS SEED THREADS]
 *            5 8 1000 5000 100 4141 8
 *
 * SECONDS by the clock, may have a fraction; MIN and MAX size of a block in bytes;
 * BLOCKS of a thread's table; ROUNDS before a new thread; SEED of the random sizes.
 * Operations: replacements, one free and one malloc each; the filling before and the
 * emptying after are not counted.
 *
 * After P. Larson and M. Krishnan, "Memory allocation for long-running server
 * applications" (ISMM 1998), and the program known by that name, as in mimalloc-bench;
 * the arguments are those of its usual run. */
#include "bench.h"

static inline void *larson_alloc(size_t size)
{
	return bench_need(malloc(size));
}

static inline void larson_free(void *block, size_t size)
{
	(void)size;
	free(block);
}

#include "larson.h"

int main(int argc, char **argv)
{
	return larson_main("larson", argc, argv);
}
