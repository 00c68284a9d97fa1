/* The load whose system calls are counted (count.py, under strace).
 *
 *     calls empty            nothing at all
 *     calls first            one malloc of 48 bytes
 *     calls steady N         N random replacements among live small blocks
 *     calls idle N           N threads, one after another, that do nothing
 *     calls threads N        the same, each with one round of malloc and free
 *     calls idle-alive N     N threads that live at the same time
 *     calls threads-alive N  the same, each holding a block
 *
 * The program itself makes the same calls on every run, futexes apart (whether
 * pthread_join sleeps is chance), which count.py leaves out for threads. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIVE 4096       /* blocks in use in the steady state */
#define MAX_SIZE 1024   /* bytes; sizes are drawn with a bias to small ones */
#define MAX_THREADS 64

/* Keeps the compiler from dropping a malloc whose block is not used. */
static void *volatile sink;

static uint32_t next_random(void)
{
	static uint32_t state = 1;

	state = state * 1664525 + 1013904223;
	return state >> 8;
}

static void steady(long rounds)
{
	static void *live[LIVE];

	while (rounds-- > 0) {
		void **slot = &live[next_random() % LIVE];
		size_t size = 1 + next_random() % (16u << next_random() % 7);

		free(*slot);
		*slot = malloc(size <= MAX_SIZE ? size : MAX_SIZE);
		memset(*slot, 1, 1);
	}
}

static void *work(void *allocates)
{
	if (allocates) {
		sink = malloc(48);
		free(sink);
	}
	return NULL;
}

static int ready[2], leave[2];

static void *stay(void *allocates)
{
	void *block = allocates ? malloc(48) : NULL;
	char byte = 0;

	if (write(ready[1], &byte, 1) != 1 || read(leave[0], &byte, 1) != 0)
		_exit(2);
	free(block);
	return NULL;
}

static void one_after_another(long count, void *allocates)
{
	pthread_t thread;

	while (count-- > 0)
		if (pthread_create(&thread, NULL, work, allocates) || pthread_join(thread, NULL))
			_exit(2);
}

static void at_the_same_time(long count, void *allocates)
{
	pthread_t threads[MAX_THREADS];
	char byte;

	if (count > MAX_THREADS || pipe(ready) || pipe(leave))
		_exit(2);
	for (long i = 0; i < count; i++)
		if (pthread_create(&threads[i], NULL, stay, allocates) ||
		    read(ready[0], &byte, 1) != 1)
			_exit(2);
	close(leave[1]);
	for (long i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	long count = argc > 2 ? atol(argv[2]) : 0;
	static int yes;

	if (!strcmp(mode, "empty"))
		return 0;
	if (!strcmp(mode, "first"))
		sink = malloc(48);
	else if (!strcmp(mode, "steady"))
		steady(count);
	else if (!strcmp(mode, "idle"))
		one_after_another(count, NULL);
	else if (!strcmp(mode, "threads"))
		one_after_another(count, &yes);
	else if (!strcmp(mode, "idle-alive"))
		at_the_same_time(count, NULL);
	else if (!strcmp(mode, "threads-alive"))
		at_the_same_time(count, &yes);
	else
		return 2;
	return 0;
}
