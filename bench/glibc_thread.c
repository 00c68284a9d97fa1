/* Random blocks of a working set: each of THREADS threads replaces blocks of its set of
 * 1024 at random, by blocks of 4 to 32768 bytes whose number falls with the square of
 * the size: half of them have less than 8 bytes.
 *
 *     glibc_thread [THREADS SECONDS]
 *                  2 2
 *
 * SECONDS by the clock, may have a fraction; glibc's run is of 10, mimalloc-bench's
 * of 2. With one thread no thread is started. Sizes and places are drawn in advance and
 * are the same for all threads.
 * Operations: replacements, one free and one malloc each.
 *
 * Before the last line, JSON as glibc's program prints it: "duration" is the sum over
 * the threads, in nanoseconds; "max_rss" is in KiB.
 *
 * After bench-malloc-thread of glibc's benchtests by W. Newton and W. Dijkstra; touched
 * are the first and the last byte. */
#include <sys/resource.h>

#include "bench.h"

#define SET_BLOCKS 1024
#define SIZE_COUNT 8000
#define PLACE_COUNT (4 * SET_BLOCKS)
#define MIN_SIZE 4
#define MAX_SIZE 32768
#define SEED 88
#define CLOCK_INTERVAL 256 /* replacements from one look at the clock to the next */

struct slot {
	unsigned char *block; /* NULL: none yet */
	size_t size;          /* bytes */
};

struct worker {
	uint64_t operations;
	double seconds;
};

static uint16_t sizes[SIZE_COUNT]; /* bytes */
static uint16_t places[PLACE_COUNT];
static double run_seconds;

_Static_assert(MAX_SIZE <= UINT16_MAX, "sizes holds every size");

/* The inverse of the distribution function of 1 / size^2 between the two sizes. */
static void draw(void)
{
	uint64_t random = bench_seed(SEED);

	for (int i = 0; i < SIZE_COUNT; i++) {
		double u = bench_random(&random) / 4294967296.0;

		sizes[i] = (uint16_t)(1 / (u / MAX_SIZE + (1 - u) / MIN_SIZE));
	}
	for (int i = 0; i < PLACE_COUNT; i++)
		places[i] = (uint16_t)bench_between(&random, 0, SET_BLOCKS - 1);
}

static void slot_empty(struct slot *slot)
{
	if (slot->block)
		bench_stamped(slot->block, slot->size);
	free(slot->block);
}

static void *work(void *argument)
{
	struct worker *worker = argument;
	struct slot set[SET_BLOCKS] = { { .block = NULL } };
	unsigned size_idx = 0, place_idx = 0;
	uint64_t operations = 0;
	double start = bench_seconds();

	do {
		for (int i = 0; i < CLOCK_INTERVAL; i++) {
			struct slot *slot = &set[places[place_idx]];

			slot_empty(slot);
			slot->size = sizes[size_idx];
			slot->block = bench_need(malloc(slot->size));
			bench_stamp(slot->block, slot->size);
			size_idx = size_idx + 1 < SIZE_COUNT ? size_idx + 1 : 0;
			place_idx = place_idx + 1 < PLACE_COUNT ? place_idx + 1 : 0;
		}
		operations += CLOCK_INTERVAL;
	} while (bench_seconds() - start < run_seconds);
	worker->operations = operations;
	worker->seconds = bench_seconds() - start;
	for (int i = 0; i < SET_BLOCKS; i++)
		slot_empty(&set[i]);
	return NULL;
}

static void print_json(double nanoseconds, uint64_t operations, long threads)
{
	struct rusage used;

	getrusage(RUSAGE_SELF, &used);
	printf("{\n \"timing_type\": \"clock_gettime\",\n \"functions\": {\n"
	       "  \"malloc\": {\n   \"\": {\n"
	       "    \"duration\": %.0f,\n    \"iterations\": %llu,\n"
	       "    \"time_per_iteration\": %.4f,\n    \"max_rss\": %ld,\n"
	       "    \"threads\": %ld,\n    \"min_size\": %d,\n    \"max_size\": %d,\n"
	       "    \"random_seed\": %d\n   }\n  }\n }\n}\n",
	       nanoseconds, (unsigned long long)operations,
	       nanoseconds / (double)operations, used.ru_maxrss, threads, MIN_SIZE,
	       MAX_SIZE, SEED);
}

int main(int argc, char **argv)
{
	long threads = bench_arg(argc, argv, 1, 2);

	run_seconds = bench_arg_real(argc, argv, 2, 2);
	if (threads < 1)
		return 2;
	draw();

	struct worker *workers = bench_need(calloc((size_t)threads, sizeof *workers));
	uint64_t operations = 0;
	double nanoseconds = 0, start = bench_seconds();

	if (threads == 1)
		work(workers);
	else
		bench_threads(threads, work, workers, sizeof *workers);

	double seconds = bench_seconds() - start;

	for (long i = 0; i < threads; i++) {
		operations += workers[i].operations;
		nanoseconds += workers[i].seconds * 1e9;
	}
	free(workers);
	print_json(nanoseconds, operations, threads);
	bench_result("glibc_thread", operations, seconds);
	return 0;
}
