/* Metadata: the memory for descriptions of pages, heaps and arenas.
 *
 * It lies in areas of its own with guards on both sides, far from every block,
 * and is never unmapped: another thread may read a description at any time.
 * It is not given back either: who has it keeps it for things of the same kind.
 *
 * Locks: nc_core_lock, which also guards arenas, the page map's growth, the
 * large cache and the lists of heaps. No system call but for growth is made
 * under it.
 */
#ifndef NC_META_H
#define NC_META_H

#include "port.h"

extern NC_HIDDEN struct nc_lock nc_core_lock;

/* Zeroed memory, aligned to 256 bytes. NULL when there is none. */
void *nc_meta_take_locked(size_t bytes);
/* Memory for the next area, which is mapped already and zero. */
void nc_meta_seed_locked(void *p, size_t bytes);
/* Bytes of address space that metadata has. */
size_t nc_meta_bytes_locked(void);

#endif
