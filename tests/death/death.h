/* Shared by the death programs: each makes one kind of mistake with the C
 * library's own names and knows nothing of nacre.
 *
 * Arguments are NAME=VALUE. `innocent=1` picks the correct neighbour, a program
 * of the same shape without the mistake, which ends with status 0.
 *
 * On standard output, for run.py:
 *   P=0x...  a pointer that the report may name
 *   U=...    the usable bytes of the block
 *   M=...    how far the pointer lies inside its block
 *   F=0x...  the address of a memory fault
 *   K=..., R=...  the kind word and the line that the library keeps
 *
 * Status 3: the mistake was not noticed; 77: the host lacks what is tested.
 * Nothing here allocates unless it says so. */
#ifndef DEATH_H
#define DEATH_H
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "../compat.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXIT_UNNOTICED 3
#define EXIT_SKIP 77

static int death_argc;
static char **death_argv;
static const char *death_kind;
static const char *death_report;

static inline const char *arg(const char *name, const char *fallback)
{
	size_t length = strlen(name);

	for (int i = 1; i < death_argc; i++)
		if (!strncmp(death_argv[i], name, length) && death_argv[i][length] == '=')
			return death_argv[i] + length + 1;
	return fallback;
}

static inline bool arg_is(const char *name, const char *value)
{
	return !strcmp(arg(name, ""), value);
}

static inline uint64_t arg_number(const char *name, uint64_t fallback)
{
	const char *text = arg(name, NULL);

	return text ? strtoull(text, NULL, 0) : fallback;
}

static inline bool innocent(void)
{
	return arg_number("innocent", 0) != 0;
}

/* One write, so that lines of two threads do not mix. */
static inline void say(const char *text, size_t length)
{
	while (length) {
		ssize_t done = write(STDOUT_FILENO, text, length);

		if (done <= 0)
			_exit(4);
		text += done;
		length -= (size_t)done;
	}
}

static inline void say_text(char name, const char *text)
{
	char line[400];
	int length = snprintf(line, sizeof line, "%c=%s\n", name, text);

	say(line, (size_t)length);
}

static inline void say_pointer(char name, const void *pointer)
{
	char line[40];
	int length = snprintf(line, sizeof line, "%c=0x%llx\n", name,
	                      (unsigned long long)(uintptr_t)pointer);

	say(line, (size_t)length);
}

static inline void say_number(char name, uint64_t number)
{
	char line[40];
	int length = snprintf(line, sizeof line, "%c=%llu\n", name,
	                      (unsigned long long)number);

	say(line, (size_t)length);
}

/* Returns: a library that sends SIGABRT must end the process all the same. */
static inline void death_on_abort(int signal_number)
{
	(void)signal_number;
	if (death_kind)
		say_text('K', death_kind);
	if (death_report)
		say_text('R', death_report);
}

/* Returns: the access is tried again, and the default action ends the process. */
static inline void death_on_fault(int signal_number, siginfo_t *info, void *context)
{
	(void)signal_number;
	(void)context;
	say_pointer('F', info->si_addr);
}

/* Free a block by realloc(block, 0): musl's gives an object instead. */
static inline void realloc_to_nothing(void *block)
{
#ifdef TEST_INSIDE
	_exit(EXIT_SKIP);
#endif
	if (realloc(block, 0))
		_exit(4);
}

/* The arguments of a constructor, which musl does not pass. */
static inline void death_arguments(int *argc, char ***argv)
{
#ifndef __GLIBC__
	static char text[4096], *words[64];
	FILE *file = fopen("/proc/self/cmdline", "r");
	size_t length = fread(text, 1, sizeof text - 1, file);

	fclose(file);
	*argc = 0;
	*argv = words;
	for (char *at = text; at < text + length; at += strlen(at) + 1)
		words[(*argc)++] = at;
#else
	(void)argc;
	(void)argv;
#endif
}

static inline void death_start(int argc, char **argv)
{
	struct sigaction action;

	death_argc = argc;
	death_argv = argv;
	death_kind = (const char *)dlsym(RTLD_DEFAULT, "nacre_report_kind");
	death_report = (const char *)dlsym(RTLD_DEFAULT, "nacre_report");

	memset(&action, 0, sizeof action);
	action.sa_flags = (int)SA_RESETHAND;
	action.sa_handler = death_on_abort;
	sigaction(SIGABRT, &action, NULL);
	action.sa_flags = (int)(SA_RESETHAND | SA_SIGINFO);
	action.sa_sigaction = death_on_fault;
	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
}

/* A function the host may lack: its address, or the end with EXIT_SKIP. */
static inline void *host_function(const char *name)
{
	void *address = dlsym(RTLD_DEFAULT, name);

	if (!address)
		_exit(EXIT_SKIP);
	return address;
}

/* ---- threads ---- */

struct death_job {
	void (*work)(void *);
	void *argument;
};

static inline void *death_run_job(void *argument)
{
	struct death_job *job = (struct death_job *)argument;

	job->work(job->argument);
	return NULL;
}

/* Do the work here when `who` is "main", else in a new thread that has ended
 * (and been joined) on return. Making a thread may allocate. */
static inline void run_by(const char *who, void (*work)(void *), void *argument)
{
	struct death_job job = { work, argument };
	pthread_t thread;

	if (!strcmp(who, "main")) {
		work(argument);
		return;
	}
	if (pthread_create(&thread, NULL, death_run_job, &job) ||
	    pthread_join(thread, NULL))
		_exit(4);
}

/* ---- blocks ---- */

static inline void *must(void *block)
{
	if (!block)
		_exit(4);
	return block;
}

/* A block of `size` bytes by the entry point that alloc= names. */
static inline void *make_block(size_t size)
{
	const char *how = arg("alloc", "malloc");
	void *block = NULL;

	if (!strcmp(how, "malloc"))
		return must(malloc(size));
	if (!strcmp(how, "calloc"))
		return must(calloc(1, size));
	if (!strcmp(how, "realloc"))
		return must(realloc(malloc(size / 3 + 1), size));
	if (!strcmp(how, "realloc_null"))
		return must(realloc(NULL, size));
	if (!strcmp(how, "reallocarray"))
		return must(reallocarray(NULL, 1, size));
	if (!strcmp(how, "memalign"))
		return must(memalign(64, size));
	if (!strcmp(how, "memalign_page"))
		return must(memalign(4096, size));
	if (!strcmp(how, "aligned_alloc"))
		return must(aligned_alloc(256, size));
	if (!strcmp(how, "valloc"))
		return must(valloc(size));
	if (!strcmp(how, "pvalloc"))
		return must(pvalloc(size));
	if (!strcmp(how, "posix_memalign") && !posix_memalign(&block, 32, size))
		return block;
	_exit(4);
}

#define HERD_MAX 64

/* Blocks of one size, in order of address, all alive. The victim has, where it
 * can be, another block of the herd right beside it: it shares its page, so that
 * freeing the victim alone does not empty that page. */
struct herd {
	unsigned char *block[HERD_MAX];
	size_t count;
	size_t size; /* bytes asked for */
	unsigned char *victim;
	unsigned char *spare; /* another one, for the innocent */
};

static inline int herd_compare(const void *left, const void *right)
{
	uintptr_t a = (uintptr_t) * (unsigned char *const *)left;
	uintptr_t b = (uintptr_t) * (unsigned char *const *)right;

	return (a > b) - (a < b);
}

/* Insertion, because qsort may allocate. */
static inline void herd_sort(struct herd *herd)
{
	for (size_t i = 1; i < herd->count; i++)
		for (size_t k = i;
		     k && herd_compare(&herd->block[k - 1], &herd->block[k]) > 0; k--) {
			unsigned char *swap = herd->block[k];

			herd->block[k] = herd->block[k - 1];
			herd->block[k - 1] = swap;
		}
}

static inline void herd_pick(struct herd *herd)
{
	size_t best = 0;

	for (size_t i = 0; i + 1 < herd->count; i++)
		if (herd->block[i + 1] - herd->block[i] <
		    herd->block[best + 1] - herd->block[best])
			best = i;
	herd->victim = herd->block[best];
	herd->spare = herd->block[herd->count > 1 ? best + 1 : best];
}

/* Work for run_by: fill a herd whose size is set; herd= is the count. */
static inline void herd_make(void *argument)
{
	struct herd *herd = (struct herd *)argument;

	herd->count = arg_number("herd", herd->size < 65536 ? HERD_MAX : 3);
	for (size_t i = 0; i < herd->count; i++)
		herd->block[i] = (unsigned char *)make_block(herd->size);
	herd_sort(herd);
	herd_pick(herd);
	if (herd->count == 1 && innocent())
		herd->spare = (unsigned char *)make_block(herd->size);
}

/* The distance of two blocks that lie side by side, in bytes: the block size. */
static inline size_t herd_stride(const struct herd *herd)
{
	size_t stride = (size_t)-1;

	for (size_t i = 0; i + 1 < herd->count; i++) {
		size_t gap = (size_t)(herd->block[i + 1] - herd->block[i]);

		if (gap < stride)
			stride = gap;
	}
	return stride;
}

static inline bool herd_has(const struct herd *herd, const void *block)
{
	for (size_t i = 0; i < herd->count; i++)
		if (herd->block[i] == block)
			return true;
	return false;
}

/* How many blocks of `size` a search for one certain block may take. */
static inline size_t search_limit(size_t size)
{
	size_t limit = ((size_t)1 << 28) / (size + 64);

	return limit > 100000 ? 100000 : limit + 16;
}

/* Work for run_by. */
static inline void free_block(void *block)
{
	free(block);
}

#endif
