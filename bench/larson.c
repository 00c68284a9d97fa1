/* A server's load: each thread replaces random blocks of its table; after a
 * generation it hands the table to a fresh thread and ends, so that blocks
 * outlive their thread and are freed by another.
 *
 *     larson THREADS GENERATIONS [REPLACEMENTS a generation]
 *
 * After the idea of Larson and Krishnan, "Memory allocation for long-running
 * server applications" (ISMM 1998). */
#include <pthread.h>

#include "load.h"

#define SLOTS 5000
#define MIN_SIZE 8
#define MAX_SIZE 1000

struct table {
	void *slots[SLOTS];
	uint64_t random;
	long generations, replacements;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ended = PTHREAD_COND_INITIALIZER;
static long running;

static void *generation(void *arg);

static void start(struct table *table)
{
	pthread_t id;

	if (pthread_create(&id, NULL, generation, table) || pthread_detach(id))
		exit(1);
}

static void *generation(void *arg)
{
	struct table *table = arg;

	for (long i = 0; i < table->replacements; i++) {
		void **slot = &table->slots[load_random(&table->random) % SLOTS];

		free(*slot);
		*slot = load_new(MIN_SIZE + load_random(&table->random) % (MAX_SIZE - MIN_SIZE));
	}
	if (--table->generations > 0) {
		start(table);
		return NULL;
	}
	pthread_mutex_lock(&lock);
	running--;
	pthread_cond_signal(&ended);
	pthread_mutex_unlock(&lock);
	return NULL;
}

int main(int argc, char **argv)
{
	long threads = load_arg(argc, argv, 1, 2);
	struct table *tables = calloc((size_t)threads, sizeof *tables);

	running = threads;
	for (long i = 0; i < threads; i++) {
		tables[i].random = (uint64_t)i + 1;
		tables[i].generations = load_arg(argc, argv, 2, 20);
		tables[i].replacements = load_arg(argc, argv, 3, 500000);
		start(&tables[i]);
	}
	pthread_mutex_lock(&lock);
	while (running > 0)
		pthread_cond_wait(&ended, &lock);
	pthread_mutex_unlock(&lock);
	return 0;
}
