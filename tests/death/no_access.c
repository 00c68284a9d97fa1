/* Memory that must not be touched: what=zero, a block of no bytes (alloc= its entry point);
 * what=freed, a large block that was freed, by first=, and larger ones after it.
 * access=read or write, at offset= from its start. The innocent frees and goes. */
#include "death.h"

static void *zero_block(void)
{
	if (arg_is("alloc", "calloc"))
		return calloc(arg_number("size", 0), 0);
	if (arg_is("alloc", "realloc"))
		return realloc(NULL, 0);
	if (arg_is("alloc", "memalign"))
		return memalign(8, 0);
	return malloc(0);
}

static void touch(void *block)
{
	volatile unsigned char *at = (unsigned char *)block + arg_number("offset", 0);

	if (innocent())
		return;
	if (arg_is("access", "read"))
		(void)*at;
	else
		*at = 'A';
}

static void zero(void)
{
	enum { COUNT = 5000 }; /* more than one run holds */
	void *blocks[COUNT];

	for (size_t i = 0; i < COUNT; i++) {
		blocks[i] = must(zero_block());
		/* Every other one is another's by now. */
		if (i % 2)
			free(blocks[i - 1]), blocks[i - 1] = must(zero_block());
	}
	for (size_t i = 0; i < COUNT; i++)
		if (malloc_usable_size(blocks[i]) > 16)
			_exit(4);
	say_pointer('P', blocks[COUNT / 2]);
	say_number('U', 0);
	run_by(arg("by", "main"), touch, blocks[COUNT / 2]);
	if (!(blocks[1] = realloc(blocks[1], 100)))
		_exit(4);
	memset(blocks[1], 1, 100);
	for (size_t i = 0; i < COUNT; i++)
		free(blocks[i]);
}

static void freed(void)
{
	size_t size = arg_number("size", 3 << 20);
	unsigned char *block = (unsigned char *)must(malloc(size));

	memset(block, 'B', size);
	say_pointer('P', block);
	say_number('U', size);
	run_by(arg("first", "main"), free, block);
	for (int i = 0; i < 10; i++) {
		unsigned char *other = (unsigned char *)must(malloc(size));
		other[0] = other[size - 1] = 'C';
		free(other);
	}
	run_by(arg("by", "main"), touch, block);
}

int main(int argc, char **argv)
{
	death_start(argc, argv);
	if (arg_is("what", "zero"))
		zero();
	else
		freed();
	return innocent() ? 0 : EXIT_UNNOTICED;
}
