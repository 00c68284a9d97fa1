/* Threads that come and go, and blocks that outlive them. In each of ITERATIONS rounds
 * THREADS threads, new ones but for the main thread, make blocks of mixed sizes, free
 * some at once, keep some to the end of the round, and exchange others with an array
 * that all share: what one makes another frees, perhaps rounds later. After a round half
 * of that array is freed.
 *
 *     mstress [THREADS SCALE ITERATIONS]
 *             2 50 200
 *
 * SCALE of a thread's work in percent: thread i makes 150 * (i % 8 + 1) * SCALE blocks.
 * Sizes are powers of two of 8 to 128 bytes for what passes, to 512 bytes for what is
 * kept; of 10,000 blocks 174 are 100 times as large, 22 1,000 times and 4 10,000 times.
 * (The published program says half as many or fewer, but each of its chances is a
 * hundredth higher than what it says; so it is here.) Every word of a block is written
 * and is checked before it is freed.
 * Operations: blocks, each one malloc and one free.
 *
 * After mstress (test-stress) by D. Leijen in mimalloc and mimalloc-bench; the
 * arguments are those of mimalloc-bench, with 200 iterations in place of 25. */
#include "bench.h"

#define SHARED_SLOTS 1000
#define MARK ((uintptr_t)0x5bd1e995a3c2f017u)
#define PASSING_SHIFTS 5 /* sizes of a block that passes: 1 to 16 words */
#define KEPT_SHIFTS 7    /* of one that is kept: 1 to 64 words */

/* Blocks on their way between threads; exchanged atomically, acquire for the content
 * of the block taken, release for that of the block left. */
static uintptr_t *x_shared[SHARED_SLOTS];
static long scale_percent;

struct worker {
	size_t index;
	uint64_t random;
	uint64_t blocks; /* made */
};

/* The blocks a thread holds; slots may be NULL. */
struct table {
	uintptr_t **blocks;
	size_t count, room;
};

/* So many slots more when a table is full: 800 kB, most of them never used. */
#define TABLE_STEP 100000

static int chance(uint64_t *random, unsigned percent)
{
	return bench_between(random, 0, 99) < percent;
}

/* Word i of a block of n words holds n + i under a mark. */
static uintptr_t *make_block(uint64_t *random, size_t shifts)
{
	size_t words = (size_t)1 << bench_between(random, 0, shifts - 1);
	size_t luck = bench_between(random, 0, 9999);

	if (luck < 4)
		words *= 10000;
	else if (luck < 26)
		words *= 1000;
	else if (luck < 200)
		words *= 100;

	uintptr_t *block = bench_need(malloc(words * sizeof *block));

	for (size_t i = 0; i < words; i++)
		block[i] = MARK ^ (words + i);
	return block;
}

static void free_block(uintptr_t *block)
{
	if (!block)
		return;

	uintptr_t words = block[0] ^ MARK, difference = 0;

	for (size_t i = 0; i < words; i++)
		difference |= block[i] ^ MARK ^ (words + i);
	bench_check(!difference);
	free(block);
}

static void table_add(struct table *table, uintptr_t *block)
{
	if (table->count == table->room) {
		table->room += TABLE_STEP;
		table->blocks = bench_need(realloc(table->blocks,
		                                   table->room * sizeof *table->blocks));
	}
	table->blocks[table->count++] = block;
}

static void table_finish(struct table *table)
{
	for (size_t i = 0; i < table->count; i++)
		free_block(table->blocks[i]);
	free(table->blocks);
}

static uintptr_t **table_choose(struct table *table, uint64_t *random)
{
	return &table->blocks[bench_between(random, 0, table->count - 1)];
}

static void *stress(void *argument)
{
	struct worker *worker = argument;
	uint64_t random = worker->random;
	size_t passing = 100 * (size_t)scale_percent * (worker->index % 8 + 1);
	size_t kept = passing / 2;
	struct table mine = { .count = 0 }, keep = { .room = kept };

	keep.blocks = bench_need(malloc(kept * sizeof *keep.blocks));
	worker->blocks = passing + kept;
	while (passing > 0 || kept > 0) {
		if (kept == 0 || (passing > 0 && chance(&random, 51))) {
			table_add(&mine, make_block(&random, PASSING_SHIFTS));
			passing--;
		} else {
			table_add(&keep, make_block(&random, KEPT_SHIFTS));
			kept--;
		}
		if (mine.count > 0 && chance(&random, 67)) {
			uintptr_t **slot = table_choose(&mine, &random);

			free_block(*slot);
			*slot = NULL;
		}
		if (mine.count > 0 && chance(&random, 26)) {
			uintptr_t **slot = table_choose(&mine, &random);
			size_t other = bench_between(&random, 0, SHARED_SLOTS - 1);

			*slot = __atomic_exchange_n(&x_shared[other], *slot,
			                            __ATOMIC_ACQ_REL);
		}
	}
	table_finish(&keep);
	table_finish(&mine);
	return NULL;
}

int main(int argc, char **argv)
{
	long threads = bench_arg(argc, argv, 1, 2);
	long iterations = bench_arg(argc, argv, 3, 200);

	scale_percent = bench_arg(argc, argv, 2, 50);
	if (threads < 1 || scale_percent < 1)
		return 2;

	struct worker *workers = bench_need(calloc((size_t)threads, sizeof *workers));
	uint64_t random = bench_seed(0);
	uint64_t blocks = 0;
	double start = bench_seconds();

	for (long round = 0; round < iterations; round++) {
		for (long i = 0; i < threads; i++) {
			workers[i].index = (size_t)i;
			workers[i].random =
				bench_seed((uint64_t)(1 + round * threads + i));
		}
		bench_threads_but(1, threads, stress, workers, sizeof *workers);
		for (long i = 0; i < threads; i++)
			blocks += workers[i].blocks;
		for (size_t i = 0; i < SHARED_SLOTS; i++) {
			if (round + 1 == iterations || chance(&random, 51)) {
				free_block(x_shared[i]);
				x_shared[i] = NULL;
			}
		}
	}
	free(workers);
	bench_result("mstress", blocks, bench_seconds() - start);
	return 0;
}
