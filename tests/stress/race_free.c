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
#include <unistd.h>

#include "api.h"
#include "nacre.h"
#include "report.h"

enum { OWNER_AND_OTHER, TWO_OTHERS, OWNER_ENDED };

#define HELPERS 2
#define DRAIN_MAX 8192
#define DRAIN_BYTES ((size_t)32 << 20)

static uint64_t x_round;          /* number of the round that helpers shall do */
static uint64_t x_done[HELPERS];  /* number of the round that a helper has done */
static void *x_target[HELPERS];   /* what a helper shall free; NULL: nothing */
static unsigned x_delay[HELPERS]; /* empty loops before it */
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

static void wait_a_little(unsigned loops)
{
	for (volatile unsigned i = 0; i < loops; i++)
		;
}

static void wait_for(const uint64_t *number, uint64_t value)
{
	for (unsigned spins = 0; __atomic_load_n(number, __ATOMIC_ACQUIRE) != value;
	     spins++)
		if (spins > 2000)
			sched_yield();
}

static void *helper(void *argument)
{
	size_t me = (size_t)(uintptr_t)argument;

	for (uint64_t round = 1; round <= rounds; round++) {
		wait_for(&x_round, round);
		if (x_target[me]) {
			wait_a_little(x_delay[me]);
			nc_free(x_target[me]);
		}
		__atomic_store_n(&x_done[me], round, __ATOMIC_RELEASE);
	}
	return NULL;
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

static void one_round(uint64_t round)
{
	size_t size = random_size();
	uint64_t draw = next_random();
	int kind = draw % 64 == 0 ? OWNER_ENDED : (int)(draw / 64 % 2);
	bool alone = draw / 128 % 2;
	uint32_t before = reports();
	void *neighbours[3] = { NULL }, *block;

	for (size_t i = 0; i < 3 && !alone; i++)
		neighbours[i] = nc_malloc(size);
	block = kind == OWNER_ENDED ? make_orphan(size) : nc_malloc(size);
	CHECK(block);
	x_target[0] = block;
	x_target[1] = kind == OWNER_AND_OTHER ? NULL : block;
	x_delay[0] = (unsigned)(draw >> 20) % 64;
	x_delay[1] = (unsigned)(draw >> 30) % 64;
	__atomic_store_n(&x_round, round, __ATOMIC_RELEASE);
	if (kind == OWNER_AND_OTHER) {
		wait_a_little((unsigned)(draw >> 40) % 64);
		nc_free(block);
	}
	for (size_t i = 0; i < HELPERS; i++)
		wait_for(&x_done[i], round);

	CHECK(reports() <= before + 1);
	if (reports() == before) {
		late_reports++;
		drain(block, size, before);
	} else if (draw >> 50 & 15)
		drain(block, size, before);
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
		CHECK(!pthread_join(threads[i], NULL));
	nacre_check_heap();
	CHECK(!x_wrong_reports);
	CHECK(reports() == rounds);
	printf("%llu rounds, %llu reported late, seed %llu\n", (unsigned long long)rounds,
	       (unsigned long long)late_reports, (unsigned long long)seed);
	return 0;
}
