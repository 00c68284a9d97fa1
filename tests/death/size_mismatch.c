/* free_sized and free_aligned_sized with a size or an alignment that is not the
 * block's. given= the wrong size, align= the alignment asked for, given_align=
 * the alignment passed (0 for free_sized). */
#include "death.h"

static size_t given, given_align;

static void free_it(void *block)
{
	if (given_align)
		((void (*)(void *, size_t, size_t))
		         host_function("free_aligned_sized"))(block, given_align, given);
	else
		((void (*)(void *, size_t))host_function("free_sized"))(block, given);
}

/* A block that does not happen to have the wrong alignment too. */
static void *make_it(size_t align, size_t size)
{
	void *block = NULL;

	for (size_t i = 0; i < 64; i++) {
		block = must(align ? aligned_alloc(align, size) : malloc(size));
		if (given_align <= align || (uintptr_t)block % given_align)
			return block;
	}
	_exit(4);
}

int main(int argc, char **argv)
{
	size_t size, align;
	void *block;

	death_start(argc, argv);
	size = arg_number("size", 48);
	align = arg_number("align", 0);
	given = innocent() ? size : arg_number("given", size);
	given_align = innocent() ? align : arg_number("given_align", align);
	block = make_it(align, size);
	say_pointer('P', block);
	say_number('U', malloc_usable_size(block));
	run_by(arg("by", "main"), free_it, block);
	return innocent() ? 0 : EXIT_UNNOTICED;
}
