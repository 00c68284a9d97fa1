/* What the benchmark programs share: a random stream, threads that start
 * together, time, and the one line of JSON that bench/run reads.
 *
 * A program is deterministic in what it asks for, threads' interleaving apart. Its
 * defaults are the published arguments; it ends with bench_result. */
#ifndef NACRE_BENCH_H
#define NACRE_BENCH_H

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* xorshift64* (Vigna, "An experimental exploration of Marsaglia's xorshift
 * generators, scrambled", 2016). The state must not be 0. */
static inline uint32_t bench_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return (uint32_t)((*state * 2685821657736338717u) >> 32);
}

/* A seed for thread i, never 0 and unlike its neighbours'. */
static inline uint64_t bench_seed(uint64_t i)
{
	return (i + 1) * 0x9e3779b97f4a7c15u;
}

/* Uniform in low..high, both included. */
static inline size_t bench_between(uint64_t *state, size_t low, size_t high)
{
	return low + (size_t)(((uint64_t)bench_random(state) * (high - low + 1)) >> 32);
}

static inline double bench_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static inline void bench_sleep(double seconds)
{
	struct timespec rest;

	rest.tv_sec = (time_t)seconds;
	rest.tv_nsec = (long)((seconds - (double)rest.tv_sec) * 1e9);
	nanosleep(&rest, NULL);
}

static inline long bench_arg(int argc, char **argv, int i, long otherwise)
{
	return argc > i ? atol(argv[i]) : otherwise;
}

/* The same for a number with a fraction: seconds. */
static inline double bench_arg_real(int argc, char **argv, int i, double otherwise)
{
	return argc > i ? atof(argv[i]) : otherwise;
}

/* pointer, unless the allocator had no memory: then no figure is worth anything. */
static inline void *bench_need(void *pointer)
{
	if (!pointer) {
		fprintf(stderr, "out of memory\n");
		exit(1);
	}
	return pointer;
}

/* Ends the program unless right: a block's content was not what was written there. */
static inline void bench_check(int right)
{
	if (!right) {
		fprintf(stderr, "a block's content has changed\n");
		exit(1);
	}
}

/* Writes the first and the last byte of a new block (size > 0), so that its memory is
 * there; the compiler neither drops the writes nor, with them, the block. */
static inline void bench_stamp(void *block, size_t size)
{
	volatile unsigned char *bytes = (volatile unsigned char *)block;

	bytes[size - 1] = (unsigned char)size;
	bytes[0] = (unsigned char)size;
}

/* Before a block is freed: its stamp is there. Looks at the first byte alone, whose
 * cache line most allocators are about to write. */
static inline void bench_stamped(const void *block, size_t size)
{
	bench_check(*(const volatile unsigned char *)block == (unsigned char)size);
}

/* Runs run(arguments + i * size) for each i below n, on a thread of its own but for the
 * first `own` (0 or 1), which the calling thread does, and waits for all. */
static inline void bench_threads_but(long own, long n, void *(*run)(void *),
                                     void *arguments, size_t size)
{
	pthread_t *ids = (pthread_t *)bench_need(malloc((size_t)n * sizeof *ids));

	for (long i = own; i < n; i++) {
		if (pthread_create(&ids[i], NULL, run,
		                   (char *)arguments + (size_t)i * size)) {
			fprintf(stderr, "cannot start a thread\n");
			exit(1);
		}
	}
	if (own)
		run(arguments);
	for (long i = own; i < n; i++)
		pthread_join(ids[i], NULL);
	free(ids);
}

static inline void bench_threads(long n, void *(*run)(void *), void *arguments,
                                 size_t size)
{
	bench_threads_but(0, n, run, arguments, size);
}

/* operations in that many seconds of wall time. What is compared is CPU time an
 * operation, so a program may end by the clock or by the count. */
static inline void bench_result(const char *name, uint64_t operations, double seconds)
{
	printf("{\"benchmark\": \"%s\", \"operations\": %llu, \"seconds\": %.6f}\n", name,
	       (unsigned long long)operations, seconds);
	fflush(stdout);
}

#endif
