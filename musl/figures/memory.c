/* Anonymous memory of a process after some blocks, in KiB.
 *
 *     memory N SIZE      N blocks of SIZE bytes, written
 *     memory threads     a thread that holds a block, beyond one that holds none
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define THREADS 64

static char text[8192];

static long anonymous_kib(void)
{
	int fd = open("/proc/self/smaps_rollup", O_RDONLY);
	ssize_t length = read(fd, text, sizeof text - 1);
	char *line;

	close(fd);
	text[length > 0 ? length : 0] = 0;
	line = strstr(text, "\nAnonymous:");
	return line ? atol(line + 11) : -1;
}

static pthread_barrier_t all_there, all_measured;

static void *hold(void *allocates)
{
	void *block = allocates ? malloc(64) : NULL;

	pthread_barrier_wait(&all_there);
	pthread_barrier_wait(&all_measured);
	free(block);
	return NULL;
}

static long with_threads(void *allocates)
{
	pthread_t threads[THREADS];
	pthread_attr_t small;
	long kib;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 65536);
	pthread_barrier_init(&all_there, NULL, THREADS + 1);
	pthread_barrier_init(&all_measured, NULL, THREADS + 1);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], &small, hold, allocates);
	pthread_barrier_wait(&all_there);
	kib = anonymous_kib();
	pthread_barrier_wait(&all_measured);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return kib;
}

int main(int argc, char **argv)
{
	static int yes;
	long kib;

	if (argc == 2) {
		long none = with_threads(NULL);
		kib = (with_threads(&yes) - none) / THREADS;
	} else {
		long count = argc > 2 ? atol(argv[1]) : 0;

		for (long i = 0; i < count; i++)
			memset(malloc((size_t)atol(argv[2])), 1, (size_t)atol(argv[2]));
		kib = anonymous_kib();
	}
	if (argc < 1)
		free(malloc(1)); /* a program that frees, so static ones have it all */
	dprintf(1, "%ld\n", kib);
	return 0;
}
