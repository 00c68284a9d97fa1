/* What small blocks cost beyond what was asked for. Blocks of random size are made until
 * MEGABYTES have been asked for, every byte of them is written, and the growth of the
 * resident memory is set against the bytes asked for. Then every byte is checked and all
 * blocks are freed.
 *
 *     small_overhead [MEGABYTES MAX]
 *                    300 0
 *
 * MEGABYTES (10^6 bytes) asked for in all, for each largest size; MAX size of a block in
 * bytes, at most 256, sizes being uniform in 1..MAX; 0 for all of 8, 16, 32, 64, 128
 * and 256, each in a fresh process, so that none finds memory that another has used.
 * The default needs about 3 GB.
 * Operations: blocks, each one malloc and one free.
 *
 * A line of JSON for each MAX comes before the result: "seconds" of wall time for all of
 * it, "asked" and "resident" in bytes, and "overhead_percent", the resident bytes over
 * those asked for. Resident is the growth of the second field of /proc/self/statm from
 * before the first block to after the last byte was written. The tables of pointers and
 * sizes are mapped and touched before and so are no part of it, and the first block (and
 * with it what an allocator prepares once) is made before too.
 *
 * Our own: published figures of overhead are often of one size, or count the pointers. */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

#define LARGEST_MAX 256

static const size_t all_max_sizes[] = { 8, 16, 32, 64, 128, 256 };

/* What the child found; in memory that it shares with its parent. */
struct finding {
	double seconds;
	uint64_t blocks;
	uint64_t asked, resident; /* bytes */
};

/* Zeroed memory that is no allocator's; the pages are there from the start. */
static void *map(size_t size, int sharing)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
	                    sharing | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	return bench_need(memory == MAP_FAILED ? NULL : memory);
}

static uint64_t resident_bytes(void)
{
	char text[128], *next = text;
	int file = open("/proc/self/statm", O_RDONLY);
	ssize_t length = file < 0 ? -1 : read(file, text, sizeof text - 1);

	if (length <= 0) {
		fprintf(stderr, "cannot read /proc/self/statm\n");
		exit(1);
	}
	close(file);
	text[length] = 0;
	strtoull(next, &next, 10); /* the first field is the size of the address space */
	return strtoull(next, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* The byte that fills block i; neighbours differ. */
static int filling(size_t i)
{
	return (int)((i * 167 + 1) & 0xff);
}

static void check_block(const unsigned char *block, size_t size, size_t i)
{
	unsigned char expected[LARGEST_MAX];

	memset(expected, filling(i), size);
	bench_check(!memcmp(block, expected, size));
}

static void measure(size_t to_ask, size_t max_size, struct finding *finding)
{
	/* The mean is (max_size + 1) / 2; a hundredth and 1000 more are many deviations. */
	size_t room = to_ask / (max_size + 1) * 2;
	uint64_t random = bench_seed(max_size);

	room += room / 100 + 1000;

	unsigned char **blocks = map(room * sizeof *blocks, MAP_PRIVATE);
	unsigned char *sizes = map(room, MAP_PRIVATE); /* of each block, less 1 */
	unsigned char *first = bench_need(malloc(1));
	size_t count = 0;

	bench_stamp(first, 1);
	memset(blocks, 0xff, room * sizeof *blocks);
	memset(sizes, 0xff, room);

	uint64_t before = resident_bytes();
	double start = bench_seconds();

	for (; finding->asked < to_ask && count < room; count++) {
		size_t size = bench_between(&random, 1, max_size);

		blocks[count] = bench_need(malloc(size));
		sizes[count] = (unsigned char)(size - 1);
		memset(blocks[count], filling(count), size);
		finding->asked += size;
	}
	finding->resident = resident_bytes() - before;
	finding->blocks = count;
	for (size_t i = 0; i < count; i++) {
		check_block(blocks[i], (size_t)sizes[i] + 1, i);
		free(blocks[i]);
	}
	finding->seconds = bench_seconds() - start;
	bench_stamped(first, 1);
	free(first);
	munmap(blocks, room * sizeof *blocks);
	munmap(sizes, room);
}

/* The number of blocks. */
static uint64_t measure_in_child(size_t to_ask, size_t max_size)
{
	struct finding *finding = map(sizeof *finding, MAP_SHARED);
	uint64_t blocks;
	int status;

	fflush(stdout);

	pid_t child = fork();

	if (child == 0) {
		measure(to_ask, max_size, finding);
		_exit(0);
	}
	if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
		fprintf(stderr, "the child for sizes to %zu failed\n", max_size);
		exit(1);
	}
	printf("{\"benchmark\": \"small_overhead\", \"max_size\": %zu, \"seconds\": %.6f, "
	       "\"asked\": %llu, \"resident\": %llu, \"overhead_percent\": %.2f}\n",
	       max_size, finding->seconds, (unsigned long long)finding->asked,
	       (unsigned long long)finding->resident,
	       100.0 * ((double)finding->resident - (double)finding->asked) /
	               (double)finding->asked);
	blocks = finding->blocks;
	munmap(finding, sizeof *finding);
	return blocks;
}

int main(int argc, char **argv)
{
	long to_ask = bench_arg(argc, argv, 1, 300);
	long max_size = bench_arg(argc, argv, 2, 0);
	uint64_t blocks = 0;

	if (to_ask < 1 || max_size < 0 || max_size > LARGEST_MAX)
		return 2;
	to_ask *= 1000000;

	double start = bench_seconds();

	if (max_size > 0)
		blocks = measure_in_child((size_t)to_ask, (size_t)max_size);
	else
		for (size_t i = 0; i < sizeof all_max_sizes / sizeof *all_max_sizes; i++)
			blocks += measure_in_child((size_t)to_ask, all_max_sizes[i]);
	bench_result("small_overhead", blocks, bench_seconds() - start);
	return 0;
}
