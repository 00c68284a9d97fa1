/* Threads whose first malloc happens while thread-specific keys are made and
 * set: with more than 32 keys the C library allocates inside
 * pthread_setspecific. 40 keys before the first malloc of a thread, and 40 more
 * made inside the threads; destructors free what the keys hold. */
#include "../testing.h"

#include <pthread.h>

#define KEYS 40
#define THREADS 50

static pthread_key_t keys[KEYS];
static int freed;

static void free_value(void *value)
{
	__atomic_add_fetch(&freed, 1, __ATOMIC_RELAXED);
	free(value);
}

__attribute__((constructor)) static void make_keys(void)
{
	for (size_t i = 0; i < KEYS; i++)
		CHECK(!pthread_key_create(&keys[i], free_value));
}

/* The first thing the thread does is to set a key of the second level. */
static void *set_then_malloc(void *unused)
{
	(void)unused;
	CHECK(!pthread_setspecific(keys[KEYS - 1], &keys));
	for (size_t i = 0; i < KEYS; i++)
		CHECK(!pthread_setspecific(keys[i], malloc(i * 50 + 1)));
	for (size_t i = 0; i < KEYS; i++)
		CHECK(malloc_usable_size(pthread_getspecific(keys[i])) > i * 50);
	return NULL;
}

static void *malloc_then_set(void *unused)
{
	pthread_key_t own[KEYS];
	void *first = malloc(100);

	(void)unused;
	for (size_t i = 0; i < KEYS; i++) {
		CHECK(!pthread_key_create(&own[i], NULL));
		CHECK(!pthread_setspecific(own[i], first));
	}
	for (size_t i = 0; i < KEYS; i++)
		CHECK(!pthread_key_delete(own[i]));
	free(first);
	return NULL;
}

int main(void)
{
	pthread_t threads[2];

	for (size_t i = 0; i < THREADS; i++) {
		CHECK(!pthread_create(&threads[0], NULL, set_then_malloc, NULL));
		CHECK(!pthread_create(&threads[1], NULL, malloc_then_set, NULL));
		CHECK(!pthread_join(threads[0], NULL));
		CHECK(!pthread_join(threads[1], NULL));
	}
	CHECK(freed == THREADS * KEYS);
	return 0;
}
