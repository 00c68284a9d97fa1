/* memalign, posix_memalign and valloc go through this as well. */
#include <errno.h>

#include "dynlink.h"

#include "api.h"

void *aligned_alloc(size_t align, size_t bytes)
{
	/* The program's free would not know what to do with ours. */
	if (__malloc_replaced && !__aligned_alloc_replaced) {
		errno = ENOMEM;
		return NULL;
	}
	return nc_memalign(align ? align : 1, bytes);
}
