/* System calls as a libc's program makes them. Inside libc another file of this
 * name takes its place. Included first. */
#ifndef NC_PORT_SYS_H
#define NC_PORT_SYS_H

#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base.h"

/* nc_sys(number, ...): the kernel's answer, an error as a negative number. */
#define nc_sys(...) nc_sys_result(syscall(__VA_ARGS__))

NC_INLINE long nc_sys_result(long result)
{
	return result == -1 ? -errno : result;
}

NC_INLINE size_t nc_sys_page_bytes(void)
{
	return getauxval(AT_PAGESZ);
}

/* 16 bytes of the kernel's for the process, or NULL. */
NC_INLINE const unsigned char *nc_sys_random_bytes(void)
{
	return (const unsigned char *)getauxval(AT_RANDOM);
}

#endif
