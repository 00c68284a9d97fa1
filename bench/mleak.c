/* Short threads that leave something behind. In each round THREADS threads start, make
 * a table of 16 words, put it in a random slot of an array that all share, free the one
 * that they find there, and end. An allocator that forgets the memory of ended threads
 * grows.
 *
 *     mleak [ITERATIONS THREADS]
 *           5 10
 *
 * ITERATIONS of 100 rounds each; THREADS of a round. The published runs are of 5 and of
 * 50 iterations with 10 threads.
 * Operations: threads, each with its start, a calloc, a free, and its end.
 *
 * After mleak by D. Leijen in mimalloc-bench. */
#include "bench.h"

#define ROUNDS_PER_ITERATION 100
#define SHARED_SLOTS 1000
#define TABLE_WORDS 16
#define TABLE_BYTES (TABLE_WORDS * sizeof(void *))

struct worker {
	uint64_t random;
};

/* Exchanged atomically: acquire for the content of the table taken, release for that of
 * the table left. */
static unsigned char *x_shared[SHARED_SLOTS];

static unsigned char *make_table(void)
{
	unsigned char *table = bench_need(calloc(1, TABLE_BYTES));

	bench_stamp(table, TABLE_BYTES);
	return table;
}

static void free_table(unsigned char *table)
{
	if (table)
		bench_stamped(table, TABLE_BYTES);
	free(table);
}

static void *leave_table(void *argument)
{
	struct worker *worker = argument;
	unsigned char *table = make_table();
	size_t slot = bench_between(&worker->random, 0, SHARED_SLOTS - 1);

	free_table(__atomic_exchange_n(&x_shared[slot], table, __ATOMIC_ACQ_REL));
	return NULL;
}

int main(int argc, char **argv)
{
	long rounds = bench_arg(argc, argv, 1, 5) * ROUNDS_PER_ITERATION;
	long threads = bench_arg(argc, argv, 2, 10);

	if (threads < 1)
		return 2;

	struct worker *workers = bench_need(calloc((size_t)threads, sizeof *workers));
	double start = bench_seconds();

	for (long i = 0; i < threads; i++)
		workers[i].random = bench_seed((uint64_t)i);
	for (long round = 0; round < rounds; round++)
		bench_threads(threads, leave_table, workers, sizeof *workers);
	for (size_t i = 0; i < SHARED_SLOTS; i++)
		free_table(x_shared[i]);
	free(workers);
	bench_result("mleak", (uint64_t)(rounds * threads), bench_seconds() - start);
	return 0;
}
