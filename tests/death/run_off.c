/* A write runs off a block, up or down, byte after byte, until a guard page
 * stops it. */
#include "death.h"

static size_t size, usable;

static void write_on(void *block)
{
	volatile unsigned char *byte = block;
	size_t limit = (size_t)1 << 28;

	say_pointer('P', block);
	say_number('U', usable);
	if (innocent())
		limit = usable;
	if (arg_is("way", "down"))
		for (size_t i = innocent() ? 0 : 1; i < limit; i++)
			innocent() ? (byte[usable - 1 - i] = 'A') : (*(byte - i) = 'A');
	else
		for (size_t i = 0; i < limit; i++)
			byte[i] = 'A';
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
