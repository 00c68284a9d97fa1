/* Two threads free one block at the same moment: one of them is ended at its
 * call, or the process at the latest when the block would be handed out again.
 * first= and second=: main (the owner) or other. */
#include "death.h"

static int ready, go;

static void meet(void)
{
	__atomic_add_fetch(&ready, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&ready, __ATOMIC_SEQ_CST) < 2)
		;
	while (!__atomic_load_n(&go, __ATOMIC_SEQ_CST))
		if (__atomic_load_n(&ready, __ATOMIC_SEQ_CST) == 2)
			__atomic_store_n(&go, 1, __ATOMIC_SEQ_CST);
}

static void *meet_and_free(void *block)
{
	meet();
	free(block);
	return NULL;
}

int main(int argc, char **argv)
{
	struct herd herd = { 0 };
	pthread_t threads[2];
	size_t size, count, limit;
	void *second;

	death_start(argc, argv);
	size = herd.size = arg_number("size", 48);
	herd_make(&herd);
	second = innocent() ? herd.spare : herd.victim;
	say_pointer('P', herd.victim);
	say_number('U', malloc_usable_size(herd.victim));

	count = arg_is("first", "main") ? 1 : 2;
	for (size_t i = 0; i < count; i++)
		if (pthread_create(&threads[i], NULL, meet_and_free,
		                   i ? second : herd.victim))
			_exit(4);
	if (count == 1)
		meet_and_free(second);
	for (size_t i = 0; i < count; i++)
		pthread_join(threads[i], NULL);

	limit = search_limit(size);
	for (size_t i = 0; i < limit; i++)
		if (must(malloc(size)) == herd.victim)
			break;
	return innocent() ? 0 : EXIT_UNNOTICED;
}
