/* Shared by the benchmark programs: a random stream, size distributions, and
 * the touching of blocks. Every program is deterministic in what it asks for
 * (threads' interleaving apart) and takes its lengths on the command line. */
#ifndef NACRE_BENCH_LOAD_H
#define NACRE_BENCH_LOAD_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* xorshift64* (Vigna, "An experimental exploration of Marsaglia's xorshift
 * generators, scrambled", 2016). The state must not be 0. */
static inline uint32_t load_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return (uint32_t)((*state * 2685821657736338717u) >> 32);
}

/* A share of blocks, in per mille, with sizes up to max bytes (evenly spread
 * from the previous row's max). The last row's share ends at 1000. */
struct load_sizes {
	uint32_t up_to_permille;
	uint32_t max;
};

/* Roughly what desktop and server programs ask for: half of the blocks are at
 * most 48 bytes, one in a thousand is larger than a quarter of a mebibyte. */
static const struct load_sizes load_realistic[] = {
	{ 180, 16 },   { 350, 32 },   { 520, 48 },    { 660, 64 },	{ 780, 128 },
	{ 870, 256 },  { 930, 512 },  { 965, 1024 },  { 985, 4096 },	{ 994, 16384 },
	{ 998, 65536 }, { 999, 262144 }, { 1000, 1048576 },
};

static inline size_t load_size(const struct load_sizes *sizes, uint64_t *state)
{
	uint32_t draw = load_random(state) % 1000, min = 0;

	while (draw >= sizes->up_to_permille)
		min = sizes++->max;
	return min + 1 + load_random(state) % (sizes->max - min);
}

static inline void *load_new(size_t size)
{
	unsigned char *block = malloc(size);

	if (!block) {
		fprintf(stderr, "out of memory (%zu bytes)\n", size);
		exit(1);
	}
	/* One write a page and one at the end: as the first use does. */
	for (size_t i = 0; i < size; i += 4096)
		block[i] = (unsigned char)i;
	block[size - 1] = 1;
	return block;
}

static inline long load_arg(int argc, char **argv, int i, long otherwise)
{
	return argc > i ? atol(argv[i]) : otherwise;
}

#endif
