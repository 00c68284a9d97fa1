/* The aligned forms: every power of two to 1 MiB with odd sizes, the errors,
 * and realloc of an aligned block. */
#include "../testing.h"

static const size_t odd_sizes[] = { 1,    3,    17,    63,    100,    1001,
	                            4095, 4097, 33333, 65537, 300001, 3000001 };
#define SIZES (sizeof odd_sizes / sizeof *odd_sizes)

static void *aligned(unsigned form, size_t align, size_t size)
{
	void *block = NULL;

	if (form == 0)
		return memalign(align, size);
	if (form == 1)
		return aligned_alloc(align, size);
	CHECK(posix_memalign(&block, align, size) == 0);
	return block;
}

static void check_align(unsigned form, size_t align)
{
	unsigned char *blocks[SIZES];

	for (size_t i = 0; i < SIZES; i++) {
		blocks[i] = aligned(form, align, odd_sizes[i]);
		CHECK(blocks[i]);
		CHECK(test_aligned(blocks[i], align));
		CHECK(test_aligned(blocks[i], 16));
		CHECK(malloc_usable_size(blocks[i]) >= odd_sizes[i]);
		test_fill(blocks[i], malloc_usable_size(blocks[i]), (unsigned)i);
	}
	for (size_t i = 0; i < SIZES; i++) {
		size_t usable = malloc_usable_size(blocks[i]);

		CHECK(test_holds(blocks[i], usable, usable, (unsigned)i));
		if (i % 2) {
			blocks[i] = realloc(blocks[i], odd_sizes[i] * 2);
			CHECK(blocks[i] &&
			      test_holds(blocks[i], odd_sizes[i], usable, (unsigned)i));
		}
		free(blocks[i]);
	}
}

static void check_pages(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	for (size_t i = 0; i < SIZES; i++) {
		void *block = valloc(odd_sizes[i]);
		void *whole = pvalloc(odd_sizes[i]);

		CHECK(block && test_aligned(block, page));
		CHECK(malloc_usable_size(block) >= odd_sizes[i]);
		CHECK(whole && test_aligned(whole, page));
		CHECK(malloc_usable_size(whole) >=
		      (odd_sizes[i] + page - 1) / page * page);
		test_fill(whole, malloc_usable_size(whole), 1);
		free(block);
		free(whole);
	}
}

/* memalign and aligned_alloc of no power of two: refused with EINVAL, or rounded
 * up as glibc 2.36 does. posix_memalign refuses by its return alone. */
static void check_wrong(size_t align)
{
	void *untouched = &untouched, *block;

	errno = 0;
	block = memalign(align, 100);
	CHECK(block ? test_aligned(block, 16) : errno == EINVAL);
	free(block);
	errno = 0;
	block = aligned_alloc(align, 100);
	CHECK(block ? test_aligned(block, 16) : errno == EINVAL);
	free(block);
	errno = 0;
	CHECK(posix_memalign(&untouched, align, 100) == EINVAL);
	CHECK(untouched == &untouched);
#ifdef __GLIBC__
	CHECK(errno == 0);
#endif
}

int main(void)
{
	static const size_t wrong[] = { 0, 3, 6, 7, 12, 24, 100, 1000, 4095, 65537 };

	for (size_t align = 1; align <= MIB; align *= 2)
		for (unsigned form = 0; form < 3; form++)
			if (form != 2 || align >= sizeof(void *))
				check_align(form, align);
	check_pages();
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		check_wrong(wrong[i]);
	return 0;
}
