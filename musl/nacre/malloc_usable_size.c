#include "api.h"

size_t malloc_usable_size(void *p)
{
	return nc_usable_size(p);
}
