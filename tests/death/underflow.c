/* Bytes before a block's start are changed: they are the end of the block that
 * lies before it, which is then freed or reallocated. bytes= how many, via= the
 * call, owner= and by= the threads. */
#include "death.h"

static size_t size;

static void pass_it(void *block)
{
	if (arg_is("via", "realloc"))
		must(realloc(block, size));
	else
		free(block);
}

int main(int argc, char **argv)
{
	struct herd herd = { 0 };
	volatile unsigned char *start;

	death_start(argc, argv);
	size = herd.size = arg_number("size", 48);
	run_by(arg("owner", "main"), herd_make, &herd);
	start = herd.spare; /* the herd's closest pair: victim, spare */
	say_pointer('P', herd.victim);
	say_number('U', malloc_usable_size(herd.victim));
	for (size_t i = 1; i <= arg_number("bytes", 1) && !innocent(); i++)
		*(start - i) = (unsigned char)~*(start - i);
	run_by(arg("by", "main"), pass_it, herd.victim);
	return innocent() ? 0 : EXIT_UNNOTICED;
}
