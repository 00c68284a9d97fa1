/* Random numbers: a ChaCha8 stream a user, keyed from the system's entropy.
 *
 * Owns: the generator. Does not own: where its state lives.
 * Threads: a state has one user at a time.
 * Source: D. J. Bernstein, "ChaCha, a variant of Salsa20" (2008); the key is
 * replaced by output at every refill, so that a state read later tells nothing
 * of what came before.
 */
#ifndef NC_RANDOM_H
#define NC_RANDOM_H

#include "port.h"

#define NC_RANDOM_WORDS 8

struct nc_random {
	uint32_t key[8];
	uint32_t out[NC_RANDOM_WORDS]; /* unused output, from out[at] on */
	uint32_t at;                   /* NC_RANDOM_WORDS when used up */
	uint32_t fork_mark;            /* the process's when it was keyed */
};

/* Key the state afresh. In a fork's child it is keyed again before its next
 * output. */
void nc_random_init(struct nc_random *r);
uint32_t nc_random_u32(struct nc_random *r);
uint64_t nc_random_u64(struct nc_random *r);
/* Even over 0 .. bound - 1 but for a bias under bound / 2^32; bound is not 0. */
uint32_t nc_random_below(struct nc_random *r, uint32_t bound);

#endif
