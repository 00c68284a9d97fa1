/* A block is freed twice.
 * owner= first= second=: main, or any other word for a thread of its own;
 * how=: what lies between the two. */
#include "death.h"

static size_t size;

/* Of sizes that no allocator gives a block of this one's. */
static void other_mallocs(void)
{
	for (size_t i = 0, made = 0; made < 1000; i++) {
		size_t other = i * 7 % 3000 + 1;

		if (other > size * 2 + 64 || other < size / 2) {
			must(malloc(other));
			made++;
		}
	}
}

static void other_frees(const struct herd *herd)
{
	void *others[16];

	for (size_t i = 0; i < 16; i++)
		others[i] = must(malloc(size));
	for (size_t i = 0; i < 16; i++)
		free(others[i]);
	for (size_t i = 0; i < herd->count; i += 2)
		if (herd->block[i] != herd->victim && herd->block[i] != herd->spare)
			free(herd->block[i]);
}

/* Grow the block until it moves; the new place. */
static void *move_block(void *block)
{
	size_t grown = size;
	void *moved = block;

	while (moved == block && grown < size * 64 + 4096) {
		grown = grown * 2 + 64;
		moved = must(realloc(moved, grown));
	}
	if (moved == block)
		_exit(EXIT_SKIP);
	return moved;
}

static void realloc_block(void *block)
{
	if (!realloc(block, size))
		_exit(4);
}

int main(int argc, char **argv)
{
	struct herd herd = { 0 };
	void (*first)(void *) = free_block;
	void (*second)(void *) = free_block;
	void *again;

	death_start(argc, argv);
	size = herd.size = arg_number("size", 48);
	run_by(arg("owner", "main"), herd_make, &herd);
	again = innocent() ? herd.spare : herd.victim;
	say_pointer('P', herd.victim);
	say_number('U', malloc_usable_size(herd.victim));

	if (arg_is("how", "realloc_moved")) {
		void *moved = move_block(herd.victim);

		run_by(arg("second", "main"), free_block,
		       innocent() ? moved : herd.victim);
		return innocent() ? 0 : EXIT_UNNOTICED;
	}
	if (arg_is("how", "realloc_zero"))
		first = realloc_to_nothing;
	if (arg_is("how", "then_realloc"))
		second = realloc_block;
	run_by(arg("first", "main"), first, herd.victim);
	if (arg_is("how", "between_mallocs"))
		other_mallocs();
	if (arg_is("how", "between_frees"))
		other_frees(&herd);
	run_by(arg("second", "main"), second, again);
	return innocent() ? 0 : EXIT_UNNOTICED;
}
