/* Random work on 1 to many threads against a shadow model.
 *
 * Every live block has a record: address, size, usable size, and the seed of
 * the pattern that fills it. Contents are checked at every free, realloc and
 * hand-over; alignment and calloc's zeros at once; overlap by sorting all
 * records between phases. A phase starts all threads anew, so that heaps are
 * handed over with live blocks; records go from thread to thread through an
 * exchange; threads fork now and then, and the child frees what it inherited.
 *
 *   stress [threads=N] [phases=N] [ops=N] [seconds=N] [seed=N] [fork=0|1]
 *
 * ops are per thread and phase; with seconds= phases go on until then. Calls
 * malloc, or with STRESS_INTERNAL the nc_ functions of the internal library.
 * Prints its seed; status 0 when all was right. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef STRESS_INTERNAL
#include "api.h"
#include "nacre.h"
#define st_malloc nc_malloc
#define st_calloc nc_calloc
#define st_realloc nc_realloc
#define st_memalign nc_memalign
#define st_usable_size nc_usable_size
#define st_free nc_free
#define st_check_heap nacre_check_heap
#else
#define st_malloc malloc
#define st_calloc calloc
#define st_realloc realloc
#define st_memalign memalign
#define st_usable_size malloc_usable_size
#define st_free free
static size_t st_check_heap(void)
{
	static size_t (*check)(void);
	static bool looked;

	if (!looked)
		check = (size_t(*)(void))dlsym(RTLD_DEFAULT, "nacre_check_heap");
	looked = true;
	return check ? check() : 0;
}
#endif

#define THREADS_MAX 8
#define SLOTS 1500 /* records of a thread */
#define EXCHANGE_SLOTS 64
#define RECORDS (THREADS_MAX * SLOTS + EXCHANGE_SLOTS)

struct record {
	unsigned char *block; /* NULL: none */
	size_t size;
	size_t usable;
	uint64_t seed;
};

struct worker {
	uint64_t random;
	uint32_t record[SLOTS]; /* indices into records */
	size_t forks;
};

static struct record records[RECORDS];
static struct worker workers[THREADS_MAX];
static uint32_t x_exchange[EXCHANGE_SLOTS]; /* indices; swapped by any thread */
static size_t threads = 4, phases = 10, ops = 20000, seconds;
static uint64_t seed;
static bool forking = true;

#define CHECK(condition) ((condition) ? (void)0 : fail(__LINE__, #condition))

static void fail(int line, const char *condition)
{
	char text[200];
	int length = snprintf(text, sizeof text, "stress: line %d: %s (seed=%llu)\n",
	                      line, condition, (unsigned long long)seed);

	if (write(STDOUT_FILENO, text, (size_t)length) != length)
		_exit(2);
	abort();
}

/* splitmix64: public domain, Sebastiano Vigna. */
static uint64_t next_random(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

static size_t below(struct worker *worker, size_t limit)
{
	return (size_t)(next_random(&worker->random) % limit);
}

/* Mostly small, as programs have it. */
static size_t random_size(struct worker *worker)
{
	size_t draw = below(worker, 10000);

	if (draw < 6000)
		return below(worker, 129);
	if (draw < 8600)
		return below(worker, 1025);
	if (draw < 9500)
		return below(worker, 16 << 10);
	if (draw < 9950)
		return below(worker, 130 << 10);
	if (draw < 9995)
		return below(worker, 1 << 20);
	return below(worker, 8 << 20);
}

/* ---- contents ---- */

/* All of a small block; of a large one the ends and samples. */
static size_t step_from(size_t i, size_t size)
{
	return size <= 4096 || i < 256 || size - i <= 256 + 4093 ? 1 : 4093;
}

static unsigned char pattern(uint64_t pattern_seed, size_t i)
{
	return (unsigned char)((pattern_seed >> (i % 7 * 8)) + i * 13);
}

static void fill(const struct record *record)
{
	for (size_t i = 0; i < record->usable; i += step_from(i, record->usable))
		record->block[i] = pattern(record->seed, i);
}

/* The first `size` bytes, which the block had when it was filled. */
static void check_contents(const struct record *record, const unsigned char *block,
                           size_t size)
{
	for (size_t i = 0; i < size; i += step_from(i, record->usable))
		CHECK(block[i] == pattern(record->seed, i));
}

static void check_zero(const unsigned char *block, size_t size)
{
	CHECK(!size || (!block[0] && !memcmp(block, block + 1, size - 1)));
}

/* ---- one operation ---- */

static void settle(struct worker *worker, struct record *record, void *block, size_t size)
{
	CHECK(block);
	CHECK((uintptr_t)block % 16 == 0);
	record->block = block;
	record->size = size;
	record->usable = st_usable_size(block);
	record->seed = next_random(&worker->random);
	CHECK(record->usable >= size);
	fill(record);
}

static void release(struct record *record)
{
	check_contents(record, record->block, record->usable);
	CHECK(st_usable_size(record->block) == record->usable);
	errno = 77;
	st_free(record->block);
	CHECK(errno == 77);
	record->block = NULL;
}

static void make(struct worker *worker, struct record *record)
{
	size_t size = random_size(worker), draw = below(worker, 10);
	void *block;

	if (draw < 2) {
		block = st_calloc(1, size);
		CHECK(block);
		check_zero(block, size);
	} else if (draw == 2) {
		size_t align = (size_t)1 << below(worker, 14);

		block = st_memalign(align, size);
		CHECK((uintptr_t)block % align == 0);
	} else
		block = st_malloc(size);
	settle(worker, record, block, size);
}

static void resize(struct worker *worker, struct record *record)
{
	size_t size = random_size(worker) + 1, kept;
	unsigned char *block;

	if (below(worker, 2)) /* a little more, as strings and arrays grow */
		size = record->size + record->size / 2 + 16;
	if (size > 16 << 20)
		size = 64;
	check_contents(record, record->block, record->usable);
	kept = record->usable < size ? record->usable : size;
	block = st_realloc(record->block, size);
	CHECK(block);
	check_contents(record, block, kept);
	settle(worker, record, block, size);
}

static void swap_with_others(struct worker *worker, uint32_t *index)
{
	uint32_t *slot = &x_exchange[below(worker, EXCHANGE_SLOTS)];

	*index = __atomic_exchange_n(slot, *index, __ATOMIC_ACQ_REL);
	if (records[*index].block)
		check_contents(&records[*index], records[*index].block,
		               records[*index].usable);
}

/* The child has the other threads' blocks, too, but not the threads. */
static void child(struct worker *worker)
{
	for (size_t i = 0; i < SLOTS; i++) {
		struct record *record = &records[worker->record[i]];

		if (record->block)
			release(record);
		else
			make(worker, record);
	}
	st_check_heap();
	if (below(worker, 2))
		_exit(0);
	exit(0);
}

static void fork_once(struct worker *worker)
{
	int status = -1;
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (!pid)
		child(worker);
	worker->forks++;
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void *work(void *argument)
{
	struct worker *worker = argument;

	for (size_t n = 0; n < ops; n++) {
		uint32_t *index = &worker->record[below(worker, SLOTS)];
		struct record *record = &records[*index];
		size_t draw = below(worker, 100);

		if (draw < 15)
			swap_with_others(worker, index);
		else if (!record->block)
			make(worker, record);
		else if (draw < 30)
			resize(worker, record);
		else
			release(record);
		if (forking && n % 16384 == 8191 && below(worker, 2))
			fork_once(worker);
	}
	st_check_heap();
	return NULL;
}

/* ---- between phases ---- */

static int compare_records(const void *left, const void *right)
{
	const struct record *a = *(const struct record *const *)left;
	const struct record *b = *(const struct record *const *)right;

	return (a->block > b->block) - (a->block < b->block);
}

static void check_overlap(void)
{
	static const struct record *sorted[RECORDS];
	size_t count = 0;

	for (size_t i = 0; i < RECORDS; i++)
		if (records[i].block)
			sorted[count++] = &records[i];
	qsort(sorted, count, sizeof *sorted, compare_records);
	for (size_t i = 0; i + 1 < count; i++)
		CHECK(sorted[i]->block + sorted[i]->usable <= sorted[i + 1]->block);
}

static void run_phase(void)
{
	pthread_t ids[THREADS_MAX];

	for (size_t t = 0; t < threads; t++)
		CHECK(!pthread_create(&ids[t], NULL, work, &workers[t]));
	for (size_t t = 0; t < threads; t++)
		CHECK(!pthread_join(ids[t], NULL));
	check_overlap();
	st_check_heap();
}

static void set_up(void)
{
	uint32_t index = 0;

	for (size_t t = 0; t < THREADS_MAX; t++) {
		workers[t].random = seed * 1000003 + t;
		for (size_t i = 0; i < SLOTS; i++)
			workers[t].record[i] = index++;
	}
	for (size_t i = 0; i < EXCHANGE_SLOTS; i++)
		x_exchange[i] = index++;
}

static bool set(const char *argument, const char *name, uint64_t *value)
{
	size_t length = strlen(name);

	if (strncmp(argument, name, length) || argument[length] != '=')
		return false;
	*value = strtoull(argument + length + 1, NULL, 0);
	return true;
}

int main(int argc, char **argv)
{
	size_t forks = 0, done = 0;
	time_t end;

	seed = (uint64_t)time(NULL) * 1000 + (uint64_t)getpid() % 1000;
	for (int i = 1; i < argc; i++) {
		uint64_t value = 0;

		if (set(argv[i], "seed", &value))
			seed = value;
		else if (set(argv[i], "threads", &value) && value && value <= THREADS_MAX)
			threads = value;
		else if (set(argv[i], "phases", &value))
			phases = value;
		else if (set(argv[i], "ops", &value))
			ops = value;
		else if (set(argv[i], "seconds", &value))
			seconds = value;
		else if (set(argv[i], "fork", &value))
			forking = value != 0;
		else {
			printf("stress: what is %s?\n", argv[i]);
			return 2;
		}
	}
	printf("seed=%llu threads=%zu\n", (unsigned long long)seed, threads);
	fflush(stdout);
	set_up();
	end = time(NULL) + (time_t)seconds;
	do
		run_phase();
	while (++done < phases || (seconds && time(NULL) < end));
	for (size_t i = 0; i < RECORDS; i++)
		if (records[i].block)
			release(&records[i]);
	for (size_t t = 0; t < threads; t++)
		forks += workers[t].forks;
	printf("%zu phases, %zu forks\n", done, forks);
	return 0;
}
