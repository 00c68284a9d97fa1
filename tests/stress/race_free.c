/* Two threads free one block at the same moment, a million times.
 *
 * nc_report_hook takes the reports, so that the process goes on. In each round
 * exactly one free succeeds; the other is reported at its call, or at the
 * latest before the block is handed out again. The block comes back once.
 *
 *   race_free [rounds=N] [seed=N]
 *
 * Kinds of rounds: the owner and another thread; two others; two others, when
 * the owner has ended. Small, medium and large blocks; with and without other
 * live blocks in the page (without: the winner empties the page). */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "api.h"
#include "nacre.h"
#include "report.h"

enum { OWNER_AND_OTHER, TWO_OTHERS, OWNER_ENDED };

#define HELPERS 2
#define DRAIN_MAX 8192
#define DRAIN_BYTES ((size_t)32 << 20)

static uint64_t x_round;          /* number of the round */
static uint64_t x_go[HELPERS];    /* number of the round that a helper shall do */
static uint64_t x_done[HELPERS];  /* number of the round that a helper has done */
static void *x_target;            /* what all free */
static uint64_t x_delay[HELPERS]; /* ticks that a helper comes later */
static uint64_t x_ready;          /* who has come to the start */
static uint64_t x_start;          /* tick of the start; 0: not all are there */
static uint32_t x_reports, x_wrong_reports;

static uint64_t seed = 1, rounds = 20000, random_state;
static uint64_t late_reports;

#define CHECK(condition) ((condition) ? (void)0 : fail(__LINE__, #condition))

static void fail(int line, const char *condition)
{
	printf("race_free: line %d: %s (round %llu, seed %llu)\n", line, condition,
	       (unsigned long long)__atomic_load_n(&x_round, __ATOMIC_RELAXED),
	       (unsigned long long)seed);
	fflush(stdout);
	_exit(1);
}

static void on_report(const char *kind, const char *line)
{
	(void)line;
	if (strcmp(kind, "double-free")) {
		printf("race_free: %s\n", line);
		fflush(stdout);
		__atomic_add_fetch(&x_wrong_reports, 1, __ATOMIC_SEQ_CST);
	}
	__atomic_add_fetch(&x_reports, 1, __ATOMIC_SEQ_CST);
}

static uint32_t reports(void)
{
	return __atomic_load_n(&x_reports, __ATOMIC_SEQ_CST);
}

static uint64_t next_random(void)
{
	uint64_t z = (random_state += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

static uint64_t ticks(void)
{
#if defined(__x86_64__) || defined(__i386__)
	return __builtin_ia32_rdtsc();
#else
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
#endif
}

static void wait_for(const uint64_t *number, uint64_t value, unsigned patience)
{
	for (unsigned spins = 0; __atomic_load_n(number, __ATOMIC_ACQUIRE) != value;
	     spins++)
		if (spins > 100 * patience)
			usleep(20);
		else if (spins > patience)
			sched_yield();
}

/* Both leave at one tick, but for the delay of each: the frees overlap
 * though the machine hands the cores out as it likes. */
static void meet(uint64_t delay)
{
	uint64_t start;

	if (__atomic_add_fetch(&x_ready, 1, __ATOMIC_SEQ_CST) == 2)
		__atomic_store_n(&x_start, ticks() + 1000, __ATOMIC_SEQ_CST);
	for (unsigned spins = 0; !(start = __atomic_load_n(&x_start, __ATOMIC_SEQ_CST));
	     spins++)
		if (spins > 5000)
			sched_yield();
	while (ticks() < start + delay)
		;
}

static void *helper(void *argument)
{
	size_t me = (size_t)(uintptr_t)argument;

	for (;;) {
		uint64_t round;

		for (unsigned spins = 0;; spins++) {
			round = __atomic_load_n(&x_go[me], __ATOMIC_ACQUIRE);
			if (round != x_done[me])
				break;
			if (spins > 200000)
				usleep(50);
			else if (spins > 2000)
				sched_yield();
		}
		if (round > rounds)
			return NULL;
		meet(x_delay[me]);
		nc_free(x_target);
		__atomic_store_n(&x_done[me], round, __ATOMIC_RELEASE);
	}
}

static size_t random_size(void)
{
	static const size_t sizes[] = { 16,   16,   48,    48,    48,     200,
		                        1000, 4000, 16000, 60000, 200000, 3 << 20 };

	return sizes[next_random() % (sizeof sizes / sizeof *sizes)];
}

static void *make_in_thread(void *argument)
{
	size_t *size = argument;

	return nc_malloc(*size);
}

/* A block whose owner has ended. */
static void *make_orphan(size_t size)
{
	pthread_t thread;
	void *block;

	CHECK(!pthread_create(&thread, NULL, make_in_thread, &size));
	CHECK(!pthread_join(thread, &block));
	return block;
}

/* Ask for blocks until the freed one comes back, and as often again: it must
 * not come twice. By when it comes its second free has been reported. */
static void drain(void *freed, size_t size, uint32_t reports_before)
{
	static void *taken[DRAIN_MAX];
	size_t limit = DRAIN_BYTES / (size + 64), count = 0, seen = 0;

	if (limit > DRAIN_MAX)
		limit = DRAIN_MAX;
	while (count < limit) {
		taken[count] = nc_malloc(size);
		CHECK(taken[count]);
		if (taken[count++] == freed) {
			CHECK(reports() == reports_before + 1);
			CHECK(!seen);
			seen = count;
		}
		if (seen && count >= seen * 2)
			break;
	}
	CHECK(reports() == reports_before + 1 || !seen);
	while (count)
		nc_free(taken[--count]);
}

/* The kind changes rarely, so that a helper without work sleeps. */
static int kind_of_round(uint64_t round)
{
	if (round % 64 == 63)
		return OWNER_ENDED;
	return round / 512 % 2 ? TWO_OTHERS : OWNER_AND_OTHER;
}

static void one_round(uint64_t round)
{
	size_t size = random_size(), helpers;
	uint64_t draw = next_random();
	int kind = kind_of_round(round);
	uint32_t before = reports();
	void *neighbours[3] = { NULL };

	/* With neighbours, or alone in the page. */
	for (size_t i = 0; i < 3 && draw % 2; i++)
		neighbours[i] = nc_malloc(size);
	x_target = kind == OWNER_ENDED ? make_orphan(size) : nc_malloc(size);
	CHECK(x_target);
	helpers = kind == OWNER_AND_OTHER ? 1 : 2;
	x_ready = x_start = 0;
	__atomic_store_n(&x_round, round, __ATOMIC_RELEASE);
	for (size_t i = 0; i < helpers; i++) {
		x_delay[i] = (draw >> (8 * i + 8)) % 256;
		__atomic_store_n(&x_go[i], round, __ATOMIC_RELEASE);
	}
	if (kind == OWNER_AND_OTHER) {
		meet((draw >> 40) % 256);
		nc_free(x_target);
	}
	for (size_t i = 0; i < helpers; i++)
		wait_for(&x_done[i], round, kind == OWNER_AND_OTHER ? 2000 : 50);

	CHECK(reports() <= before + 1);
	if (reports() == before) {
		late_reports++;
		drain(x_target, size, before);
	} else if (draw >> 50 & 15)
		drain(x_target, size, before);
	CHECK(reports() == before + 1);
	for (size_t i = 0; i < 3; i++)
		nc_free(neighbours[i]);
}

int main(int argc, char **argv)
{
	pthread_t threads[HELPERS];

	for (int i = 1; i < argc; i++)
		if (!strncmp(argv[i], "rounds=", 7))
			rounds = strtoull(argv[i] + 7, NULL, 0);
		else if (!strncmp(argv[i], "seed=", 5))
			seed = strtoull(argv[i] + 5, NULL, 0);
	random_state = seed;
	nc_report_hook = on_report;
	for (size_t i = 0; i < HELPERS; i++)
		CHECK(!pthread_create(&threads[i], NULL, helper, (void *)(uintptr_t)i));
	for (uint64_t round = 1; round <= rounds; round++) {
		one_round(round);
		if (round % 1024 == 0)
			nacre_check_heap();
	}
	for (size_t i = 0; i < HELPERS; i++)
		__atomic_store_n(&x_go[i], rounds + 1, __ATOMIC_RELEASE);
	for (size_t i = 0; i < HELPERS; i++)
		CHECK(!pthread_join(threads[i], NULL));
	nacre_check_heap();
	CHECK(!x_wrong_reports);
	CHECK(reports() == rounds);
	printf("%llu rounds, %llu reported late, seed %llu\n", (unsigned long long)rounds,
	       (unsigned long long)late_reports, (unsigned long long)seed);
	return 0;
}
