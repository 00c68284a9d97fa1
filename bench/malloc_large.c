/* Large blocks: SLOTS slots, and ITERATIONS times a random one gets a new block of
 * random size in place of the old, which is freed after the new one is there.
 *
 *     malloc_large [ITERATIONS SLOTS MIN MAX STEP]
 *                  500 20 5 25 4096
 *
 * The published program does 2000 ITERATIONS. MIN and MAX size of a block in MiB; STEP
 * from one byte written to the next, in bytes: 4096 writes one byte a page, so that the
 * memory is there and the time is the allocator's and the kernel's; 0 fills the block
 * with zeros, as the published program does, and much of the time is then the filling's.
 * Operations: blocks, each one malloc and one free.
 *
 * After malloc-large in mimalloc-bench, by L. Stolyarov and D. Leijen. */
#include "bench.h"

#define MIB ((size_t)1 << 20)

struct slot {
	volatile unsigned char *block;
	size_t size; /* bytes */
};

static void write_block(struct slot *slot, size_t step)
{
	if (step == 0)
		memset((void *)slot->block, 0, slot->size);
	else
		for (size_t i = 0; i < slot->size; i += step)
			slot->block[i] = 1;
	bench_stamp((void *)slot->block, slot->size);
}

static void free_block(struct slot *slot)
{
	if (!slot->block)
		return;
	bench_stamped((void *)slot->block, slot->size);
	bench_check(slot->block[slot->size - 1] == (unsigned char)slot->size);
	free((void *)slot->block);
}

int main(int argc, char **argv)
{
	long iterations = bench_arg(argc, argv, 1, 500);
	long slot_count = bench_arg(argc, argv, 2, 20);
	long min = bench_arg(argc, argv, 3, 5), max = bench_arg(argc, argv, 4, 25);
	size_t step = (size_t)bench_arg(argc, argv, 5, 4096);

	if (slot_count < 1 || min < 1 || max < min)
		return 2;

	struct slot *slots = bench_need(calloc((size_t)slot_count, sizeof *slots));
	uint64_t random = bench_seed(42);
	double start = bench_seconds();

	for (long i = 0; i < iterations; i++) {
		struct slot *slot =
			&slots[bench_between(&random, 0, (size_t)slot_count - 1)];
		struct slot fresh;

		fresh.size = bench_between(&random, (size_t)min * MIB, (size_t)max * MIB);
		fresh.block = bench_need(malloc(fresh.size));
		write_block(&fresh, step);
		free_block(slot);
		*slot = fresh;
	}
	for (long i = 0; i < slot_count; i++)
		free_block(&slots[i]);
	free(slots);
	bench_result("malloc_large", (uint64_t)iterations, bench_seconds() - start);
	return 0;
}
