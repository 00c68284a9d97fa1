/* A random mix: each of THREADS threads frees some blocks of its table, fills others,
 * and every CROSS loops makes a batch of blocks that another thread frees.
 *
 *     rptest [THREADS MODE SIZES CROSS LOOPS BLOCKS OPERATIONS MIN MAX ROUNDS]
 *            2 0 1 2 500 1000 100 8 16000 20
 *
 * MODE: 0 random sizes, 1 all of MIN bytes; SIZES: 0 evenly distributed, 1 falling off
 * linearly, 2 exponentially; CROSS loops from one batch for another thread to the next,
 * 0 for none; LOOPS of a round; BLOCKS of a thread's table; OPERATIONS at most in a
 * loop, of which a random 30 to 99 % are done; MIN and MAX size in bytes; ROUNDS, each
 * with new threads (the published program has two, and passes over the loops twice in
 * each: too little to measure). A block is zeroed memory or is filled, as in
 * mimalloc-bench: one in three, and all of 4096 bytes or more, comes from calloc, the
 * others from posix_memalign, for 8 or 16 bytes.
 * Operations: blocks and what carries them across, each one allocation and one free.
 *
 * After rpmalloc-benchmark by M. Jansson, and rptest of mimalloc-bench with its
 * arguments. */
#include "bench.h"

#define SIZE_COUNT 2048u /* of sizes drawn in advance, a power of two */
#define CALLOC_SIZE 4096 /* bytes; from here on always zeroed */
#define PAGE 4096        /* bytes; one in each is written */
#define FILL 0xcd

/* Blocks on their way to another thread. */
struct parcel {
	struct parcel *next;
	size_t count;
	unsigned char **blocks;
};

/* Each block begins with its size, as 32 bits. */
struct worker {
	struct parcel *x_inbox; /* pushed with release, taken whole with acquire */
	long index;
	uint64_t random;
	uint64_t operations;
};

static struct {
	long threads, cross, loops, slots, operations;
	size_t free_step, fill_step; /* through the table; both coprime to slots */
	uint32_t sizes[SIZE_COUNT];  /* bytes */
	struct worker *workers;
	pthread_barrier_t sent; /* after it no inbox gets more */
} load;

static size_t common_divisor(size_t a, size_t b)
{
	while (b) {
		size_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* The first number from `from` on that walks through all of count slots. */
static size_t coprime_step(size_t count, size_t from)
{
	while (common_divisor(from, count) != 1)
		from++;
	return from;
}

/* The distributions are the published program's: products of uniform numbers. */
static void draw_sizes(int fixed, long shape, size_t min, size_t max)
{
	uint64_t random = bench_seed(0);

	for (size_t i = 0; i < SIZE_COUNT; i++) {
		double u = bench_random(&random) / 4294967296.0;
		double v = bench_random(&random) / 4294967296.0;
		double w = bench_random(&random) / 4294967296.0;

		if (shape == 1)
			u *= v < w ? v : w;
		else if (shape == 2)
			u *= v * w;
		load.sizes[i] =
			(uint32_t)(fixed ? min : min + (size_t)(u * (max - min + 1)));
	}
}

static unsigned char *make_block(size_t i)
{
	uint32_t size = load.sizes[i % SIZE_COUNT];
	void *block = NULL;

	if (size >= CALLOC_SIZE || i % 3 == 0) {
		block = bench_need(calloc(1, size));
	} else {
		if (posix_memalign(&block, i % 3 == 1 ? 8 : 16, size))
			block = bench_need(NULL);
		memset(block, FILL, size);
	}
	for (size_t at = PAGE; at < size; at += PAGE) /* calloc's may not be there yet */
		((volatile unsigned char *)block)[at] = 1;
	((volatile unsigned char *)block)[size - 1] = (unsigned char)size;
	memcpy(block, &size, sizeof size);
	return block;
}

static void free_block(unsigned char *block)
{
	uint32_t size;

	memcpy(&size, block, sizeof size);
	bench_check(size == sizeof size || block[size - 1] == (unsigned char)size);
	free(block);
}

static void send_parcel(struct worker *to, struct parcel *parcel)
{
	parcel->next = __atomic_load_n(&to->x_inbox, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&to->x_inbox, &parcel->next, parcel, 1,
	                                    __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
}

static struct parcel *make_parcel(size_t count, size_t first)
{
	struct parcel *parcel = bench_need(malloc(sizeof *parcel));

	parcel->count = count;
	parcel->blocks = bench_need(malloc(count * sizeof *parcel->blocks));
	for (size_t i = 0; i < count; i++)
		parcel->blocks[i] = make_block(first + i);
	return parcel;
}

static void empty_inbox(struct worker *worker)
{
	struct parcel *next,
		*parcel = __atomic_exchange_n(&worker->x_inbox, NULL, __ATOMIC_ACQUIRE);

	for (; parcel; parcel = next) {
		next = parcel->next;
		for (size_t i = 0; i < parcel->count; i++)
			free_block(parcel->blocks[i]);
		free(parcel->blocks);
		free(parcel);
	}
}

/* 30 to 99 % of the operations of a loop, at least one. */
static size_t choose_count(uint64_t *random)
{
	return (size_t)load.operations * bench_between(random, 30, 99) / 100 + 1;
}

/* The next thread in turn, but the thread itself. */
static struct worker *choose_other(const struct worker *worker, size_t turn)
{
	size_t others = (size_t)load.threads - 1;

	return &load.workers[((size_t)worker->index + 1 + turn % others) %
	                     (size_t)load.threads];
}

static void *mix(void *argument)
{
	struct worker *worker = argument;
	uint64_t random = worker->random;
	size_t slots = (size_t)load.slots, freed = 0, filled = 0;
	size_t size_idx = bench_random(&random) % SIZE_COUNT;
	unsigned char **table = bench_need(calloc(slots, sizeof *table));
	uint64_t operations = 0;

	for (long loop = 0; loop < load.loops; loop++) {
		for (size_t n = choose_count(&random) * 4 / 5; n > 0; n--) {
			if (table[freed])
				free_block(table[freed]);
			table[freed] = NULL;
			freed = (freed + load.free_step) % slots;
		}
		empty_inbox(worker);

		size_t count = choose_count(&random);

		for (size_t i = 0; i < count; i++) {
			if (table[filled])
				free_block(table[filled]);
			table[filled] = make_block(size_idx++);
			filled = (filled + load.fill_step) % slots;
		}
		operations += count;
		if (load.cross > 0 && load.threads > 1 && loop % load.cross == 0) {
			send_parcel(choose_other(worker, (size_t)(loop / load.cross)),
			            make_parcel(count, size_idx));
			size_idx += count;
			operations += count + 2;
		}
	}
	pthread_barrier_wait(&load.sent);
	empty_inbox(worker);
	for (size_t i = 0; i < slots; i++)
		if (table[i])
			free_block(table[i]);
	free(table);
	worker->operations += operations;
	return NULL;
}

int main(int argc, char **argv)
{
	long mode = bench_arg(argc, argv, 2, 0), shape = bench_arg(argc, argv, 3, 1);
	long min = bench_arg(argc, argv, 8, 8), max = bench_arg(argc, argv, 9, 16000);
	long rounds = bench_arg(argc, argv, 10, 20);

	load.threads = bench_arg(argc, argv, 1, 2);
	load.cross = bench_arg(argc, argv, 4, 2);
	load.loops = bench_arg(argc, argv, 5, 500);
	load.slots = bench_arg(argc, argv, 6, 1000);
	load.operations = bench_arg(argc, argv, 7, 100);
	if (load.threads < 1 || load.slots < 1 || load.operations < 0 ||
	    min < (long)sizeof(uint32_t) || max < min)
		return 2;

	load.fill_step = coprime_step((size_t)load.slots, 7);
	load.free_step = coprime_step((size_t)load.slots, load.fill_step + 1);
	draw_sizes(mode == 1, shape, (size_t)min, (size_t)max);
	pthread_barrier_init(&load.sent, NULL, (unsigned)load.threads);
	load.workers = bench_need(calloc((size_t)load.threads, sizeof *load.workers));

	uint64_t operations = 0;
	double start = bench_seconds();

	for (long round = 0; round < rounds; round++) {
		for (long i = 0; i < load.threads; i++) {
			load.workers[i].index = i;
			load.workers[i].random =
				bench_seed((uint64_t)(1 + round * load.threads + i));
		}
		bench_threads(load.threads, mix, load.workers, sizeof *load.workers);
	}
	for (long i = 0; i < load.threads; i++)
		operations += load.workers[i].operations;
	free(load.workers);
	pthread_barrier_destroy(&load.sent);
	bench_result("rptest", operations, bench_seconds() - start);
	return 0;
}
