/* malloc before main: in an IFUNC's resolver, in the pre-initialisers, in a
 * constructor; all of it is freed in main, and in a destructor. */
#include "../testing.h"

static unsigned char *from_resolver, *from_preinit, *from_constructor;

static int answer(void)
{
	return 42;
}

__attribute__((used)) static int (*resolve(void))(void)
{
	from_resolver = malloc(100);
	free(malloc(1000));
	free(calloc(1, 300000));
	return answer;
}

#ifdef __GLIBC__
int chosen(void) __attribute__((ifunc("resolve")));
#else /* musl has no IFUNCs */
static int chosen(void)
{
	return answer();
}
#endif

static void before_constructors(void)
{
	from_preinit = realloc(malloc(10), 2000);
	test_fill(from_preinit, 2000, 1);
}

__attribute__((section(".preinit_array"),
               used)) static void (*preinit)(void) = before_constructors;

__attribute__((constructor(101))) static void construct(void)
{
	from_constructor = malloc(5000);
	test_fill(from_constructor, 5000, 2);
}

__attribute__((destructor(101))) static void destruct(void)
{
	free(from_constructor);
	free(malloc(100000));
}

int main(void)
{
	CHECK(chosen() == 42);
#ifndef __GLIBC__ /* nor pre-initialisers */
	(void)preinit;
	before_constructors();
	resolve();
#endif
	CHECK(from_resolver && from_preinit && from_constructor);
	CHECK(malloc_usable_size(from_resolver) >= 100);
	CHECK(test_holds(from_preinit, 2000, 2000, 1));
	CHECK(test_holds(from_constructor, 5000, 5000, 2));
	free(from_resolver);
	free(from_preinit);
	return 0;
}
