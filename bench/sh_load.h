/* What sh6bench.c and sh8bench.c share. A call goes through the sizes from MIN to MAX in
 * growing steps and makes a batch of blocks of each, many of the small sizes and few of
 * the large. By turns a batch is
 *     freed at once, the last block first;
 *     kept until 16 others have been kept after it, then freed, the first block first;
 *     sent to the next thread, which frees it (sh6bench: kept, as the one before);
 *     kept likewise, then freed, the last block first.
 *
 * A thread has a shelf of batches that come from the thread before it. Who finds a
 * batch there that was not yet taken frees it himself and leaves his own, so that a
 * thread that does not run for a while is not buried. */
#ifndef NACRE_SH_LOAD_H
#define NACRE_SH_LOAD_H

#include "bench.h"

#define SH_BATCH_MAX 32
#define SH_BATCH_MIN 4
#define SH_BATCH_BYTES 4096 /* of blocks, within the two limits above */
#define SH_KEPT 16          /* batches */
#define SH_SHELF 64         /* batches */

struct sh_batch {
	size_t size; /* of a block, in bytes */
	int count;
	int reverse; /* the last block is freed first */
	unsigned char *blocks[SH_BATCH_MAX];
};

struct sh_worker {
	long calls;
	size_t min_size, max_size; /* bytes */
	struct sh_worker *next;    /* NULL: nothing is sent */
	uint64_t operations;

	/* Exchanged atomically: acquire for the batch taken, release for the one left. */
	struct sh_batch *x_shelf[SH_SHELF];
};

/* What a thread alone uses while it runs. */
struct sh_state {
	struct sh_batch *kept[SH_KEPT];
	unsigned kept_idx, sent_idx, taken_idx;
	unsigned turn;
	uint64_t operations;
};

static inline struct sh_batch *sh_batch_make(size_t size)
{
	struct sh_batch *batch = bench_need(malloc(sizeof *batch));
	size_t count = SH_BATCH_BYTES / size;

	if (count > SH_BATCH_MAX)
		count = SH_BATCH_MAX;
	if (count < SH_BATCH_MIN)
		count = SH_BATCH_MIN;
	batch->size = size;
	batch->count = (int)count;
	batch->reverse = 1;
	for (int i = 0; i < batch->count; i++) {
		batch->blocks[i] = bench_need(malloc(size));
		bench_stamp(batch->blocks[i], size);
	}
	return batch;
}

static inline void sh_batch_free(struct sh_batch *batch)
{
	if (!batch)
		return;
	for (int i = 0; i < batch->count; i++) {
		unsigned char *block =
			batch->blocks[batch->reverse ? batch->count - 1 - i : i];

		bench_stamped(block, batch->size);
		free(block);
	}
	free(batch);
}

static inline struct sh_batch *sh_exchange(struct sh_batch **slot, struct sh_batch *batch)
{
	return __atomic_exchange_n(slot, batch, __ATOMIC_ACQ_REL);
}

static inline void sh_keep(struct sh_state *state, struct sh_batch *batch, int reverse)
{
	unsigned slot = state->kept_idx++ % SH_KEPT;

	batch->reverse = reverse;
	sh_batch_free(state->kept[slot]);
	state->kept[slot] = batch;
}

static inline void sh_send(struct sh_worker *worker, struct sh_state *state,
                           struct sh_batch *batch)
{
	struct sh_batch **to = &worker->next->x_shelf[state->sent_idx++ % SH_SHELF];
	struct sh_batch **from = &worker->x_shelf[state->taken_idx++ % SH_SHELF];

	sh_batch_free(sh_exchange(to, batch));
	sh_batch_free(sh_exchange(from, NULL));
}

static inline void sh_size(struct sh_worker *worker, struct sh_state *state, size_t size)
{
	struct sh_batch *batch = sh_batch_make(size);

	state->operations += (uint64_t)batch->count + 1;
	switch (state->turn++ % 4) {
	case 0:
		sh_batch_free(batch);
		break;
	case 2:
		if (worker->next) {
			sh_send(worker, state, batch);
			break;
		}
		/* fall through */
	case 1:
		sh_keep(state, batch, 0);
		break;
	default:
		sh_keep(state, batch, 1);
	}
}

static void *sh_work(void *argument)
{
	struct sh_worker *worker = argument;
	struct sh_state state = { .turn = 0 };

	for (long call = 0; call < worker->calls; call++) {
		/* Begins a little higher each time, so that no size is left out. */
		size_t size = worker->min_size + (size_t)(call & 7);

		for (; size <= worker->max_size; size += size / 8 + 1)
			sh_size(worker, &state, size);
	}
	for (int i = 0; i < SH_KEPT; i++)
		sh_batch_free(state.kept[i]);
	worker->operations = state.operations;
	return NULL;
}

/* calls: how many if the arguments do not say; send: or keep. */
static inline int sh_main(const char *name, int send, long calls, int argc, char **argv)
{
	long threads = bench_arg(argc, argv, 1, 2);
	long min = bench_arg(argc, argv, 3, 1), max = bench_arg(argc, argv, 4, 1000);

	calls = bench_arg(argc, argv, 2, calls);
	if (threads < 1 || min < 1 || max < min)
		return 2;

	struct sh_worker *workers = bench_need(calloc((size_t)threads, sizeof *workers));
	uint64_t operations = 0;
	double start = bench_seconds();

	for (long i = 0; i < threads; i++) {
		workers[i].calls = calls;
		workers[i].min_size = (size_t)min;
		workers[i].max_size = (size_t)max;
		workers[i].next = send ? &workers[(i + 1) % threads] : NULL;
	}
	bench_threads(threads, sh_work, workers, sizeof *workers);
	for (long i = 0; i < threads; i++) {
		operations += workers[i].operations;
		for (int j = 0; j < SH_SHELF; j++)
			sh_batch_free(workers[i].x_shelf[j]);
	}
	free(workers);
	bench_result(name, operations, bench_seconds() - start);
	return 0;
}

#endif
