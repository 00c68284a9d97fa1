/* Nanoseconds an operation (a malloc and a free) with some threads.
 *
 *     speed pairs|mixed|cross THREADS MILLIONS
 *
 *   pairs   256 blocks of 64 bytes, then all freed
 *   mixed   random replacement among 4096 live blocks of 16 to 512 bytes a thread
 *   cross   each thread frees what its neighbour allocated
 *
 * Prints CPU time an operation, and wall time an operation over all threads. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#define MOST_THREADS 64
#define LIVE 4096
#define BATCH 256

static long operations, threads_count;
static void *slots[MOST_THREADS][BATCH];

static void *pairs(void *unused)
{
	void *blocks[BATCH];

	for (long round = 0; round < operations / BATCH; round++) {
		for (int i = 0; i < BATCH; i++)
			blocks[i] = malloc(64);
		for (int i = 0; i < BATCH; i++)
			free(blocks[i]);
	}
	return unused;
}

static void *mixed(void *number)
{
	void **live = calloc(LIVE, sizeof *live);
	uint32_t state = (uint32_t)(uintptr_t)number + 1;

	for (long i = 0; i < operations; i++) {
		state = state * 1664525 + 1013904223;
		void **slot = &live[(state >> 8) % LIVE];
		free(*slot);
		*slot = malloc(16 + (state >> 20) % (16u << (state >> 12) % 6));
	}
	for (int i = 0; i < LIVE; i++)
		free(live[i]);
	free(live);
	return NULL;
}

static void *cross(void *number)
{
	long own = (long)(uintptr_t)number, next = (own + 1) % threads_count;

	for (long i = 0; i < operations; i++) {
		int at = (int)(i % BATCH);
		void *mine = malloc(64);

		/* Put one for others, take what the neighbour put. */
		free(__atomic_exchange_n(&slots[own][at], mine, __ATOMIC_ACQ_REL));
		free(__atomic_exchange_n(&slots[next][at], NULL, __ATOMIC_ACQ_REL));
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[MOST_THREADS];
	struct timespec from, to;
	struct rusage used;
	void *(*work)(void *) = mixed;

	if (argc != 4)
		return 2;
	if (!strcmp(argv[1], "pairs"))
		work = pairs;
	if (!strcmp(argv[1], "cross"))
		work = cross;
	threads_count = atol(argv[2]);
	operations = (long)(atof(argv[3]) * 1e6);
	clock_gettime(CLOCK_MONOTONIC, &from);
	for (long i = 0; i < threads_count; i++)
		pthread_create(&threads[i], NULL, work, (void *)(uintptr_t)i);
	for (long i = 0; i < threads_count; i++)
		pthread_join(threads[i], NULL);
	clock_gettime(CLOCK_MONOTONIC, &to);
	getrusage(RUSAGE_SELF, &used);
	double all = (double)(operations * threads_count);
	double cpu = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e9 +
	             (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1e3;
	double wall = (double)(to.tv_sec - from.tv_sec) * 1e9 +
	              (double)(to.tv_nsec - from.tv_nsec);
	printf("%.2f %.2f\n", cpu / all, wall / all);
	return 0;
}
