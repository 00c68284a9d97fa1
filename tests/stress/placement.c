/* Where blocks lie, for placement.py: `first` prints the address of the first block of each
 * size; `pairs` prints, for each, how many in 10,000 blocks lie beside the one that was
 * handed out before. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const size_t sizes[] = { 16, 48, 100, 500, 4000, 100000 };

#define COUNT 10000

static void pairs(size_t size)
{
	static uintptr_t at[COUNT];
	uintptr_t least = UINTPTR_MAX;
	unsigned long beside = 0;

	for (int i = 0; i < COUNT; i++)
		at[i] = (uintptr_t)malloc(size);
	for (int i = 1; i < COUNT; i++) {
		uintptr_t far = at[i] > at[i - 1] ? at[i] - at[i - 1] : at[i - 1] - at[i];
		least = far < least ? far : least;
	}
	for (int i = 1; i < COUNT; i++)
		beside += at[i] - at[i - 1] == least || at[i - 1] - at[i] == least;
	printf("%zu %lu\n", size, beside);
}

int main(int argc, char **argv)
{
	int first = argc > 1 && !strcmp(argv[1], "first");
	char line[200];
	int length = 0;

	for (size_t i = 0; first && i < sizeof sizes / sizeof *sizes; i++)
		length += snprintf(line + length, sizeof line - (size_t)length, "%p ",
		                   malloc(sizes[i]));
	if (first)
		puts(line);
	for (size_t i = 0; !first && i + 1 < sizeof sizes / sizeof *sizes; i++)
		pairs(sizes[i]);
	return 0;
}
