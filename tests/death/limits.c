/* Requests that no heap can serve: NULL and ENOMEM, and nothing has changed.
 * This program has no mistake; it ends with the number of the check that failed. */
#include "death.h"

static const size_t huge[] = {
	(size_t)PTRDIFF_MAX,
	(size_t)PTRDIFF_MAX + 1,
	SIZE_MAX,
	SIZE_MAX - 1,
	SIZE_MAX - 3,
	SIZE_MAX - 4,
	SIZE_MAX - 15,
	SIZE_MAX - 16,
	SIZE_MAX - 4095,
	SIZE_MAX - 4096,
	SIZE_MAX - 65535,
	SIZE_MAX - 65536,
	SIZE_MAX - ((size_t)1 << 20),
	SIZE_MAX / 2 - 4096,
	SIZE_MAX / 2 - 65536,
	SIZE_MAX / 2 - ((size_t)1 << 24),
};

/* Each pair's product is above SIZE_MAX or PTRDIFF_MAX. */
static const size_t pairs[][2] = {
	{ SIZE_MAX, 2 },
	{ 2, SIZE_MAX },
	{ SIZE_MAX, SIZE_MAX },
	{ SIZE_MAX / 2 + 1, 2 },
	{ SIZE_MAX / 2, 2 },
	{ (size_t)1 << (sizeof(size_t) * 4), (size_t)1 << (sizeof(size_t) * 4) },
	{ ((size_t)1 << (sizeof(size_t) * 4)) + 1,
	  ((size_t)1 << (sizeof(size_t) * 4)) + 1 },
	{ SIZE_MAX / 16 + 2, 16 },
	{ SIZE_MAX / 48 + 1, 48 },
	{ SIZE_MAX / 3 + 1, 3 },
	{ (size_t)PTRDIFF_MAX, 1 },
	{ 1, (size_t)PTRDIFF_MAX + 1 },
};

#define CHECK(condition)                                                     \
	do {                                                                 \
		if (!(condition)) {                                          \
			char text[200];                                      \
			snprintf(text, sizeof text, "line %d: %s", __LINE__, \
			         #condition);                                \
			say_text('!', text);                                 \
			_exit(1);                                            \
		}                                                            \
	} while (0)

#define REFUSED(expression)                  \
	do {                                 \
		errno = 0;                   \
		CHECK((expression) == NULL); \
		CHECK(errno == ENOMEM);      \
	} while (0)
/* An alignment that no address can have. */
#define REFUSED_ALIGN(expression)                          \
	do {                                               \
		errno = 0;                                 \
		CHECK((expression) == NULL);               \
		CHECK(errno == ENOMEM || errno == EINVAL); \
	} while (0)

/* Every byte of a small block, the first and samples of a large one. */
static size_t step(size_t i)
{
	return i < 8192 ? 1 : 4093;
}

static void check_intact(const unsigned char *block, size_t size)
{
	for (size_t i = 0; i < size; i += step(i))
		CHECK(block[i] == (unsigned char)(i * 7 + 3));
}

static void *filled(size_t size)
{
	unsigned char *block = must(malloc(size));

	for (size_t i = 0; i < size; i += step(i))
		block[i] = (unsigned char)(i * 7 + 3);
	return block;
}

static void check_plain(size_t size)
{
	void *untouched = &untouched;
	int code;

	REFUSED(malloc(size));
	REFUSED(calloc(1, size));
	REFUSED(calloc(size, 1));
	REFUSED(realloc(NULL, size));
	REFUSED(reallocarray(NULL, 1, size));
	REFUSED(valloc(size));
	REFUSED(pvalloc(size));
	for (size_t align = sizeof(void *); align && align <= (size_t)1 << 30;
	     align <<= 2) {
		REFUSED(memalign(align, size));
		REFUSED(aligned_alloc(align, size));
		code = posix_memalign(&untouched, align, size);
		CHECK(code == ENOMEM);
		CHECK(untouched == &untouched);
	}
}

static void check_old_block(size_t old_size)
{
	unsigned char *block = filled(old_size);

	for (size_t i = 0; i < sizeof huge / sizeof *huge; i++) {
		REFUSED(realloc(block, huge[i]));
		REFUSED(reallocarray(block, 1, huge[i]));
		check_intact(block, old_size);
	}
	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
		REFUSED(reallocarray(block, pairs[i][0], pairs[i][1]));
		check_intact(block, old_size);
	}
	free(block);
}

static void check_alignments(void)
{
	void *untouched = &untouched;
	const size_t top = (size_t)1 << (sizeof(size_t) * 8 - 1);

	REFUSED_ALIGN(memalign(top, 1));
	REFUSED_ALIGN(memalign(top >> 1, 1));
	REFUSED_ALIGN(aligned_alloc(top, top));
	REFUSED(memalign((size_t)1 << 20, (size_t)PTRDIFF_MAX - 100));
	CHECK(posix_memalign(&untouched, top, 1) == ENOMEM);
	CHECK(posix_memalign(&untouched, top >> 1, 8) == ENOMEM);
	CHECK(posix_memalign(&untouched, 0, 8) == EINVAL);
	CHECK(posix_memalign(&untouched, 3, 8) == EINVAL);
	CHECK(posix_memalign(&untouched, 4, 8) == EINVAL || sizeof(void *) == 4);
	CHECK(posix_memalign(&untouched, 24, 8) == EINVAL);
	CHECK(posix_memalign(&untouched, 3, SIZE_MAX) == EINVAL);
	CHECK(posix_memalign(&untouched, SIZE_MAX, 8) == EINVAL);
	CHECK(untouched == &untouched);
}

int main(int argc, char **argv)
{
	static const size_t old_sizes[] = { 1,     48,     1000,    8192,
		                            60000, 100000, 3 << 20, 40 << 20 };

	death_start(argc, argv);
	for (size_t i = 0; i < sizeof huge / sizeof *huge; i++)
		check_plain(huge[i]);
	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
		REFUSED(calloc(pairs[i][0], pairs[i][1]));
		REFUSED(reallocarray(NULL, pairs[i][0], pairs[i][1]));
	}
	for (size_t i = 0; i < sizeof old_sizes / sizeof *old_sizes; i++)
		check_old_block(old_sizes[i]);
	check_alignments();
	return 0;
}
