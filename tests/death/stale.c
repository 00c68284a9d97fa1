/* realloc or malloc_usable_size of a block that was freed.
 * owner= first= second= as in double_free, call= the second call. */
#include "death.h"

static size_t size;

static void use_it(void *block)
{
	const char *call = arg("call", "realloc");

	if (!strcmp(call, "realloc_same"))
		must(realloc(block, size));
	else if (!strcmp(call, "realloc"))
		must(realloc(block, size * 2 + 100));
	else if (!strcmp(call, "reallocarray"))
		must(reallocarray(block, 2, size));
	else if (malloc_usable_size(block) < size)
		_exit(4);
}

int main(int argc, char **argv)
{
	struct herd herd = { 0 };

	death_start(argc, argv);
	size = herd.size = arg_number("size", 48);
	run_by(arg("owner", "main"), herd_make, &herd);
	say_pointer('P', herd.victim);
	say_number('U', malloc_usable_size(herd.victim));
	run_by(arg("first", "main"), free_block, herd.victim);
	run_by(arg("second", "main"), use_it, innocent() ? herd.spare : herd.victim);
	return innocent() ? 0 : EXIT_UNNOTICED;
}
