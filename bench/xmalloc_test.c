/* Producers and consumers: WORKERS threads only allocate, as many others only free.
 * Blocks go from the one to the other in batches of 4096 over one stack of batches,
 * newest first, that holds 100 at most.
 *
 *     xmalloc_test [WORKERS SECONDS SIZE]
 *                  2 2 64
 *
 * WORKERS of each kind; SECONDS by the clock, may have a fraction; SIZE of a block in
 * bytes, or -1: one of 8, 12, 16, 24, 32 ... 2048 at random. The published program says
 * this as -w WORKERS -t SECONDS -s SIZE; its usual run is of 5 seconds. A block's first
 * 128 bytes are written; one in 64 is looked at before it is freed, for the others'
 * memory is not brought to the thread that only frees, unless the allocator does so.
 * Operations: blocks, each one malloc and one free. Those that are still on the stack
 * at the end are freed by the main thread and count.
 *
 * After C. Lever and D. Boreham, "malloc() Performance in a Multithreaded Linux
 * Environment" (USENIX 2000), as reworked in xmalloc by C. Eder and in SuperMalloc by
 * B. Kuszmaul, and run by mimalloc-bench as xmalloc-test. */
#include "bench.h"

#define BATCH_BLOCKS 4096
#define BATCHES_MAX 100
#define WRITTEN_MAX 128 /* bytes of a block */
#define CHECK_EACH 64   /* blocks */
#define SIZE_COUNT 17   /* 8 to 2048 bytes in steps of a half power of two */

struct batch {
	struct batch *next;
	unsigned char *blocks[BATCH_BLOCKS];
};

struct worker {
	void (*work)(struct worker *);
	uint64_t random;
	uint64_t blocks; /* freed by this worker; written as it ends */
};

static struct {
	pthread_mutex_t lock;
	pthread_cond_t not_empty, not_full;
	struct batch *newest;
	int count; /* of batches */
} stack = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.not_empty = PTHREAD_COND_INITIALIZER,
	.not_full = PTHREAD_COND_INITIALIZER,
};

static int x_stop; /* set under the stack's lock, read also without */
static long fixed_size;
static double run_seconds;

static int stopped(void)
{
	return __atomic_load_n(&x_stop, __ATOMIC_RELAXED);
}

static size_t choose_size(uint64_t *random)
{
	if (fixed_size > 0)
		return (size_t)fixed_size;

	size_t i = bench_between(random, 0, SIZE_COUNT - 1);

	return (size_t)(i & 1 ? 12 : 8) << (i >> 1);
}

static void stack_push(struct batch *batch)
{
	pthread_mutex_lock(&stack.lock);
	while (stack.count >= BATCHES_MAX && !stopped())
		pthread_cond_wait(&stack.not_full, &stack.lock);
	batch->next = stack.newest;
	stack.newest = batch;
	stack.count++;
	pthread_cond_signal(&stack.not_empty);
	pthread_mutex_unlock(&stack.lock);
}

/* NULL: it is time to end. */
static struct batch *stack_pop(void)
{
	struct batch *batch = NULL;

	pthread_mutex_lock(&stack.lock);
	while (!stack.newest && !stopped())
		pthread_cond_wait(&stack.not_empty, &stack.lock);
	if (!stopped()) {
		batch = stack.newest;
		stack.newest = batch->next;
		stack.count--;
		pthread_cond_signal(&stack.not_full);
	}
	pthread_mutex_unlock(&stack.lock);
	return batch;
}

static void produce(struct worker *worker)
{
	uint64_t random = worker->random;

	while (!stopped()) {
		struct batch *batch = bench_need(malloc(sizeof *batch));

		for (int i = 0; i < BATCH_BLOCKS; i++) {
			size_t size = choose_size(&random);
			unsigned char *block = bench_need(malloc(size));

			memset(block, i & 0xff, size < WRITTEN_MAX ? size : WRITTEN_MAX);
			batch->blocks[i] = block;
		}
		stack_push(batch);
	}
}

static uint64_t free_batch(struct batch *batch)
{
	for (int i = 0; i < BATCH_BLOCKS; i++) {
		if (i % CHECK_EACH == 0)
			bench_check(batch->blocks[i][0] == (i & 0xff));
		free(batch->blocks[i]);
	}
	free(batch);
	return BATCH_BLOCKS;
}

static void consume(struct worker *worker)
{
	struct batch *batch;
	uint64_t blocks = 0;

	while ((batch = stack_pop()))
		blocks += free_batch(batch);
	worker->blocks = blocks;
}

static void keep_time(struct worker *worker)
{
	(void)worker;
	bench_sleep(run_seconds);
	pthread_mutex_lock(&stack.lock);
	__atomic_store_n(&x_stop, 1, __ATOMIC_RELAXED);
	pthread_cond_broadcast(&stack.not_empty);
	pthread_cond_broadcast(&stack.not_full);
	pthread_mutex_unlock(&stack.lock);
}

static void *run_worker(void *argument)
{
	struct worker *worker = argument;

	worker->work(worker);
	return NULL;
}

int main(int argc, char **argv)
{
	long pairs = bench_arg(argc, argv, 1, 2);

	run_seconds = bench_arg_real(argc, argv, 2, 2);
	fixed_size = bench_arg(argc, argv, 3, 64);
	if (pairs < 1 || fixed_size == 0)
		return 2;

	long count = 1 + 2 * pairs;
	struct worker *workers = bench_need(calloc((size_t)count, sizeof *workers));
	uint64_t blocks = 0;
	double start = bench_seconds();

	workers[0].work = keep_time;
	for (long i = 1; i < count; i++) {
		workers[i].work = i & 1 ? consume : produce;
		workers[i].random = bench_seed((uint64_t)i);
	}
	bench_threads(count, run_worker, workers, sizeof *workers);

	for (long i = 0; i < count; i++)
		blocks += workers[i].blocks;
	for (struct batch *batch = stack.newest, *next; batch; batch = next) {
		next = batch->next;
		blocks += free_batch(batch);
	}
	free(workers);
	bench_result("xmalloc_test", blocks, bench_seconds() - start);
	return 0;
}
