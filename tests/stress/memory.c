/* The field's cases of memory: what is given back, what a heap may grow to, and
 * what happens when the system has no more.
 *
 *   memory CASE [SIZE_IN_MIB or COUNT] */
#include "../testing.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static size_t amount;
static char **arguments;

static size_t mapping_count(void)
{
	FILE *file = fopen("/proc/self/maps", "r");
	size_t lines = 0;

	for (int c; file && (c = getc(file)) != EOF;)
		lines += c == '\n';
	if (file)
		fclose(file);
	return lines;
}

/* ---- a spike that is freed goes back to the system, with no further call ---- */

#define SPIKE_THREADS 8

static pthread_barrier_t filled, measured;

static void *spike_thread(void *argument)
{
	size_t bytes = amount * MIB / SPIKE_THREADS, size, count = 0;
	size_t number = (size_t)(uintptr_t)argument;
	void **blocks = malloc(bytes / 64 * sizeof *blocks);

	for (size_t done = 0; done < bytes; done += size) {
		size = number % 2 ? 64 + done / 7 % 1900 : 4096 + done / 7 % 200000;
		blocks[count] = malloc(size);
		CHECK(blocks[count]);
		memset(blocks[count++], 1, size);
	}
	pthread_barrier_wait(&filled);
	pthread_barrier_wait(&measured);
	while (count)
		free(blocks[--count]);
	free(blocks);
	return NULL;
}

static void spike(void)
{
	size_t before = test_resident_bytes(), peak, after;
	pthread_t threads[SPIKE_THREADS];

	pthread_barrier_init(&filled, NULL, SPIKE_THREADS + 1);
	pthread_barrier_init(&measured, NULL, SPIKE_THREADS + 1);
	for (size_t i = 0; i < SPIKE_THREADS; i++)
		CHECK(!pthread_create(&threads[i], NULL, spike_thread,
		                      (void *)(uintptr_t)i));
	pthread_barrier_wait(&filled);
	peak = test_resident_bytes();
	CHECK(peak > before + amount * MIB * 9 / 10);
	pthread_barrier_wait(&measured);
	for (size_t i = 0; i < SPIKE_THREADS; i++)
		CHECK(!pthread_join(threads[i], NULL));
	after = test_resident_bytes();
	printf("peak %zu KiB, after %zu KiB\n", peak / KIB, after / KIB);
	CHECK(after <= before + (peak - before) / 20);
}

/* The freeing thread is not the one that allocated. */
static void *free_array(void *argument)
{
	void **blocks = argument;

	for (size_t i = 0; blocks[i]; i++)
		free(blocks[i]);
	return NULL;
}

static void spike_freed_by_another(void)
{
	size_t count = amount * KIB, before, peak, after;
	void **blocks = calloc(count + 1, sizeof *blocks);
	pthread_t thread;

	before = test_resident_bytes();
	for (size_t i = 0; i < count; i++)
		blocks[i] = memset(malloc(1000), 1, 1000);
	peak = test_resident_bytes();
	CHECK(!pthread_create(&thread, NULL, free_array, blocks));
	CHECK(!pthread_join(thread, NULL));
	after = test_resident_bytes();
	printf("peak %zu KiB, after %zu KiB\n", peak / KIB, after / KIB);
	CHECK(after <= before + (peak - before) / 20 + 8 * MIB);
	free(blocks);
}

/* The owner frees one block in each page itself, another thread the rest; then
 * the owner goes on with a little work of another size. */
static void spike_freed_by_both(void)
{
	enum { STEP = 60 }; /* blocks of a page, about */
	size_t count = amount * KIB, before, peak, after;
	void **blocks = calloc(count + 1, sizeof *blocks), **rest;
	pthread_t thread;

	before = test_resident_bytes();
	for (size_t i = 0; i < count; i++)
		blocks[i] = memset(malloc(1000), 1, 1000);
	peak = test_resident_bytes();
	rest = malloc((count + 1) * sizeof *rest);
	size_t kept = 0;
	for (size_t i = 0; i < count; i++)
		if (i % STEP)
			rest[kept++] = blocks[i];
		else
			free(blocks[i]);
	rest[kept] = NULL;
	CHECK(!pthread_create(&thread, NULL, free_array, rest));
	CHECK(!pthread_join(thread, NULL));
	memset(blocks, 0, count * sizeof *blocks);
	for (size_t i = 0; i < 10 * count; i++) {
		free(blocks[i % 1000]);
		blocks[i % 1000] = malloc(48);
	}
	after = test_resident_bytes();
	printf("peak %zu KiB, after %zu KiB\n", peak / KIB, after / KIB);
	CHECK(after <= before + (peak - before) / 20 + 8 * MIB);
	free(rest);
}

/* ---- many ---- */

/* Millions of small live objects need few mappings. */
static void small_objects(void)
{
	size_t count = amount * 1000;
	void **blocks = malloc(count * sizeof *blocks);

	for (size_t i = 0; i < count; i++) {
		blocks[i] = malloc(16 + i % 5 * 16);
		CHECK(blocks[i]);
	}
	printf("%zu mappings\n", mapping_count());
	CHECK(mapping_count() < 20000);
	for (size_t i = 0; i < count; i++)
		free(blocks[i]);
	free(blocks);
}

/* Untouched blocks of 64 KiB: address space alone, and few mappings. */
static void untouched(void)
{
	size_t count = amount * 16, before = test_resident_bytes(), grown;
	void **blocks = malloc(count * sizeof *blocks);

	for (size_t i = 0; i < count; i++) {
		blocks[i] = malloc(64 * KIB);
		CHECK(blocks[i]);
	}
	grown = test_resident_bytes() - before;
	printf("%zu mappings, %zu KiB resident\n", mapping_count(), grown / KIB);
	CHECK(mapping_count() < 20000);
	CHECK(grown <= amount * MIB / 8);
	for (size_t i = 0; i < count; i++)
		free(blocks[i]);
	free(blocks);
}

/* ---- no more ---- */

/* Fill until NULL, free half, go on: twice. Sizes of all kinds. */
static void fill_and_go_on(void)
{
	enum { MOST = 200000 };
	static void *blocks[MOST];
	size_t count = 0;

	for (int round = 0; round < 2; round++) {
		void *block;

		errno = 0;
		while (count < MOST) {
			size_t size = count % 3 == 0   ? 100 + count % 900
			              : count % 3 == 1 ? 5000 + count % 9000
			                               : 70000 + count % 200000;

			block = count % 5 ? malloc(size) : calloc(1, size);
			if (!block)
				break;
			memset(block, 1, size);
			blocks[count++] = block;
		}
		CHECK(count < MOST);
		CHECK(errno == ENOMEM);
		block = blocks[count - 1];
		errno = 0;
		CHECK(!realloc(block, 1 << 30) && errno == ENOMEM);
		for (size_t i = 0; i < count; i += 2) {
			free(blocks[i]);
			blocks[i] = NULL;
		}
		for (size_t i = 0; i < count / 8; i++) {
			void *again = malloc(100 + i % 900);

			CHECK(again);
			free(again);
		}
		size_t kept = 0;
		for (size_t i = 0; i < count; i++)
			if (blocks[i])
				blocks[kept++] = blocks[i];
		count = kept;
	}
	while (count)
		free(blocks[--count]);
	CHECK(malloc(100));
}

/* A process that starts under 64 MiB of address space. */
static void address_space(void)
{
	struct rlimit limit = { amount * MIB, amount * MIB };

	if (!getenv("MEMORY_LIMITED")) {
		setenv("MEMORY_LIMITED", "1", 1);
		CHECK(!setrlimit(RLIMIT_AS, &limit));
		execv("/proc/self/exe", arguments);
		CHECK(!"exec");
	}
	fill_and_go_on();
}

static void *small_thread(void *unused)
{
	void *blocks[50];

	(void)unused;
	for (size_t i = 0; i < 50; i++) {
		blocks[i] = malloc(i * i * 40);
		CHECK(blocks[i] || errno == ENOMEM);
	}
	for (size_t i = 0; i < 50; i++)
		free(blocks[i]);
	return NULL;
}

static void some_work(void)
{
	void *blocks[200];
	pthread_attr_t small;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 64 * KIB);
	for (int i = 0; i < 4; i++) {
		pthread_t thread;

		if (!pthread_create(&thread, &small, small_thread, NULL))
			CHECK(!pthread_join(thread, NULL));
	}
	for (size_t i = 0; i < 200; i++) {
		errno = 0;
		blocks[i] = i % 4 == 3 ? memalign(4096, i * 300) : malloc(i * i * 30);
		CHECK(blocks[i] || errno == ENOMEM);
		if (blocks[i])
			memset(blocks[i], 1, i);
	}
	for (size_t i = 0; i < 200; i++) {
		void *grown = blocks[i] ? realloc(blocks[i], i * 2000 + 1) : NULL;

		free(grown ? grown : blocks[i]);
	}
	free(malloc(10));
}

/* Each child gets a little more address space: the failures wander through every
 * place that maps memory. */
static void steps(void)
{
	for (size_t i = 0; i < amount; i++) {
		int status = -1;
		pid_t pid = fork();

		if (!pid) {
			struct rlimit limit;
			unsigned long pages = 0;
			FILE *file = fopen("/proc/self/statm", "r");

			CHECK(file && fscanf(file, "%lu", &pages) == 1);
			fclose(file);
			limit.rlim_cur = limit.rlim_max =
				pages * (size_t)sysconf(_SC_PAGESIZE) + i * 68 * KIB;
			CHECK(!setrlimit(RLIMIT_AS, &limit));
			some_work();
			_exit(0);
		}
		CHECK(waitpid(pid, &status, 0) == pid);
		if (status)
			printf("step %zu: status %#x\n", i, (unsigned)status);
		fflush(stdout);
		CHECK(status == 0);
	}
}

static void install(struct sock_filter *filter, size_t count)
{
	struct sock_fprog program = { (unsigned short)count, filter };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		_exit(77);
}

/* From now on the system refuses the call with the error. */
static void refuse(long number, int error)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};

	install(filter, sizeof filter / sizeof *filter);
}

/* No maps: what is there serves, then NULL. */
static void no_maps(void)
{
	free(malloc(1));
	refuse(SYS_mmap, ENOMEM);
	refuse(SYS_mremap, ENOMEM);
	fill_and_go_on();
}

/* No guards, no purges, no unmapping: a worse heap, but a right one. */
static void refused(void)
{
	free(malloc(1));
	refuse(SYS_madvise, EINVAL);
	refuse(SYS_mprotect, ENOMEM);
	refuse(SYS_munmap, ENOMEM);
	refuse(SYS_mremap, ENOMEM);
	for (size_t i = 0; i < 30000; i++) {
		size_t size = i % 100 ? i * 37 % 5000 : 100000 + i * 50;
		unsigned char *block = calloc(1, size);

		CHECK(block && test_zero(block, size));
		memset(block, 1, size);
		if (i % 3 == 0)
			block = realloc(block, size * 2);
		free(block);
	}
}

static void locked(void)
{
	if (mlockall(MCL_CURRENT | MCL_FUTURE))
		_exit(77);
	for (size_t i = 0; i < 30000; i++) {
		size_t size = i % 100 ? i * 37 % 5000 : 100000 + i * 20;
		unsigned char *block = calloc(1, size);

		CHECK(block && test_zero(block, size));
		memset(block, 1, size);
		free(block);
	}
}

/* Freed blocks that stay locked keep nothing else. */
static void locked_block(void)
{
	enum { COUNT = 1000, BYTES = 60000 };
	static char *blocks[COUNT];
	size_t before = test_resident_bytes(), after;

	for (size_t i = 0; i < COUNT; i++)
		blocks[i] = memset(malloc(BYTES), 1, BYTES);
	for (size_t i = 0; i < COUNT; i += COUNT / 20)
		if (mlock(blocks[i], BYTES))
			_exit(77);
	for (size_t i = 0; i < COUNT; i++)
		free(blocks[i]);
	after = test_resident_bytes();
	printf("before %zu KiB, after %zu KiB\n", before / KIB, after / KIB);
	CHECK(after <= before + 8 * MIB);
	for (size_t i = 0; i < COUNT; i++)
		CHECK(test_zero(calloc(1, BYTES), BYTES));
}

/* Memory goes from small blocks to large ones that do not use all of it, and back: what
 * was never cleared must not pass for zero. */
static void changing_hands(void)
{
	enum { COUNT = 300 };
	static const size_t sizes[] = { 30000, 70000, 5000, 300000, 100, 140000 };
	static char *blocks[COUNT];

	for (size_t round = 0; round < 60; round++) {
		size_t bytes = sizes[round % 6] + round % 7 * 64;

		for (size_t i = 0; i < COUNT; i++) {
			blocks[i] = round % 2                ? calloc(1, bytes)
			            : bytes > 65536 && i % 2 ? memalign(MIB, bytes)
			                                     : malloc(bytes);
			CHECK(blocks[i]);
			CHECK(!(round % 2) || test_zero(blocks[i], bytes));
			memset(blocks[i], 0xff, bytes);
		}
		for (size_t i = 0; i < COUNT; i++)
			free(blocks[i]);
		if (round % 4 == 3)
			malloc_trim(0);
	}
}

/* Memory that was locked when it was freed, and had guards, reads as zero from
 * calloc. */
static void locked_zero(void)
{
	enum { LARGE = 100, SMALL = 2000, BYTES = 300000 };
	static void *large[LARGE], *small[SMALL];

	if (mlockall(MCL_CURRENT | MCL_FUTURE))
		_exit(77);
	for (int round = 0; round < 3; round++) {
		for (size_t i = 0; i < LARGE; i++)
			large[i] = memset(malloc(BYTES), 0xff, BYTES);
		for (size_t i = 0; i < LARGE; i++)
			free(large[i]);
		for (size_t i = 0; i < SMALL; i++)
			small[i] = malloc(20000);
		for (size_t i = 0; i < SMALL; i++)
			free(small[i]);
		for (size_t i = 0; i < LARGE; i++) {
			large[i] = calloc(1, BYTES);
			CHECK(test_zero(large[i], BYTES));
		}
		for (size_t i = 0; i < LARGE; i++)
			free(large[i]);
	}
}

/* ---- after the system refused ---- */

/* Memory that is freed at the limit serves blocks of any other size. */
static void limit_again(void)
{
	static void *blocks[1 << 20];
	static const size_t sizes[] = { 1000, 5000, 30000, 100000, 48, 3 << 20, 1000 };
	struct rlimit limit = { amount * MIB, amount * MIB };

	CHECK(!setrlimit(RLIMIT_AS, &limit));
	for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
		size_t count = 0, got;

		while (count < sizeof blocks / sizeof *blocks &&
		       (blocks[count] = malloc(sizes[k])))
			count++;
		got = count * sizes[k] / MIB;
		printf("%zu of %zu: %zu MiB\n", count, sizes[k], got);
		CHECK(got >= amount / 2 || count == sizeof blocks / sizeof *blocks);
		while (count)
			free(blocks[--count]);
	}
}

/* Later advice of the system's is refused, as a sandbox does after start. */
static void refuse_advice(int error)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_madvise, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		         offsetof(struct seccomp_data, args[2])),
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 100, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};

	install(filter, sizeof filter / sizeof *filter);
}

/* Guards that were made before the filter came do not stay in later blocks. */
static void filter_later(void)
{
	enum { COUNT = 7000 };
	static void *blocks[COUNT];

	for (size_t i = 0; i < COUNT; i++)
		blocks[i] = memset(malloc(8000), 1, 8000);
	refuse_advice(EPERM);
	for (size_t i = 0; i < COUNT; i++)
		free(blocks[i]);
	for (size_t i = 0; i < 200; i++) {
		size_t size = 100000 + i * 3000;
		void *block = memset(malloc(size), 2, size);

		if (i % 2)
			free(block);
	}
}

/* On a kernel whose guards cost mappings their count keeps its bound. */
static void few_guards(void)
{
	if (!getenv("MEMORY_FILTERED")) {
		setenv("MEMORY_FILTERED", "1", 1);
		refuse_advice(EINVAL);
		execv("/proc/self/exe", arguments);
		CHECK(!"exec");
	}
	for (size_t i = 0; i < 9000 * 7; i++)
		CHECK(malloc(8000));
	for (size_t round = 0; round < amount; round++) {
		void *block = malloc(40 * MIB);

		CHECK(block);
		free(block);
		for (int i = 0; i < 14; i++)
			CHECK(malloc(8000));
	}
	printf("%zu mappings\n", mapping_count());
	CHECK(mapping_count() < 20000);
}

/* ---- threads whose first block is taken at their end ---- */

static pthread_key_t end_key;

static void *volatile sink;

static void allocate_at_end(void *unused)
{
	(void)unused;
	sink = malloc(3000);
	free(sink);
}

static void *only_ends(void *unused)
{
	CHECK(!pthread_setspecific(end_key, &end_key));
	return unused;
}

/* Ends that no destructor tells of: all keys are taken, and stacks lie anywhere. */
static void untold_ends(void)
{
	size_t before = 0, after;
	pthread_key_t key;

	while (!pthread_key_create(&key, NULL))
		;
	for (size_t i = 0; i < amount; i++) {
		pthread_t threads[4];

		if (i == amount / 10)
			before = test_resident_bytes();
		for (size_t k = 0; k < 4; k++) {
			pthread_attr_t attributes;

			pthread_attr_init(&attributes);
			pthread_attr_setstacksize(&attributes,
			                          64 * KIB + i * 37 % 200 * 4 * KIB);
			CHECK(!pthread_create(&threads[k], &attributes, small_thread,
			                      NULL));
		}
		for (size_t k = 0; k < 4; k++)
			CHECK(!pthread_join(threads[k], NULL));
	}
	after = test_resident_bytes();
	printf("before %zu KiB, after %zu KiB\n", before / KIB, after / KIB);
	/* What comes and goes may be kept; a hundredth of what was used may not. */
	CHECK(after <= before + 32 * MIB);
}

static void thread_ends(void)
{
	size_t before = 0, after;
	pthread_t first;

	/* The key comes after any that the allocator makes for a thread. */
	CHECK(!pthread_create(&first, NULL, small_thread, NULL));
	CHECK(!pthread_join(first, NULL));
	CHECK(!pthread_key_create(&end_key, allocate_at_end));
	for (size_t i = 0; i < amount; i++) {
		pthread_t threads[4];

		if (i == amount / 10)
			before = test_resident_bytes();
		for (size_t k = 0; k < 4; k++)
			CHECK(!pthread_create(&threads[k], NULL, only_ends, NULL));
		for (size_t k = 0; k < 4; k++)
			CHECK(!pthread_join(threads[k], NULL));
	}
	after = test_resident_bytes();
	printf("before %zu KiB, after %zu KiB\n", before / KIB, after / KIB);
	CHECK(after <= before + MIB);
}

/* ---- a forked snapshot shares its memory ---- */

static size_t proportional_bytes(pid_t pid)
{
	char name[64], line[200];
	size_t kib = 0;
	FILE *file;

	snprintf(name, sizeof name, "/proc/%d/smaps_rollup", (int)pid);
	file = fopen(name, "r");
	if (!file)
		_exit(77);
	while (fgets(line, sizeof line, file))
		if (sscanf(line, "Pss: %zu", &kib) == 1)
			break;
	fclose(file);
	return kib * KIB;
}

static void snapshot(void)
{
	size_t count = amount * 2, before, after;
	void **blocks = malloc(count * sizeof *blocks);
	int ends[2];
	char byte;
	pid_t pid;

	for (size_t i = 0; i < count; i++)
		blocks[i] = memset(malloc(MIB / 2), 1, MIB / 2);
	before = proportional_bytes(getpid());
	CHECK(!pipe(ends));
	pid = fork();
	if (!pid) {
		close(ends[1]);
		while (read(ends[0], &byte, 1) > 0)
			;
		_exit(0);
	}
	for (size_t i = 0; i < count; i += 2)
		free(blocks[i]);
	after = proportional_bytes(getpid()) + proportional_bytes(pid);
	printf("alone %zu KiB, both %zu KiB\n", before / KIB, after / KIB);
	close(ends[1]);
	close(ends[0]);
	CHECK(waitpid(pid, NULL, 0) == pid);
	CHECK(after <= before + before / 10);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
		size_t amount;
	} cases[] = {
		{ "spike", spike, 256 },
		{ "spike_freed_by_another", spike_freed_by_another, 256 },
		{ "spike_freed_by_both", spike_freed_by_both, 256 },
		{ "small_objects", small_objects, 5000 },
		{ "untouched", untouched, 2048 },
		{ "address_space", address_space, 64 },
		{ "steps", steps, 200 },
		{ "no_maps", no_maps, 0 },
		{ "refused", refused, 0 },
		{ "locked", locked, 0 },
		{ "locked_block", locked_block, 0 },
		{ "locked_zero", locked_zero, 0 },
		{ "thread_ends", thread_ends, 500 },
		{ "untold_ends", untold_ends, 500 },
		{ "limit_again", limit_again, 256 },
		{ "filter_later", filter_later, 0 },
		{ "changing_hands", changing_hands, 0 },
		{ "few_guards", few_guards, 3000 },
		{ "snapshot", snapshot, 256 },
	};

	arguments = argv;
	for (size_t i = 0; argc > 1 && i < sizeof cases / sizeof *cases; i++)
		if (!strcmp(argv[1], cases[i].name)) {
			amount = argc > 2 ? strtoull(argv[2], NULL, 0) : cases[i].amount;
			cases[i].run();
			return 0;
		}
	return 2;
}
