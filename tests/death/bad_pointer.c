/* A call gets a pointer that is not the start of a live block.
 * what= the pointer, offset= and value= its details, call= the function,
 * by= the thread that calls, owner= the one that allocated. */
#include "death.h"

#include <sys/mman.h>

static size_t size;
static unsigned char in_data[4096] __attribute__((aligned(4096))) = { 1 };
static unsigned char in_bss[4096] __attribute__((aligned(4096)));
static const unsigned char in_rodata[64] __attribute__((aligned(64))) = { 1 };
static __thread unsigned char in_tls[64] __attribute__((aligned(64)));

static void call_it(void *pointer)
{
	const char *call = arg("call", "free");

	if (!strcmp(call, "free"))
		free(pointer);
	else if (!strcmp(call, "realloc"))
		must(realloc(pointer, size + 1));
	else if (!strcmp(call, "realloc_big"))
		must(realloc(pointer, size * 4 + 4096));
	else if (!strcmp(call, "realloc_zero"))
		realloc_to_nothing(pointer);
	else if (!strcmp(call, "reallocarray"))
		must(reallocarray(pointer, 3, size));
	else if (!strcmp(call, "malloc_usable_size")) {
		if (malloc_usable_size(pointer) < size)
			_exit(4);
	} else if (!strcmp(call, "free_sized"))
		((void (*)(void *, size_t))host_function("free_sized"))(pointer, size);
	else if (!strcmp(call, "free_aligned_sized"))
		((void (*)(void *, size_t,
		           size_t))host_function("free_aligned_sized"))(pointer, 16,
		                                                        size);
	else /* cfree, __libc_free */
		((void (*)(void *))host_function(call))(pointer);
}

/* The start of a block of the herd's page that malloc never returned: the last
 * one in the 64 KiB slice, or with `near` the first one behind the victim. */
static void *unissued(const struct herd *herd, bool near)
{
	size_t stride = herd_stride(herd);
	unsigned char *block = herd->victim;
	uintptr_t end = ((uintptr_t)block | 0xffff) + 1 - 4096;

	if (!near)
		block += (end - (uintptr_t)block) / stride * stride - stride;
	while (herd_has(herd, block))
		block = near ? block + stride : block - stride;
	return block;
}

static void *bad_pointer(struct herd *herd, unsigned char *on_stack)
{
	const char *what = arg("what", "inside");
	size_t offset = arg_number("offset", 0);

	if (!strcmp(what, "inside"))
		return herd->victim + offset;
	if (!strcmp(what, "freed_inside")) {
		run_by(arg("first", "main"), free_block, herd->victim);
		return herd->victim + offset;
	}
	if (!strcmp(what, "before"))
		return herd->victim - offset;
	if (!strcmp(what, "unissued"))
		return unissued(herd, false);
	if (!strcmp(what, "unissued_near"))
		return unissued(herd, true);
	if (!strcmp(what, "tail"))
		return (void *)(((uintptr_t)herd->victim | 0xffff) - offset);
	if (!strcmp(what, "stack"))
		return on_stack + offset;
	if (!strcmp(what, "data"))
		return in_data + offset;
	if (!strcmp(what, "bss"))
		return in_bss + offset;
	if (!strcmp(what, "rodata"))
		return (void *)((uintptr_t)in_rodata + offset);
	if (!strcmp(what, "tls"))
		return in_tls + offset;
	if (!strcmp(what, "code"))
		return (void *)(((uintptr_t)call_it | 15) + 1);
	if (!strcmp(what, "argv"))
		return death_argv[0];
	if (!strcmp(what, "brk"))
		return sbrk(8192);
	if (!strcmp(what, "mmap")) {
		void *map = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE,
		                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		return map == MAP_FAILED ? NULL : (unsigned char *)map + offset;
	}
	if (!strcmp(what, "wild"))
		return (void *)(uintptr_t)arg_number("value", 1);
	_exit(4);
}

int main(int argc, char **argv)
{
	unsigned char on_stack[256] __attribute__((aligned(64))) = { 1 };
	struct herd herd = { 0 };
	void *pointer;

	death_start(argc, argv);
	size = herd.size = arg_number("size", 48);
	run_by(arg("owner", "main"), herd_make, &herd);
	pointer = innocent() ? herd.spare : must(bad_pointer(&herd, on_stack));
	say_pointer('P', pointer);
	say_number('U', malloc_usable_size(herd.spare));
	say_number('M', arg_number("offset", 0));
	run_by(arg("by", "main"), call_it, pointer);
	return innocent() ? 0 : EXIT_UNNOTICED;
}
