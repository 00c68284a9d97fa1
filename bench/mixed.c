/* One thread with blocks of many sizes and lifetimes.
 *
 *     mixed realistic ROUNDS   sizes as programs ask for them; most blocks die
 *                              young, some live long, one in 16 grows by realloc
 *     mixed large ROUNDS       blocks of 5 to 25 MB, a few alive at a time */
#include <string.h>

#include "load.h"

#define YOUNG 512
#define OLD 65536

static void realistic(long rounds)
{
	static void *young[YOUNG], *old[OLD];
	uint64_t random = 1;

	for (; rounds > 0; rounds--) {
		uint32_t draw = load_random(&random);
		void **slot = draw % 8 ? &young[(draw >> 3) % YOUNG] : &old[(draw >> 3) % OLD];
		size_t size = load_size(load_realistic, &random);

		/* Long-lived blocks of the largest sizes would be all that counts. */
		if (draw % 8 == 0 && size > 16384)
			size = 16384;
		free(*slot);
		*slot = load_new(size);
		if (draw >> 28 == 0)
			for (int i = 0; i < 4; i++) {
				size += size / 2;
				*slot = realloc(*slot, size);
				if (!*slot)
					exit(1);
				((char *)*slot)[size - 1] = 1;
			}
	}
}

static void large(long rounds)
{
	void *blocks[8] = { NULL };
	uint64_t random = 1;

	for (; rounds > 0; rounds--) {
		void **slot = &blocks[load_random(&random) % 8];

		free(*slot);
		*slot = load_new(5000000 + load_random(&random) % 20000000);
	}
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "large"))
		large(load_arg(argc, argv, 2, 2000));
	else
		realistic(load_arg(argc, argv, 2, 20000000));
	return 0;
}
