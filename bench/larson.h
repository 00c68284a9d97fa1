/* The load of larson.c and larson_sized.cc, which define before they include this
 *
 *     void *larson_alloc(size_t size)             a block of size bytes, never NULL
 *     void larson_free(void *block, size_t size)
 *
 * A lane is a table of blocks with one thread at a time that serves it. When a thread
 * has done its rounds it starts the next and ends, so that from then on blocks are
 * freed by another thread than made them. A thread waits for the end of the one
 * before it when its own work is done: two a lane at most, and no thread is detached.
 *
 * A lane's fields belong to its thread, handed on by pthread_create; `left`, the count
 * of lanes still served, is under the lock. */
#ifndef NACRE_LARSON_H
#define NACRE_LARSON_H

#include "bench.h"

struct larson_slot {
	char *block;
	size_t size; /* bytes */
};

struct larson_load {
	size_t min_size, max_size; /* bytes, both included */
	long slots;                /* blocks of a lane */
	long replacements;         /* by one thread before the next takes over */
	long left;                 /* lanes that a thread still serves */
	int x_stop;                /* set once by the main thread */
	pthread_mutex_t lock;
	pthread_cond_t idle; /* left is 0 */
};

struct larson_lane {
	struct larson_load *load;
	struct larson_slot *table;
	uint64_t random;
	uint64_t operations;
	long threads;     /* that have served it */
	pthread_t latest; /* the last of them, not joined yet; valid if threads > 0 */
};

static inline void larson_fill(const struct larson_load *load, struct larson_slot *slot,
                               uint64_t *random)
{
	slot->size = bench_between(random, load->min_size, load->max_size);
	slot->block = (char *)larson_alloc(slot->size);
	/* The start alone, as published: the last byte would often be in another cache
	 * line, which an allocator need not touch. */
	*(volatile unsigned char *)slot->block = (unsigned char)slot->size;
}

static inline void larson_empty(struct larson_slot *slot)
{
	bench_stamped(slot->block, slot->size);
	larson_free(slot->block, slot->size);
}

static inline void larson_replace(const struct larson_load *load,
                                  struct larson_slot *table, long slots, uint64_t *random)
{
	struct larson_slot *slot = &table[bench_between(random, 0, (size_t)slots - 1)];

	larson_empty(slot);
	larson_fill(load, slot, random);
}

static inline void larson_lane_idle(struct larson_load *load)
{
	pthread_mutex_lock(&load->lock);
	if (--load->left == 0)
		pthread_cond_signal(&load->idle);
	pthread_mutex_unlock(&load->lock);
}

static void *larson_serve(void *argument)
{
	struct larson_lane *lane = (struct larson_lane *)argument;
	struct larson_load *load = lane->load;
	uint64_t random = lane->random;
	long done = 0;
	int stop = 0;

	while (!stop && done < load->replacements) {
		larson_replace(load, lane->table, load->slots, &random);
		done++;
		stop = __atomic_load_n(&load->x_stop, __ATOMIC_RELAXED);
	}

	if (lane->threads > 0)
		pthread_join(lane->latest, NULL);
	lane->latest = pthread_self();
	lane->threads++;
	lane->random = random;
	lane->operations += (uint64_t)done;

	pthread_t next;

	if (stop) {
		larson_lane_idle(load);
	} else if (pthread_create(&next, NULL, larson_serve, lane)) {
		fprintf(stderr, "cannot start a thread\n");
		exit(1);
	}
	return NULL;
}

/* All blocks come from the main thread at first, and in no order: the tables are
 * filled, shuffled, and then four times as many blocks are replaced anywhere. */
static inline void larson_prepare(const struct larson_load *load, struct larson_slot *all,
                                  long slots, uint64_t *random)
{
	for (long i = 0; i < slots; i++)
		larson_fill(load, &all[i], random);
	for (long i = slots; i > 1; i--) {
		size_t other = bench_between(random, 0, (size_t)i - 1);
		struct larson_slot slot = all[other];

		all[other] = all[i - 1];
		all[i - 1] = slot;
	}
	for (long i = 0; i < 4 * slots; i++)
		larson_replace(load, all, slots, random);
}

/* Lets the lanes run for that many seconds and waits for them; seconds as it was. */
static inline double larson_run(struct larson_load *load, struct larson_lane *lanes,
                                long lane_count, double seconds)
{
	double start = bench_seconds();

	load->left = lane_count;
	for (long i = 0; i < lane_count; i++) {
		pthread_t first;

		if (pthread_create(&first, NULL, larson_serve, &lanes[i])) {
			fprintf(stderr, "cannot start a thread\n");
			exit(1);
		}
	}

	bench_sleep(seconds);
	__atomic_store_n(&load->x_stop, 1, __ATOMIC_RELAXED);

	pthread_mutex_lock(&load->lock);
	while (load->left > 0)
		pthread_cond_wait(&load->idle, &load->lock);
	pthread_mutex_unlock(&load->lock);

	seconds = bench_seconds() - start;
	for (long i = 0; i < lane_count; i++)
		pthread_join(lanes[i].latest, NULL);
	return seconds;
}

static inline int larson_main(const char *name, int argc, char **argv)
{
	struct larson_load load;
	double seconds = bench_arg_real(argc, argv, 1, 5);

	memset(&load, 0, sizeof load);
	pthread_mutex_init(&load.lock, NULL);
	pthread_cond_init(&load.idle, NULL);
	load.min_size = (size_t)bench_arg(argc, argv, 2, 8);
	load.max_size = (size_t)bench_arg(argc, argv, 3, 1000);
	load.slots = bench_arg(argc, argv, 4, 5000);
	load.replacements = bench_arg(argc, argv, 5, 100) * load.slots;

	uint64_t seed = (uint64_t)bench_arg(argc, argv, 6, 4141);
	long threads = bench_arg(argc, argv, 7, 8);

	if (load.min_size < 1 || load.max_size < load.min_size || load.replacements < 1 ||
	    threads < 1)
		return 2;

	long slots = threads * load.slots;
	size_t table_bytes = (size_t)slots * sizeof(struct larson_slot);
	struct larson_slot *all = (struct larson_slot *)bench_need(malloc(table_bytes));
	struct larson_lane *lanes =
		(struct larson_lane *)bench_need(calloc((size_t)threads, sizeof *lanes));
	uint64_t random = bench_seed(seed);
	uint64_t operations = 0;
	long served = 0;

	larson_prepare(&load, all, slots, &random);
	for (long i = 0; i < threads; i++) {
		lanes[i].load = &load;
		lanes[i].table = all + i * load.slots;
		lanes[i].random = bench_seed(seed + 1 + (uint64_t)i);
	}
	seconds = larson_run(&load, lanes, threads, seconds);
	for (long i = 0; i < threads; i++) {
		operations += lanes[i].operations;
		served += lanes[i].threads;
	}

	for (long i = 0; i < slots; i++)
		larson_empty(&all[i]);
	free(lanes);
	free(all);
	pthread_cond_destroy(&load.idle);
	pthread_mutex_destroy(&load.lock);
	printf("%.0f operations per second, %ld threads\n", (double)operations / seconds,
	       served);
	bench_result(name, operations, seconds);
	return 0;
}

#endif
