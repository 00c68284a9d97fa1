/* Shared by correct programs that use the C library's names,
 * and say on standard output which check failed. */
#ifndef TESTING_H
#define TESTING_H
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "compat.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KIB ((size_t)1024)
#define MIB ((size_t)1 << 20)

/* Ends the program with status 1 when the condition does not hold. */
#define CHECK(condition) \
	((condition) ? (void)0 : test_fail(__FILE__, __LINE__, #condition))

static inline void test_fail(const char *file, int line, const char *condition)
{
	fflush(stdout);
	char text[300];
	int length = snprintf(text, sizeof text, "%s:%d: %s\n", file, line, condition);

	if (write(STDOUT_FILENO, text, (size_t)length) != length)
		_exit(2);
	_exit(1);
}

/* Is nacre loaded? Some checks ask more than the host's malloc gives. */
static inline bool test_is_nacre(void)
{
#ifdef TEST_INSIDE
	return true;
#else
	return dlsym(RTLD_DEFAULT, "nacre_version") != NULL;
#endif
}

static inline bool test_aligned(const void *block, size_t align)
{
	return ((uintptr_t)block & (align - 1)) == 0;
}

/* How many bytes to go on from place i: all of a block's first and last 4 KiB,
 * and some between. */
static inline size_t test_step(size_t i, size_t size)
{
	return i < 4 * KIB || size - i <= 4 * KIB + 509 ? 1 : 509;
}

/* A pattern that depends on the place and on the seed. */
static inline void test_fill(void *block, size_t size, unsigned seed)
{
	unsigned char *bytes = (unsigned char *)block;

	for (size_t i = 0; i < size; i += test_step(i, size))
		bytes[i] = (unsigned char)(i * 31 + seed * 7 + (i >> 8));
}

/* Is the pattern there? When the block had `filled` bytes at its filling. */
static inline bool test_holds(const void *block, size_t size, size_t filled,
                              unsigned seed)
{
	const unsigned char *bytes = (const unsigned char *)block;

	for (size_t i = 0; i < size; i += test_step(i, filled))
		if (bytes[i] != (unsigned char)(i * 31 + seed * 7 + (i >> 8)))
			return false;
	return true;
}

static inline bool test_zero(const void *block, size_t size)
{
	const unsigned char *bytes = (const unsigned char *)block;

	return !size || (!bytes[0] && !memcmp(bytes, bytes + 1, size - 1));
}

/* Sizes around every border that an allocator may have; 0 ends the list. */
static inline size_t test_size(size_t n)
{
	static const int around[] = { -17, -16, -9, -8, -5, -4, -1, 0, 1, 4, 16 };
	static const size_t large[] = { MIB / 2, MIB - 4,      MIB, MIB + 1,
		                        3 * MIB, 16 * MIB + 1, 0 };
	const size_t steps = sizeof around / sizeof *around;
	size_t base;

	if (n < 1100)
		return n + 1;
	n -= 1100;
	base = KIB << (n / steps / 2);
	if (n / steps % 2)
		base += base / 2;
	if (base <= 256 * KIB)
		return base + (size_t)around[n % steps];
	return large[n - 17 * steps];
}

/* Resident bytes of this process; 0 where the system does not say. */
static inline size_t test_resident_bytes(void)
{
	unsigned long total = 0, resident = 0;
	FILE *file = fopen("/proc/self/statm", "r");

	if (!file)
		return 0;
	if (fscanf(file, "%lu %lu", &total, &resident) != 2)
		resident = 0;
	fclose(file);
	return resident * (size_t)sysconf(_SC_PAGESIZE);
}

#endif
