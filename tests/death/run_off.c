/* A write runs off a block, up or down, byte after byte, until a guard page
 * stops it. */
#include "death.h"

static size_t size, usable;

/* The innocent writes all that is its own, but not far from the end at issue. */
static void write_on(void *block)
{
	volatile unsigned char *start = block, *end = start + usable;
	size_t limit = innocent() ? 0 : (size_t)1 << 28;
	size_t own = usable < 65536 ? usable : 65536;

	say_pointer('P', block);
	say_number('U', usable);
	if (arg_is("way", "down"))
		for (size_t i = 0; i < own + limit; i++)
			*(start + own - 1 - i) = 'A';
	else
		for (size_t i = 0; i < own + limit; i++)
			*(end - own + i) = 'A';
}

int main(int argc, char **argv)
{
	struct herd herd = { 0 };

	death_start(argc, argv);
	size = herd.size = arg_number("size", 48);
	run_by(arg("owner", "main"), herd_make, &herd);
	usable = malloc_usable_size(herd.victim);
	run_by(arg("by", "main"), write_on, herd.victim);
	return innocent() ? 0 : EXIT_UNNOTICED;
}
