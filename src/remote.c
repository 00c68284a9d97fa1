#include <errno.h>

#include "remote.h"

/* Every block of a page in somebody's inbox may be claimed: then nobody will
 * touch them again, and the page goes back without waiting for its owner. */
static void finish_pending(struct nc_page *page, uintptr_t word)
{
	do {
		uintptr_t expected = word | NC_PENDING;
		if (!nc_cas(&page->x_owner, &expected, word | NC_TAKEN))
			return;
		/* The owner cannot change live bits now; before, it could. */
		if (nc_page_all_claimed(page)) {
			nc_page_release_run(page);
			return;
		}
		nc_exchange(&page->x_owner, word | NC_PENDING);
		/* A last claim that found TAKEN left the finish to us. */
	} while (nc_page_all_claimed(page));
}

void nc_remote_claimed(struct nc_page *page, uintptr_t owner)
{
	int saved = errno;

	if (nc_page_all_claimed(page)) {
		if (owner == NC_ABANDONED)
			nc_abandoned_finish(page);
		else
			finish_pending(page, owner & ~NC_OWNER_KINDS);
	}
	errno = saved;
}

static void remote_free(struct nc_page *page, uintptr_t i, void *p)
{
	uintptr_t *claims = &page->x_claims[i >> NC_CLAIM_SHIFT];
	uintptr_t bit = (uintptr_t)1 << (i & (NC_CLAIM_BITS - 1));
	uintptr_t seen, owner, kind;

	do {
		/* The word first: whatever the owner does after this, be it
		 * that it collects and hands out, changes the epoch. */
		seen = nc_load_acquire(claims);
		/* And the page is still this one: it cannot be given back while
		 * the block is live, unless another free came first. */
		if (NC_UNLIKELY(nc_page_find(p) != page)) {
			nc_page_report_double_free(&nc_page_freed, p);
			return;
		}
		owner = nc_load_acquire(&page->x_owner);
		kind = owner & NC_OWNER_KINDS;
		owner &= ~NC_OWNER_KINDS;
		/* The note second, before the live bit is read: an owner that
		 * does not see it at its refill has cleared the bits before. */
		if (kind == NC_OWNED) {
			uintptr_t expected = owner | NC_OWNED;
			if (!nc_cas(&page->x_owner, &expected, owner | NC_NOTED))
				continue;
		} else if (kind == NC_PARKED) {
			uintptr_t expected = owner | NC_PARKED;
			if (!nc_cas(&page->x_owner, &expected, owner | NC_PENDING))
				continue;
			kind = NC_PENDING;
			nc_heap_push_inbox(nc_heap_of_word(owner), page);
		}
		if (kind == NC_GONE || (seen & bit) || !nc_page_is_live(page, i)) {
			nc_page_report_double_free(page, p);
			return;
		}
		if (nc_cas(claims, &seen, seen | bit))
			break;
	} while (true);
	if (kind == NC_ABANDONED && nc_load_relaxed(&page->x_full))
		nc_abandoned_reopen(page);
	if (kind >= NC_PENDING && nc_page_word_is_claimed(page, i, seen | bit))
		nc_remote_claimed(page, owner | kind);
}

/* The owner's own free, other than on the fast path. False: not ours now. */
static bool owner_free(struct nc_heap *heap, struct nc_page *page, uintptr_t i, void *p)
{
	uintptr_t kind = nc_load_acquire(&page->x_owner) & NC_OWNER_KINDS;

	if (kind > NC_NOTED) {
		if (nc_page_is_claimed(page, i) || !nc_page_is_live(page, i)) {
			nc_page_report_double_free(page, p);
			return true;
		}
		if (!nc_heap_unpark(heap, page))
			return false;
	}
	/* A remote free that came first has its claim there. */
	if (nc_page_is_claimed(page, i) ||
	    (NC_LIVE_BITMAP && !nc_page_live_clear(page, i))) {
		nc_page_report_double_free(page, p);
		return true;
	}
	nc_page_wipe(page, p);
	if (NC_QUARANTINE)
		nc_heap_put_off(heap, page, p);
	else if (nc_heap_push_freed(page, p, i))
		nc_heap_page_emptied(heap, page);
	return true;
}

void nc_remote_or_owner_free(struct nc_page *page, uintptr_t i, void *p)
{
	uintptr_t word = nc_port_self_get();

	if (word && (nc_load_acquire(&page->x_owner) & ~NC_OWNER_KINDS) == word &&
	    owner_free(nc_heap_of_word(word), page, i, p))
		return;
	remote_free(page, i, p);
}
