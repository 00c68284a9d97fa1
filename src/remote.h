/* Frees that do not go the owner's fast way: by another thread, or by the
 * owner in a page that others have to do with.
 *
 * The protocol and its proof: docs/concurrency.md, tests/model.
 */
#ifndef NC_REMOTE_H
#define NC_REMOTE_H

#include "heap.h"

/* Free block i of a page of blocks; p is its address. Any thread, any kind of
 * page but LARGE. Reports a second free. */
void nc_remote_or_owner_free(struct nc_page *page, uintptr_t i, void *p);

#endif
