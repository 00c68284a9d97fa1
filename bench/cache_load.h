/* What cache_scratch.c and cache_thrash.c share: threads that make a small object, write
 * to it many times, free it, and so on. If the allocator gives two threads objects of
 * one cache line, each write takes the line from the other. */
#ifndef NACRE_CACHE_LOAD_H
#define NACRE_CACHE_LOAD_H

#include "bench.h"

struct cache_worker {
	char *given;   /* freed by the worker before it begins; may be NULL */
	size_t size;   /* bytes of an object */
	long objects;  /* made by this worker, one after the other */
	long writings; /* of each object */
	unsigned char mark;
};

static void *cache_work(void *argument)
{
	struct cache_worker worker = *(struct cache_worker *)argument;

	if (worker.given)
		bench_stamped(worker.given, worker.size);
	free(worker.given);
	for (long i = 0; i < worker.objects; i++) {
		volatile unsigned char *object = bench_need(malloc(worker.size));
		unsigned difference = 0;

		for (long j = 0; j < worker.writings; j++) {
			for (size_t k = 0; k < worker.size; k++) {
				unsigned char mark = (unsigned char)(worker.mark + k);

				object[k] = mark;
				difference |= object[k] ^ mark;
			}
		}
		bench_check(!difference);
		free((void *)object);
	}
	return NULL;
}

/* given: each worker begins by freeing an object that the main thread made, all of
 * them in a row. */
static inline int cache_main(const char *name, int given, int argc, char **argv)
{
	long threads = bench_arg(argc, argv, 1, 2);
	long objects = bench_arg(argc, argv, 2, 1000);
	long size = bench_arg(argc, argv, 3, 1);
	long writings = bench_arg(argc, argv, 4, 2000000);

	if (threads < 1 || size < 1 || writings < threads)
		return 2;
	writings /= threads;

	struct cache_worker *workers =
		bench_need(calloc((size_t)threads, sizeof *workers));

	for (long i = 0; i < threads; i++) {
		workers[i].size = (size_t)size;
		workers[i].objects = objects;
		workers[i].writings = writings;
		workers[i].mark = (unsigned char)(i * 37);
		if (given) {
			workers[i].given = bench_need(malloc((size_t)size));
			bench_stamp(workers[i].given, (size_t)size);
		}
	}

	double start = bench_seconds();

	bench_threads(threads, cache_work, workers, sizeof *workers);

	double seconds = bench_seconds() - start;

	free(workers);
	bench_result(name, (uint64_t)(threads * objects) * (uint64_t)(writings * size),
	             seconds);
	return 0;
}

#endif
