/* What glibc has and musl has not, as programs that use it bring it along. */
#ifndef COMPAT_H
#define COMPAT_H

#include <errno.h>
#include <malloc.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#ifndef __GLIBC__
static inline void *pvalloc(size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	if (size > (size_t)PTRDIFF_MAX) {
		errno = ENOMEM;
		return NULL;
	}
	return valloc((size + page - 1) & ~(page - 1));
}

static inline int malloc_trim(size_t pad)
{
	(void)pad;
	return 0;
}
#endif

#endif
