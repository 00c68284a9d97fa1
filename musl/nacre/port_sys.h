/* System calls inside libc: no cancellation point, no public name. */
#ifndef NC_PORT_SYS_H
#define NC_PORT_SYS_H

#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <sys/mman.h>

#include "libc.h"
#include "syscall.h"

#include "base.h"

#define mmap __mmap
#define munmap __munmap
#define mprotect __mprotect
#define mremap __mremap
#define madvise __madvise

#define FUTEX_WAIT_PRIVATE 128
#define FUTEX_WAKE_PRIVATE 129

/* nc_sys(number, ...): the kernel's answer, an error as a negative number. */
#define nc_sys(...) __syscall(__VA_ARGS__)

NC_INLINE size_t nc_sys_page_bytes(void)
{
	return libc.page_size;
}

/* 16 bytes of the kernel's for the process, or NULL. */
NC_INLINE const unsigned char *nc_sys_random_bytes(void)
{
	for (size_t i = 0; libc.auxv[i]; i += 2) {
		if (libc.auxv[i] == AT_RANDOM)
			return (const unsigned char *)libc.auxv[i + 1];
	}
	return NULL;
}

#endif
