#include "random.h"

#define ROUNDS 8

static uint32_t rotate_left(uint32_t x, unsigned n)
{
	return x << n | x >> (32 - n);
}

static void quarter(uint32_t *x, int a, int b, int c, int d)
{
	x[a] += x[b];
	x[d] = rotate_left(x[d] ^ x[a], 16);
	x[c] += x[d];
	x[b] = rotate_left(x[b] ^ x[c], 12);
	x[a] += x[b];
	x[d] = rotate_left(x[d] ^ x[a], 8);
	x[c] += x[d];
	x[b] = rotate_left(x[b] ^ x[c], 7);
}

/* One block: the first half becomes the next key, the second is output. */
static void refill(struct nc_random *r)
{
	const uint32_t start[16] = { 0x61707865, 0x3320646e, 0x79622d32, 0x6b206574,
		                     r->key[0],  r->key[1],  r->key[2],  r->key[3],
		                     r->key[4],  r->key[5],  r->key[6],  r->key[7] };
	uint32_t x[16];

	for (int i = 0; i < 16; i++)
		x[i] = start[i];
	for (int i = 0; i < ROUNDS; i += 2) {
		quarter(x, 0, 4, 8, 12);
		quarter(x, 1, 5, 9, 13);
		quarter(x, 2, 6, 10, 14);
		quarter(x, 3, 7, 11, 15);
		quarter(x, 0, 5, 10, 15);
		quarter(x, 1, 6, 11, 12);
		quarter(x, 2, 7, 8, 13);
		quarter(x, 3, 4, 9, 14);
	}
	for (int i = 0; i < 8; i++) {
		r->key[i] = x[i] + start[i];
		r->out[i] = x[8 + i] + start[8 + i];
	}
	r->at = 0;
}

void nc_random_init(struct nc_random *r)
{
	nc_port_entropy(r->key, sizeof r->key);
	r->fork_mark = nc_port_fork_mark();
	r->at = NC_RANDOM_WORDS;
}

uint32_t nc_random_u32(struct nc_random *r)
{
	if (NC_UNLIKELY(r->fork_mark != nc_port_fork_mark()))
		nc_random_init(r);
	if (r->at == NC_RANDOM_WORDS)
		refill(r);
	return r->out[r->at++];
}

uint64_t nc_random_u64(struct nc_random *r)
{
	uint64_t high = nc_random_u32(r);

	return high << 32 | nc_random_u32(r);
}

uint32_t nc_random_below(struct nc_random *r, uint32_t bound)
{
	return (uint32_t)((uint64_t)nc_random_u32(r) * bound >> 32);
}
