/* Freed pages wait before another size class, or a large block, has their memory; then
 * they must still be wiped (docs/mitigations/limbo.md).
 *
 * Owns: runs that wait, first in, first out. Locks: nc_core_lock inside.
 */
#ifndef NC_LIMBO_H
#define NC_LIMBO_H

#include "arena.h"

struct nc_page;

/* What is left of a page. */
struct nc_limbo_run {
	uint8_t *run;
	size_t slice_count, block_bytes;
	uint32_t block_count, extended, first, step;
};

/* Wipe a page that nothing refers to any more. */
struct nc_limbo_run nc_limbo_wipe(const struct nc_page *page);
/* Its run, which was wiped, waits. */
void nc_limbo_put(const struct nc_limbo_run *run);
/* No more waiting, as memory is wanted. */
void nc_limbo_trim(void);
/* Look at all that waits. By the only thread, at the process's end. */
void nc_limbo_inspect(void);
size_t nc_limbo_bytes_locked(void);

#endif
