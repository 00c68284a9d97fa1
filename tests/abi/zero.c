/* The zero-size forms, as glibc has them. */
#include "../testing.h"

static void check_malloc_zero(void)
{
	void *blocks[100];

	for (size_t i = 0; i < 100; i++) {
		blocks[i] = i % 4 == 0   ? malloc(0)
		            : i % 4 == 1 ? calloc(0, 8)
		            : i % 4 == 2 ? calloc(8, 0)
		                         : realloc(NULL, 0);
		CHECK(blocks[i]);
		CHECK(test_aligned(blocks[i], 16));
		for (size_t k = 0; k < i; k++)
			CHECK(blocks[k] != blocks[i]);
	}
	for (size_t i = 0; i < 100; i++)
		free(blocks[i]);
}

static void check_aligned_zero(void)
{
	void *block = NULL, *other;

	CHECK(posix_memalign(&block, 64, 0) == 0);
	CHECK(block && test_aligned(block, 64));
	other = memalign(64, 0);
	CHECK(other && other != block && test_aligned(other, 64));
	free(other);
	free(block);
	block = aligned_alloc(64, 0);
	CHECK(block && test_aligned(block, 64));
	free(block);
	block = valloc(0);
	CHECK(block && test_aligned(block, (size_t)sysconf(_SC_PAGESIZE)));
	free(block);
	block = pvalloc(0);
	CHECK(block && test_aligned(block, (size_t)sysconf(_SC_PAGESIZE)));
	free(block);
}

/* realloc(p, 0) frees p and returns NULL, and errno stays, as in glibc; inside musl
 * it gives an object. */
static void check_realloc_zero(void)
{
	static const size_t sizes[] = { 0, 1, 48, 5000, 60000, 200000, 5 << 20 };

	for (size_t round = 0; round < 2000; round++) {
		size_t size = sizes[round % (sizeof sizes / sizeof *sizes)];
		void *block = malloc(size);

		CHECK(block);
		errno = 0;
		block = round % 2 ? realloc(block, 0) : reallocarray(block, 0, 16);
#ifdef TEST_INSIDE
		CHECK(block);
		free(block);
#else
		CHECK(!block);
#endif
		CHECK(errno == 0);
	}
}

int main(void)
{
	void *block;

	check_malloc_zero();
	check_aligned_zero();
	check_realloc_zero();
	free(NULL);
	CHECK(malloc_usable_size(NULL) == 0);
	block = realloc(malloc(0), 100);
	CHECK(block && malloc_usable_size(block) >= 100);
	free(block);
	return 0;
}
