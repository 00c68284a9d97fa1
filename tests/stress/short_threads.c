/* Short threads, one after the other and a few at a time, that each leave a
 * block behind: memory and time stay flat.
 *
 *   short_threads [COUNT]        100,000 by default */
#include "../testing.h"

#include <pthread.h>
#include <time.h>

#define AT_ONCE 8

static void *leave_one(void *argument)
{
	size_t n = (size_t)(uintptr_t)argument;
	void *gone[8];

	for (size_t i = 0; i < 8; i++)
		gone[i] = malloc((n + i * 100) % 2000);
	for (size_t i = 0; i < 8; i++)
		free(gone[i]);
	return malloc(48);
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Half of the blocks are freed by main at once, a quarter later. */
static void run(size_t from, size_t to, void **blocks)
{
	for (size_t n = from; n < to; n += AT_ONCE) {
		pthread_t threads[AT_ONCE];

		for (size_t i = 0; i < AT_ONCE; i++)
			CHECK(!pthread_create(&threads[i], NULL, leave_one,
			                      (void *)(uintptr_t)(n + i)));
		for (size_t i = 0; i < AT_ONCE; i++) {
			void *block;

			CHECK(!pthread_join(threads[i], &block));
			blocks[n + i] = block;
			if (i % 2) {
				free(block);
				blocks[n + i] = NULL;
			}
			if (i % 4 == 0 && n >= 1000) {
				free(blocks[n + i - 1000]);
				blocks[n + i - 1000] = NULL;
			}
		}
	}
}

int main(int argc, char **argv)
{
	size_t count = argc > 1 ? strtoull(argv[1], NULL, 0) : 100000;
	size_t tenth = count / 10 / AT_ONCE * AT_ONCE, warm, end;
	void **blocks = calloc(count + AT_ONCE, sizeof *blocks);
	double times[10];

	memset(blocks, 0, (count + AT_ONCE) * sizeof *blocks);
	for (size_t part = 0; part < 10; part++) {
		double start = seconds();

		run(part * tenth, (part + 1) * tenth, blocks);
		times[part] = seconds() - start;
		if (part == 0)
			warm = test_resident_bytes();
	}
	end = test_resident_bytes();
	printf("first tenth %.2f s, last %.2f s; resident %zu KiB, at the end %zu KiB\n",
	       times[0], times[9], warm / 1024, end / 1024);
	/* 48 bytes and their share of a page, for the quarter that stays. */
	CHECK(end <= warm + count * 64 + 4 * MIB);
	CHECK(times[9] <= times[0] * 3 + 0.2);
	return 0;
}
