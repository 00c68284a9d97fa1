/* A write that no later call of the program meets: what=freed, one byte of a freed block;
 * what=live, one byte behind a block that is never freed; both are found at exit.
 * what=page, one byte of a block whose whole page was freed: found before the page's memory
 * serves again. byte= which one. */
#include "death.h"

static size_t size;

static void damage(void *block, size_t byte)
{
	volatile unsigned char *at = (unsigned char *)block + byte;

	if (!innocent())
		*at = (unsigned char)~*at;
}

static void one_block(struct herd *herd)
{
	run_by(arg("owner", "main"), herd_make, herd);
	say_pointer('P', herd->victim);
	say_number('U', malloc_usable_size(herd->victim));
	if (arg_is("what", "freed"))
		free(herd->victim);
	damage(herd->victim, arg_number("byte", size));
}

/* Blocks of one class, all freed, and then those of others. */
static void whole_page(void)
{
	size_t count = ((size_t)24 << 20) / (size + 16);
	void **blocks = (void **)must(malloc(count * sizeof *blocks)), *victim;

	for (size_t i = 0; i < count; i++)
		blocks[i] = must(malloc(size));
	/* Of the pages that wait at the end. */
	victim = blocks[count - ((size_t)1 << 20) / (size + 16)];
	say_pointer('P', victim);
	say_number('U', malloc_usable_size(victim));
	for (size_t i = 0; i < count; i++)
		free(blocks[i]);
	damage(victim, arg_number("byte", size));
	for (size_t other = size / 2; other <= size * 3; other += size / 2) {
		for (size_t i = 0; i < count; i++)
			blocks[i] = must(malloc(other));
		for (size_t i = 0; i < count; i++)
			free(blocks[i]);
	}
}

int main(int argc, char **argv)
{
	struct herd herd = { 0 };

	death_start(argc, argv);
	size = herd.size = arg_number("size", 48);
	if (arg_is("what", "page"))
		whole_page();
	else
		one_block(&herd);
	return innocent() ? 0 : EXIT_UNNOTICED;
}
