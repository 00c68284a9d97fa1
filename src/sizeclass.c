#include "sizeclass.h"
#include "port.h"

size_t nc_large_bytes(size_t bytes)
{
	if (bytes > (size_t)PTRDIFF_MAX)
		return 0;
	/* A small block may be large for its alignment. */
	bytes = nc_max(bytes, nc_os_page);
	size_t step = NC_SLACK ? 1 : (size_t)1 << (nc_log2(bytes) - 3);
	size_t whole = nc_align_up(bytes, nc_max(step, nc_os_page));
	return whole > (size_t)PTRDIFF_MAX ? 0 : whole;
}
