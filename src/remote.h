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

/* After a claim in a page that its owner put aside, or left: the block may have been
 * the last one. */
void nc_remote_claimed(struct nc_page *page, uintptr_t owner);

/* The short way: another thread's block, in a page where that was noted before. It is
 * the common case of nc_remote_or_owner_free, step by step in the same order. False:
 * that one decides, and nothing changed. */
NC_INLINE bool nc_remote_free_noted(struct nc_page *page, uintptr_t i, const void *p)
{
	uintptr_t *claims = &page->x_claims[i >> NC_CLAIM_SHIFT];
	uintptr_t bit = (uintptr_t)1 << (i & (NC_CLAIM_BITS - 1));
	uintptr_t seen = nc_load_acquire(claims);

	if (NC_UNLIKELY(nc_page_find(p) != page))
		return false;
	uintptr_t owner = nc_load_acquire(&page->x_owner);
	uintptr_t kind = owner & NC_OWNER_KINDS;
	if ((kind != NC_NOTED && kind != NC_PENDING) ||
	    (owner & ~NC_OWNER_KINDS) == nc_port_self_get() || (seen & bit) ||
	    !nc_page_is_live(page, i))
		return false;
	if (!nc_page_is_intact(page, p))
		return false;
	if (!nc_cas(claims, &seen, seen | bit))
		return false;
	if (kind == NC_PENDING && nc_page_word_is_claimed(page, i, seen | bit))
		nc_remote_claimed(page, owner);
	return true;
}

#endif
