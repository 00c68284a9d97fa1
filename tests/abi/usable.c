/* Every byte up to malloc_usable_size is the program's: it can be written, and
 * survives realloc. calloc gives zeros on reused memory, of every size. */
#include "../testing.h"

static void check_written(size_t size)
{
	unsigned char *block = malloc(size), *grown;
	size_t usable = malloc_usable_size(block), kept;

	CHECK(block && usable >= size);
	CHECK(test_aligned(block, 16));
	test_fill(block, usable, (unsigned)size);

	grown = realloc(block, usable + usable / 2 + 1);
	CHECK(grown && test_aligned(grown, 16));
	CHECK(test_holds(grown, usable, usable, (unsigned)size));
	CHECK(malloc_usable_size(grown) > usable + usable / 2);
	usable = malloc_usable_size(grown);
	test_fill(grown, usable, (unsigned)size);

	kept = size / 3 + 1;
	grown = realloc(grown, kept);
	CHECK(grown && test_aligned(grown, 16));
	CHECK(malloc_usable_size(grown) >= kept);
	CHECK(test_holds(grown, kept, usable, (unsigned)size));
	free(grown);
}

static void check_zeroed(size_t size)
{
	unsigned char *block[3];

	for (size_t i = 0; i < 3; i++) {
		block[i] = malloc(size);
		memset(block[i], 0xa5, malloc_usable_size(block[i]));
	}
	for (size_t i = 0; i < 3; i++)
		free(block[i]);
	for (size_t i = 0; i < 3; i++) {
		block[i] = i == 1 ? calloc(size, 1) : calloc(1, size);
		CHECK(block[i] && test_aligned(block[i], 16));
		CHECK(test_zero(block[i], size));
	}
	for (size_t i = 0; i < 3; i++)
		free(block[i]);
}

/* Dirty, freed, purged: zeros again. */
static void check_zeroed_after_trim(void)
{
	void *blocks[2000];

	for (size_t i = 0; i < 2000; i++) {
		blocks[i] = malloc(i * 37 % 20000 + 1);
		memset(blocks[i], 0x5a, malloc_usable_size(blocks[i]));
	}
	for (size_t i = 0; i < 2000; i++)
		free(blocks[i]);
	malloc_trim(0);
	for (size_t i = 0; i < 2000; i++) {
		blocks[i] = calloc(i * 37 % 20000 + 1, 1);
		CHECK(test_zero(blocks[i], i * 37 % 20000 + 1));
	}
	for (size_t i = 0; i < 2000; i++)
		free(blocks[i]);
}

/* Growing by 16 from 64 to 4096 moves about as rarely as with size classes. */
static void check_moves(void)
{
	void *block = malloc(64);
	size_t moves = 0;

	for (size_t size = 80; size <= 4096; size += 16) {
		void *grown = realloc(block, size);

		CHECK(grown);
		moves += grown != block;
		block = grown;
	}
	free(block);
	CHECK(moves <= 60);
}

int main(void)
{
	for (size_t n = 0, size; (size = test_size(n)) != 0; n++) {
		check_written(size);
		check_zeroed(size);
	}
	check_zeroed_after_trim();
	check_moves();
	return 0;
}
