/* Producers allocate, consumers free: no block is freed by its own thread.
 *
 *     xmalloc PAIRS-OF-THREADS BATCHES
 *
 * After the idea of Lever and Boreham, "malloc() performance in a multithreaded
 * Linux environment" (USENIX 2000). */
#include <pthread.h>

#include "load.h"

#define BATCH 128
#define QUEUED 16 /* batches in a queue, at most */
#define MAX_SIZE 512

struct queue {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	void **batches[QUEUED];
	long count;
	long total; /* batches that go through it; not changed by the threads */
	uint64_t random;
};

static void *produce(void *arg)
{
	struct queue *queue = arg;

	for (long n = 0; n < queue->total; n++) {
		void **batch = load_new(BATCH * sizeof *batch);

		for (int i = 0; i < BATCH; i++)
			batch[i] = load_new(1 + load_random(&queue->random) % MAX_SIZE);
		pthread_mutex_lock(&queue->lock);
		while (queue->count == QUEUED)
			pthread_cond_wait(&queue->changed, &queue->lock);
		queue->batches[queue->count++] = batch;
		pthread_cond_signal(&queue->changed);
		pthread_mutex_unlock(&queue->lock);
	}
	return NULL;
}

static void *consume(void *arg)
{
	struct queue *queue = arg;

	for (long n = 0; n < queue->total; n++) {
		pthread_mutex_lock(&queue->lock);
		while (queue->count == 0)
			pthread_cond_wait(&queue->changed, &queue->lock);
		void **batch = queue->batches[--queue->count];
		pthread_cond_signal(&queue->changed);
		pthread_mutex_unlock(&queue->lock);
		for (int i = 0; i < BATCH; i++)
			free(batch[i]);
		free(batch);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	long pairs = load_arg(argc, argv, 1, 1);
	struct queue *queues = calloc((size_t)pairs, sizeof *queues);
	pthread_t *id = calloc((size_t)pairs * 2, sizeof *id);

	for (long i = 0; i < pairs; i++) {
		pthread_mutex_init(&queues[i].lock, NULL);
		pthread_cond_init(&queues[i].changed, NULL);
		queues[i].total = load_arg(argc, argv, 2, 100000);
		queues[i].random = (uint64_t)i + 1;
	}
	for (long i = 0; i < pairs * 2; i++)
		if (pthread_create(&id[i], NULL, i % 2 ? consume : produce, &queues[i / 2]))
			return 1;
	for (long i = 0; i < pairs * 2; i++)
		pthread_join(id[i], NULL);
	return 0;
}
