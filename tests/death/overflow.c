/* Bytes past a block's usable end are changed, and rightly some before it; the
 * block is then freed or reallocated. from= the first byte past the end, bytes=
 * how many, how= flip (every bit changed) or fill ('A'), via= the call, owner=
 * and by= the threads. */
#include "death.h"

static size_t size;

static void pass_it(void *block)
{
	const char *via = arg("via", "free");

	if (!strcmp(via, "free"))
		free(block);
	else if (!strcmp(via, "realloc_same"))
		must(realloc(block, size));
	else if (!strcmp(via, "realloc_grow"))
		must(realloc(block, size * 3 + 256));
	else if (!strcmp(via, "realloc_shrink"))
		must(realloc(block, size / 3 + 1));
	else if (!strcmp(via, "realloc_zero"))
		realloc_to_nothing(block);
	else if (!strcmp(via, "reallocarray"))
		must(reallocarray(block, 3, size));
	else if (!strcmp(via, "free_sized"))
		((void (*)(void *, size_t))host_function("free_sized"))(block, size);
	else
		((void (*)(void *))host_function(via))(block);
}

int main(int argc, char **argv)
{
	struct herd herd = { 0 };
	volatile unsigned char *end;
	size_t usable, from, bytes;

	death_start(argc, argv);
	size = herd.size = arg_number("size", 48);
	from = arg_number("from", 0);
	bytes = arg_number("bytes", 1);
	run_by(arg("owner", "main"), herd_make, &herd);
	usable = malloc_usable_size(herd.victim);
	say_pointer('P', herd.victim);
	say_number('U', usable);
	end = herd.victim + usable;
	for (size_t i = 1; i <= usable && i <= 65536; i++)
		end[-(ptrdiff_t)i] = 'A';
	for (size_t i = from; i < from + bytes && !innocent(); i++)
		end[i] = arg_is("how", "fill") ? 'A' : (unsigned char)~end[i];
	run_by(arg("by", "main"), pass_it, herd.victim);
	return innocent() ? 0 : EXIT_UNNOTICED;
}
