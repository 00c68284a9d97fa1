/* The counted load: malloc and free in four fixed patterns.
 *
 *     pairs PATTERN SIZE ROUNDS
 *
 * Every round makes BATCH pairs of blocks of SIZE bytes. count.py runs this
 * under callgrind with two values of ROUNDS; the slope is the cost of a pair,
 * start-up and warm-up cancelled. The caller's loop is part of the slope: the
 * same file built against nothing.c instead of an allocator measures it (13
 * instructions a pair for batch, lifo and cross: 6 + 5 in the loops and a jump
 * through the PLT each; 8 for pair).
 *
 * Neither the blocks nor anything else is touched between the calls, and the
 * compiler may not know what malloc is (-fno-builtin). */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BATCH 256
#define RING 4

static void *slots[BATCH];
static void *ring[RING][BATCH];

/* A fixed trip count, so that both loops compile to the same few instructions
 * whatever is around them. */
static __attribute__((noinline)) void fill(void **slot, size_t size)
{
	for (int i = 0; i < BATCH; i++)
		slot[i] = malloc(size);
}

static __attribute__((noinline)) void drain(void **slot)
{
	for (int i = 0; i < BATCH; i++)
		free(slot[i]);
}

static __attribute__((noinline)) void drain_reverse(void **slot)
{
	for (void **p = slot + BATCH; p != slot;)
		free(*--p);
}

static __attribute__((noinline)) void malloc_then_free(size_t size)
{
	for (int i = 0; i < BATCH; i++)
		free(malloc(size));
}

static void run_batch(size_t size, long rounds)
{
	while (rounds-- > 0) {
		fill(slots, size);
		drain(slots);
	}
}

static void run_lifo(size_t size, long rounds)
{
	while (rounds-- > 0) {
		fill(slots, size);
		drain_reverse(slots);
	}
}

static void run_pair(size_t size, long rounds)
{
	while (rounds-- > 0)
		malloc_then_free(size);
}

/* The threads take turns over two pipes: a wait on a pipe costs the same few
 * instructions whether it sleeps or not, which a futex or a spin does not. */
static int to_freer[2], to_maker[2];

static void pass(int fd)
{
	char turn = 0;

	if (write(fd, &turn, 1) != 1)
		_exit(2);
}

static void await(int fd)
{
	char turn;

	if (read(fd, &turn, 1) != 1)
		_exit(2);
}

/* Frees batch k - RING + 1 in turn k, so that RING - 1 batches stay out. */
static void *freer(void *arg)
{
	for (long k = RING - 1; k < *(long *)arg; k++) {
		await(to_freer[0]);
		drain(ring[(k + 1) % RING]);
		pass(to_maker[1]);
	}
	return NULL;
}

static void run_cross(size_t size, long rounds)
{
	pthread_t thread;

	if (pipe(to_freer) || pipe(to_maker) ||
	    pthread_create(&thread, NULL, freer, &rounds))
		_exit(2);
	for (long k = 0; k < rounds; k++) {
		fill(ring[k % RING], size);
		if (k < RING - 1)
			continue;
		pass(to_freer[1]);
		await(to_maker[0]);
	}
	pthread_join(thread, NULL);
}

static const struct {
	const char *name;
	void (*run)(size_t size, long rounds);
} patterns[] = {
	{ "batch", run_batch },
	{ "lifo", run_lifo },
	{ "pair", run_pair },
	{ "cross", run_cross },
};

int main(int argc, char **argv)
{
	if (argc == 4)
		for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
			if (!strcmp(argv[1], patterns[i].name)) {
				patterns[i].run(strtoul(argv[2], NULL, 10), atol(argv[3]));
				return 0;
			}
	fprintf(stderr, "usage: pairs batch|lifo|pair|cross SIZE ROUNDS\n");
	return 2;
}
