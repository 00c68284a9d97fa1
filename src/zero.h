/* Blocks of no bytes: malloc(0). Each has an address of its own, in a run that is a guard
 * as a whole, so that any access faults (docs/mitigations/zero.md).
 *
 * Owns: those runs, and which of their blocks are live. Locks: nc_core_lock inside.
 * Invariant: zero pages (kind ZERO) with a free block are listed; left counts those.
 */
#ifndef NC_ZERO_H
#define NC_ZERO_H

#include "page.h"

/* NULL: no memory, or the system gives no guard. */
void *nc_zero_take(void);
/* Free it; a second free is reported. */
void nc_zero_give(struct nc_page *page, const void *p);

#endif
