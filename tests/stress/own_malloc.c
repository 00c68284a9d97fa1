/* A program that brings its own malloc inside a libc that has nacre: the C library's
 * public functions use the program's; what libc hands out itself stays libc's. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static _Alignas(16) char memory[1 << 20];
static size_t used, calls;

void *malloc(size_t bytes)
{
	size_t at = used + 16;

	calls++;
	if (bytes > sizeof memory - at)
		return NULL;
	memcpy(memory + used, &bytes, sizeof bytes);
	used = (at + bytes + 15) & ~(size_t)15;
	return memory + at;
}

void free(void *block)
{
	if (block && ((char *)block < memory || (char *)block >= memory + sizeof memory))
		abort();
	calls++;
}

void *calloc(size_t count, size_t bytes)
{
	return malloc(count * bytes);
}

void *realloc(void *block, size_t bytes)
{
	size_t old = 0;
	void *fresh = malloc(bytes);

	if (block)
		memcpy(&old, (char *)block - 16, sizeof old);
	if (fresh && block)
		memcpy(fresh, block, old < bytes ? old : bytes);
	return fresh;
}

#define CHECK(c) ((c) ? (void)0 : (void)(dprintf(1, "line %d: %s\n", __LINE__, #c), _exit(1)))

int main(int argc, char **argv)
{
	char *line = NULL, *text = NULL;
	size_t room = 0, before = calls;
	FILE *file;

	(void)argv;
	text = strdup("of the program's own");
	CHECK(text > memory && text < memory + sizeof memory);
	CHECK(asprintf(&line, "%s %d", text, argc) > 0);
	CHECK(line > memory && line < memory + sizeof memory);
	free(line);
	line = NULL;
	file = fopen("/proc/self/status", "r");
	CHECK(file && getline(&line, &room, file) > 0);
	CHECK(line > memory && line < memory + sizeof memory);
	fclose(file);
	free(line);
	free(text);
	CHECK(calls > before + 5);
#ifndef OWN_MALLOC_STATIC
	/* Its free could not take what libc's aligned_alloc gives. */
	errno = 0;
	CHECK(!aligned_alloc(64, 100) && errno == ENOMEM);
	CHECK(posix_memalign((void **)&text, 64, 100) == ENOMEM);
#endif
	return 0;
}
