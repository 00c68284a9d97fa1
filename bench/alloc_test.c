/* Skewed sizes and skewed lifetimes over a large table. Each of THREADS threads has its
 * part of the table, half full at first; ITERATIONS times it chooses a slot and frees
 * the block in it or, if there is none, makes one. Half of the blocks are of 5 to 8
 * bytes, a quarter of 9 to 16, an eighth of 17 to 32, and so on. The choice of slots
 * follows Pareto's rule six times over: 80 % of the choices fall on 20 % of the slots,
 * 80 % of those on 20 % of these ..., so that some blocks live for long.
 *
 *     alloc_test [THREADS ITERATIONS SLOTS SIZE]
 *                2 10000000 18 10
 *
 * ITERATIONS of a thread; SLOTS of all threads together, and the largest SIZE in bytes,
 * each as the exponent of a power of two (SLOTS 7 to 30, SIZE 3 to 30). The published
 * program does 100,000,000 iterations. A block is filled, and read and checked in full
 * before it is freed.
 * Operations: blocks, each one malloc and one free (two iterations, about).
 *
 * After alloc-test by OLogN Technologies (S. Ignatchenko, "Testing Memory Allocators:
 * ptmalloc2 vs tcmalloc vs hoard vs jemalloc While Trying to Simulate Real-World
 * Loads", ithare.com, 2018), as in mimalloc-bench. */
#include "bench.h"

#define LEVELS 6 /* times that Pareto's rule is applied */
#define FREQUENT 0.8
#define FEW 0.2
#define SLOTS_MIN 64 /* of a thread: each segment has one at least */

struct slot {
	unsigned char *block; /* NULL: none */
	uint32_t size;        /* bytes */
};

/* Segment k is what k of the 6 rules call rare and 6 - k frequent. Slots first[k] to
 * first[k + 1] - 1 are segment k's; a random number below below[k] chooses it, if it is
 * not below below[k - 1]. */
struct segments {
	uint32_t first[LEVELS + 2];
	uint32_t below[LEVELS + 1];
};

struct worker {
	uint64_t random;
	uint64_t blocks; /* made */
};

static long iterations;
static uint32_t slots_per_thread;
static int size_exponent;
static struct segments segments;

static void segments_init(struct segments *s, uint32_t slots)
{
	double ways = 1, sum = 0; /* ways: to choose k of the 6 */

	s->first[0] = 0;
	for (int k = 0; k <= LEVELS; k++) {
		double chosen = ways, share = ways;

		for (int i = 0; i < LEVELS; i++) {
			chosen *= i < k ? FEW : FREQUENT;
			share *= i < k ? FREQUENT : FEW;
		}
		sum += chosen;
		ways = ways * (LEVELS - k) / (k + 1);

		uint32_t width = (uint32_t)(share * slots);

		s->first[k + 1] = s->first[k] + (width ? width : 1);
		s->below[k] = (uint32_t)(sum < 1 ? sum * UINT32_MAX : UINT32_MAX);
	}
	s->first[LEVELS + 1] = slots; /* with what rounding left over */
}

static size_t choose_slot(const struct segments *s, uint64_t *random)
{
	uint32_t chosen = bench_random(random);
	int k = 0;

	while (k < LEVELS && chosen >= s->below[k])
		k++;
	return bench_between(random, s->first[k], s->first[k + 1] - 1);
}

static size_t choose_size(uint64_t *random)
{
	uint32_t last = (uint32_t)1 << (size_exponent - 3);
	size_t low = (size_t)4 << __builtin_ctz(bench_random(random) | last);

	return bench_between(random, low + 1, 2 * low);
}

static void make_block(struct slot *slot, uint64_t *random)
{
	size_t size = choose_size(random);

	slot->block = bench_need(malloc(size));
	slot->size = (uint32_t)size;
	memset(slot->block, (int)(size & 0xff), size);
}

static void free_block(struct slot *slot)
{
	uint64_t pattern = (slot->size & 0xff) * 0x0101010101010101u, difference = 0,
		 word;
	size_t i = 0;

	for (; i + sizeof word <= slot->size; i += sizeof word) {
		memcpy(&word, slot->block + i, sizeof word);
		difference |= word ^ pattern;
	}
	for (; i < slot->size; i++)
		difference |= slot->block[i] ^ (pattern & 0xff);
	bench_check(!difference);
	free(slot->block);
	slot->block = NULL;
}

static void *work(void *argument)
{
	struct worker *worker = argument;
	uint64_t random = worker->random, blocks = 0;
	struct slot *table = bench_need(calloc(slots_per_thread, sizeof *table));

	for (uint32_t i = 0; i < slots_per_thread; i++) {
		if (bench_random(&random) >> 31) {
			make_block(&table[i], &random);
			blocks++;
		}
	}
	for (long i = 0; i < iterations; i++) {
		struct slot *slot = &table[choose_slot(&segments, &random)];

		if (slot->block) {
			free_block(slot);
		} else {
			make_block(slot, &random);
			blocks++;
		}
	}
	for (uint32_t i = 0; i < slots_per_thread; i++)
		if (table[i].block)
			free_block(&table[i]);
	free(table);
	worker->blocks = blocks;
	return NULL;
}

int main(int argc, char **argv)
{
	long threads = bench_arg(argc, argv, 1, 2);
	long slot_exponent = bench_arg(argc, argv, 3, 18);

	iterations = bench_arg(argc, argv, 2, 10000000);
	size_exponent = (int)bench_arg(argc, argv, 4, 10);
	if (threads < 1 || slot_exponent < 7 || slot_exponent > 30 ||
	    (1L << slot_exponent) / threads < SLOTS_MIN || size_exponent < 3 ||
	    size_exponent > 30)
		return 2;
	slots_per_thread = (uint32_t)((1L << slot_exponent) / threads);
	segments_init(&segments, slots_per_thread);

	struct worker *workers = bench_need(calloc((size_t)threads, sizeof *workers));
	uint64_t blocks = 0;
	double start = bench_seconds();

	for (long i = 0; i < threads; i++)
		workers[i].random = bench_seed((uint64_t)i);
	bench_threads(threads, work, workers, sizeof *workers);
	for (long i = 0; i < threads; i++)
		blocks += workers[i].blocks;
	free(workers);
	bench_result("alloc_test", blocks, bench_seconds() - start);
	return 0;
}
