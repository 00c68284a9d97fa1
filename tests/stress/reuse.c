/* After how many other frees of its class a freed block is handed out again, over many
 * blocks: more than the number given each time, and not much later than a quarantine of
 * that many places, and as many again at random, holds it. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define TRIALS 2000
#define SIZE 48

/* 0: not within `most`. */
static unsigned long frees_until_reuse(unsigned long most)
{
	char *volatile block = malloc(SIZE);
	uintptr_t address = (uintptr_t)block;

	free(block);
	for (unsigned long n = 1; n <= most; n++) {
		block = malloc(SIZE);
		uintptr_t now = (uintptr_t)block;
		free(block);
		if (now == address)
			return n;
	}
	return 0;
}

int main(int argc, char **argv)
{
	unsigned long least = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	unsigned long first = 0, sum = 0, lost = 0;

	for (int i = 0; i < TRIALS; i++) {
		unsigned long n = frees_until_reuse(200000);
		if (!n)
			lost++;
		else if (!first || n < first)
			first = n;
		sum += n;
	}
	printf("first after %lu frees, mean %lu, %lu not seen again\n", first,
	       sum / TRIALS, lost);
	return lost || first <= least;
}
