/* The operation fuzzer: bytes are calls of the allocation functions, checked
 * against a shadow model (contents, alignment, no overlap, usable size) and a
 * full validity walk at the end. Correct programs only: whatever ends the
 * process is a fault of nacre.
 *
 *   libFuzzer   clang -fsanitize=fuzzer (option -Dfuzz=true), ./ops CORPUS
 *   AFL++       afl-clang-fast; reads standard input
 *   replay      ./ops_replay FILE... (always built, run as a test); without a
 *               file N random inputs: ./ops_replay -r N [SEED]
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <nacre.h>

#include "api.h"

#define SLOTS 64

struct slot {
	unsigned char *p;
	size_t size, align;
	unsigned char tag;
};

static struct slot slots[SLOTS];

static void fail(const char *what)
{
	fprintf(stderr, "ops: %s\n", what);
	abort();
}

/* Sizes crowd around what matters: class borders, pages, large blocks. */
static size_t size_from(unsigned a, unsigned b)
{
	static const size_t borders[] = { 0,     16,     64,      256,    1024,
		                          1040,  4096,   8192,    16384,  65536,
		                          65552, 131072, 1 << 20, 3 << 20 };

	if (a < 160)
		return a * 4 + b % 8;
	return borders[a % (sizeof borders / sizeof *borders)] + b % 40;
}

static void fill(struct slot *s)
{
	memset(s->p, s->tag, s->size < 512 ? s->size : 512);
	if (s->size)
		s->p[s->size - 1] = s->tag;
}

static void check(const struct slot *s, size_t size)
{
	size_t n = size < s->size ? size : s->size;

	for (size_t i = 0; i < n && i < 512; i++)
		if (s->p[i] != s->tag)
			fail("contents changed");
	if (n == s->size && n && s->p[n - 1] != s->tag)
		fail("last byte changed");
}

static void settle(struct slot *s, unsigned char *p, size_t size, size_t align)
{
	static unsigned char next_tag;

	if (!p)
		fail("no memory");
	if ((uintptr_t)p % align || (uintptr_t)p % 16)
		fail("misaligned");
	if (nc_usable_size(p) < size)
		fail("usable size too small");
	for (int i = 0; i < SLOTS; i++)
		if (&slots[i] != s && slots[i].p && p < slots[i].p + slots[i].size + 1 &&
		    slots[i].p < p + size + 1)
			fail("overlap");
	*s = (struct slot){ p, size, align, ++next_tag };
	fill(s);
}

static void drop(struct slot *s, unsigned how)
{
	check(s, s->size);
	if (how % 3 == 0)
		nc_free(s->p);
	else
		nc_free_aligned_sized(s->p, s->align, s->size);
	s->p = NULL;
}

static void call(const uint8_t *d)
{
	struct slot *s = &slots[d[1] % SLOTS];
	size_t size = size_from(d[2], d[3]), align = 16;
	unsigned char *p;

	switch (d[0] % 6) {
	case 0:
	case 1:
		if (s->p)
			drop(s, d[3]);
		p = nc_malloc(size);
		break;
	case 2:
		if (s->p)
			drop(s, d[3]);
		p = nc_calloc(1, size);
		for (size_t i = 0; p && i < size; i += i < 512 ? 1 : 977)
			if (p[i])
				fail("calloc is not zero");
		break;
	case 3:
		if (s->p)
			drop(s, d[3]);
		align = (size_t)16 << d[3] % 14;
		p = nc_memalign(align, size);
		break;
	case 4:
		if (!size)
			size = 1; /* realloc(p, 0) is the host's choice */
		p = nc_realloc(s->p, size);
		if (s->p && p) {
			struct slot old = *s;
			old.p = p;
			check(&old, size);
		}
		break;
	default:
		if (s->p)
			drop(s, d[2]);
		return;
	}
	settle(s, p, size, align);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	for (size_t i = 0; i + 4 <= size && i < 4096; i += 4)
		call(data + i);
	nacre_check_heap();
	for (int i = 0; i < SLOTS; i++)
		if (slots[i].p)
			drop(&slots[i], 0);
	nacre_check_heap();
	return 0;
}

#ifndef NC_LIBFUZZER
static uint8_t input[1 << 16];

static int one(FILE *f)
{
	size_t n = fread(input, 1, sizeof input, f);

	return LLVMFuzzerTestOneInput(input, n);
}

int main(int argc, char **argv)
{
	if (argc > 2 && !strcmp(argv[1], "-r")) {
		srand(argc > 3 ? (unsigned)atoi(argv[3]) : 1);
		for (int round = atoi(argv[2]); round > 0; round--) {
			for (size_t i = 0; i < 4096; i++)
				input[i] = (uint8_t)(rand() >> 7);
			LLVMFuzzerTestOneInput(input, 4096);
		}
		return 0;
	}
	if (argc == 1)
		return one(stdin);
	for (int i = 1; i < argc; i++) {
		FILE *f = fopen(argv[i], "rb");
		if (!f)
			return 2;
		one(f);
		fclose(f);
	}
	return 0;
}
#endif
