/* The C library's internal names and the old ones mix with the public ones. */
#include "../testing.h"

typedef void *one_size(size_t);
typedef void *two_sizes(size_t, size_t);
typedef void *resize(void *, size_t);
typedef void release(void *);

static void *function(const char *name)
{
	void *address = dlsym(RTLD_DEFAULT, name);

	if (!address)
		printf("%s is missing\n", name);
	return address;
}

int main(void)
{
	one_size *libc_malloc = (one_size *)function("__libc_malloc");
	two_sizes *libc_calloc = (two_sizes *)function("__libc_calloc");
	resize *libc_realloc = (resize *)function("__libc_realloc");
	release *libc_free = (release *)function("__libc_free");
	two_sizes *libc_memalign = (two_sizes *)function("__libc_memalign");
	one_size *libc_valloc = (one_size *)function("__libc_valloc");
	one_size *libc_pvalloc = (one_size *)function("__libc_pvalloc");
	release *old_cfree = (release *)dlsym(RTLD_DEFAULT, "cfree");

	fflush(stdout);
	CHECK(libc_malloc && libc_calloc && libc_realloc && libc_free && libc_memalign);
	CHECK(libc_valloc && libc_pvalloc);
	if (test_is_nacre())
		CHECK(old_cfree);
	for (size_t n = 0, size; (size = test_size(n)) != 0; n += n < 1100 ? 13 : 1) {
		size_t page = (size_t)sysconf(_SC_PAGESIZE);
		void *block = libc_malloc(size);

		CHECK(block && malloc_usable_size(block) >= size);
		test_fill(block, size, 1);
		block = realloc(block, size * 2);
		CHECK(test_holds(block, size, size, 1));
		block = libc_realloc(block, size * 3);
		CHECK(test_holds(block, size, size, 1));
		free(block);
		libc_free(malloc(size));
		block = libc_calloc(size, 1);
		CHECK(test_zero(block, size));
		free(block);
		block = libc_memalign(256, size);
		CHECK(test_aligned(block, 256));
		free(block);
		block = libc_valloc(size);
		CHECK(test_aligned(block, page));
		free(block);
		block = libc_pvalloc(size);
		CHECK(test_aligned(block, page) && malloc_usable_size(block) >= size);
		libc_free(block);
		if (old_cfree)
			old_cfree(malloc(size));
	}
	libc_free(NULL);
	/* Blocks that the C library makes and the program frees. */
	free(strdup("a block of the C library's"));
	CHECK(asprintf((char **)&(void *){ NULL }, "%d", 1) == 1);
	free(realpath("/", NULL));
	free(getcwd(NULL, 0));
	return 0;
}
