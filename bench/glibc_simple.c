/* Blocks of one size: 25, 100, 400 or 1600 are made, then half of them are freed in the
 * order they were made in and the other half in reverse, over and over. This is timed in
 * the main thread before the process had another, in a second thread, and in the main
 * thread again.
 *
 *     glibc_simple [SIZE SIZES PAIRS]
 *                  16 3 2000000
 *
 * SIZE of a block in bytes; SIZES to go through, each twice the last; PAIRS of malloc
 * and free for each count of blocks in each place (and once more to warm up).
 * Operations: pairs of malloc and free, those of the warming up as well.
 *
 * Before the last line, one JSON document a size as glibc's program prints it, times in
 * nanoseconds a pair. "main_arena_st" is the first run only of a process that had no
 * thread yet: for all sizes but the first its threads are gone, yet not forgotten.
 *
 * After bench-malloc-simple of glibc's benchtests by W. Dijkstra, with mimalloc-bench's
 * order of freeing, default and sizes; touched are the first and the last byte. */
#include <sys/resource.h>

#include "bench.h"

#define COUNTS 4
#define BLOCKS_MAX 1600

enum place { MAIN_ALONE, MAIN_AGAIN, SECOND_THREAD, PLACES };

static const int counts[COUNTS] = { 25, 100, 400, BLOCKS_MAX };

struct run {
	size_t size; /* bytes */
	long pairs;
	unsigned char **blocks;
	double *nanoseconds; /* a pair; COUNTS of them */
};

static double time_pairs(const struct run *run, int count)
{
	long rounds = run->pairs / count;
	double start = bench_seconds();

	for (long round = 0; round < rounds; round++) {
		for (int i = 0; i < count; i++) {
			run->blocks[i] = bench_need(malloc(run->size));
			bench_stamp(run->blocks[i], run->size);
		}
		for (int i = 0; i < count / 2; i++) {
			bench_stamped(run->blocks[i], run->size);
			free(run->blocks[i]);
		}
		for (int i = count - 1; i >= count / 2; i--) {
			bench_stamped(run->blocks[i], run->size);
			free(run->blocks[i]);
		}
	}
	return rounds ? (bench_seconds() - start) * 1e9 / (double)(rounds * count) : 0;
}

static void *time_counts(void *argument)
{
	struct run *run = argument;

	for (int i = 0; i < COUNTS; i++)
		run->nanoseconds[i] = time_pairs(run, counts[i]);
	return NULL;
}

static void print_json(size_t size, double nanoseconds[PLACES][COUNTS])
{
	/* The field's names, which are the original's. */
	static const char *const names[PLACES] = { "main_arena_st_allocs",
		                                   "main_arena_mt_allocs",
		                                   "thread_arena__allocs" };
	struct rusage used;

	getrusage(RUSAGE_SELF, &used);
	printf("{\n \"timing_type\": \"clock_gettime\",\n \"functions\": {\n"
	       "  \"malloc\": {\n   \"\": {\n"
	       "    \"malloc_block_size\": %zu,\n    \"max_rss\": %ld",
	       size, used.ru_maxrss);
	for (int place = 0; place < PLACES; place++)
		for (int i = 0; i < COUNTS; i++)
			printf(",\n    \"%s_%04d_time\": %.4f", names[place], counts[i],
			       nanoseconds[place][i]);
	printf("\n   }\n  }\n }\n}\n");
}

int main(int argc, char **argv)
{
	static unsigned char *blocks[BLOCKS_MAX];
	double nanoseconds[PLACES][COUNTS];
	long size = bench_arg(argc, argv, 1, 16), sizes = bench_arg(argc, argv, 2, 3);
	struct run run = { .pairs = bench_arg(argc, argv, 3, 2000000), .blocks = blocks };
	uint64_t pairs = 0;

	if (size < 1 || sizes < 1 || sizes > 20)
		return 2;

	double start = bench_seconds();

	for (run.size = (size_t)size; sizes > 0; sizes--, run.size *= 2) {
		run.nanoseconds = nanoseconds[MAIN_ALONE]; /* overwritten by the next */
		time_counts(&run);
		time_counts(&run);
		run.nanoseconds = nanoseconds[SECOND_THREAD];
		bench_threads(1, time_counts, &run, sizeof run);
		run.nanoseconds = nanoseconds[MAIN_AGAIN];
		time_counts(&run);
		for (int i = 0; i < COUNTS; i++)
			pairs += 4 * (uint64_t)(run.pairs / counts[i] * counts[i]);
		print_json(run.size, nanoseconds);
	}
	bench_result("glibc_simple", pairs, bench_seconds() - start);
	return 0;
}
