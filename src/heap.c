#include <errno.h>

#include "heap.h"
#include "limbo.h"
#include "meta.h"

/* A current page is never given back by a count: this is out of reach. */
#define LEFT_CURRENT 0x80000000u
/* Pages that one sweep looks at, at most. */
#define SWEEP_COUNT 32
/* Calls for a page from one sweep to the next: at least while sweeps find
 * something, and at most. */
#define SWEEP_PAUSE_MIN 8
#define SWEEP_PAUSE_MAX 512

/* Who made this many pages of a class will need all of the next. */
#define POPULATE_AFTER 8

#define EMPTY_4 &nc_page_empty, &nc_page_empty, &nc_page_empty, &nc_page_empty
#define EMPTY_16 EMPTY_4, EMPTY_4, EMPTY_4, EMPTY_4

NC_SEALED _Alignas(NC_CACHE_LINE) struct nc_page *nc_heap_nobody[] = {
	EMPTY_16, EMPTY_16, EMPTY_16, EMPTY_16, &nc_page_empty, &nc_page_empty,
#if UINTPTR_MAX > 0xffffffffu
	EMPTY_4,  EMPTY_4,
#else
	EMPTY_16,
#endif
};
NC_STATIC_ASSERT(NC_DIRECT_COUNT == 66, "initialiser above");

void nc_heap_init(struct nc_heap *heap)
{
	__builtin_memset(heap, 0, offsetof(struct nc_heap, quarantine));
	for (size_t c = 0; NC_QUARANTINE && c < NC_CLASS_COUNT; c++) {
		if (heap->quarantine[c])
			nc_quarantine_forget(heap->quarantine[c]);
	}
	for (size_t i = 0; i < NC_DIRECT_COUNT; i++)
		heap->direct[i] = &nc_page_empty;
	for (size_t c = 0; c < NC_CLASS_COUNT; c++)
		heap->pages[c] = &nc_page_empty;
}

/* In a list the first page's prev is the last one; the last one's next is NULL. */
static void link_page(struct nc_page **list, struct nc_page *page)
{
	struct nc_page *first = *list;

	page->prev = first ? first->prev : page;
	page->next = first;
	if (first)
		first->prev = page;
	*list = page;
	page->listed = true;
}

static void link_page_last(struct nc_page **list, struct nc_page *page)
{
	struct nc_page *first = *list;

	if (!first) {
		link_page(list, page);
		return;
	}
	page->prev = first->prev;
	page->next = NULL;
	first->prev->next = page;
	first->prev = page;
	page->listed = true;
}

static void unlink_page(struct nc_page **list, struct nc_page *page)
{
	if (*list == page)
		*list = page->next;
	else
		page->prev->next = page->next;
	if (page->next)
		page->next->prev = page->prev;
	else if (*list)
		(*list)->prev = page->prev;
	page->next = page->prev = NULL;
	page->listed = false;
}

static void set_current(struct nc_heap *heap, unsigned class_idx, struct nc_page *page)
{
	heap->pages[class_idx] = page;
	if (class_idx >= NC_CLASS_DIRECT_COUNT)
		return;
	size_t last = nc_class_bytes(class_idx) / NC_GRAIN;
	size_t first = class_idx ? nc_class_bytes(class_idx - 1) / NC_GRAIN + 1 : 0;
	for (size_t i = first; i <= last; i++)
		heap->direct[i] = page;
}

/* An owned page that may have become empty goes, or stays as a reserve.
 * It is in avail. */
static void drop_or_keep_empty(struct nc_heap *heap, struct nc_page *page)
{
	size_t bytes = page->slice_count << NC_SLICE_SHIFT;

	if (heap->empty_bytes + bytes <= NC_HEAP_EMPTY_BYTES) {
		heap->empty_bytes += bytes;
		page->kept_empty = true;
		return;
	}
	unlink_page(&heap->avail[page->class_idx], page);
	nc_page_release(page, &heap->random);
}

void nc_heap_page_emptied(struct nc_heap *heap, struct nc_page *page)
{
	if (page->current) {
		page->left = LEFT_CURRENT;
		return;
	}
	/* The bitmap decides, the count only asks. */
	if (NC_LIVE_BITMAP && (page->left = (uint32_t)nc_page_used_count(page)) != 0)
		return;
	drop_or_keep_empty(heap, page);
}

/* Put a full owned page aside. False: others freed blocks in it, and it has
 * them now. Its list is the caller's. */
static bool park(struct nc_heap *heap, struct nc_page *page)
{
	uintptr_t word = nc_heap_word(heap), expected = word | NC_OWNED;

	while (!nc_cas(&page->x_owner, &expected, word | NC_PARKED)) {
		/* Noted: a claim may be there already. To park it all the same
		 * would lose it: nobody puts a parked page in the inbox twice. */
		if (nc_page_collect(page, &heap->random))
			return false;
		expected = word | NC_OWNED;
	}
	return true;
}

bool nc_heap_unpark(struct nc_heap *heap, struct nc_page *page)
{
	uintptr_t word = nc_heap_word(heap), expected = word | NC_PARKED;

	if (!nc_cas(&page->x_owner, &expected, word | NC_OWNED)) {
		if ((expected & NC_OWNER_KINDS) == NC_GONE)
			return false;
		nc_heap_drain(heap);
		expected = nc_load_relaxed(&page->x_owner);
		return expected == (word | NC_OWNED) || expected == (word | NC_NOTED);
	}
	/* Last, so that more is free in it when its turn comes. */
	unlink_page(&heap->parked, page);
	link_page_last(&heap->avail[page->class_idx], page);
	return true;
}

/* One page of the inbox, whose kind was PENDING and is OWNED now. */
static void take_pending(struct nc_heap *heap, struct nc_page *page)
{
	if (!nc_page_collect(page, &heap->random) && park(heap, page))
		return;
	unlink_page(&heap->parked, page);
	link_page_last(&heap->avail[page->class_idx], page);
	if (page->left == 0)
		nc_heap_page_emptied(heap, page);
}

void nc_heap_push_inbox(struct nc_heap *heap, struct nc_page *page)
{
	uintptr_t first = nc_load_relaxed(&heap->x_inbox);

	do {
		page->inbox_next = (struct nc_page *)first;
	} while (!nc_cas(&heap->x_inbox, &first, (uintptr_t)page));
}

void nc_heap_drain(struct nc_heap *heap)
{
	uintptr_t word = nc_heap_word(heap);

	if (!nc_load_relaxed(&heap->x_inbox))
		return;
	struct nc_page *page = (struct nc_page *)nc_exchange(&heap->x_inbox, 0), *next;
	for (; page; page = next) {
		next = page->inbox_next;
		uintptr_t expected = word | NC_PENDING;
		if (nc_cas(&page->x_owner, &expected, word | NC_OWNED)) {
			take_pending(heap, page);
		} else if ((expected & NC_OWNER_KINDS) == NC_TAKEN) {
			/* Being looked at; it comes to its end without us. */
			nc_heap_push_inbox(heap, page);
		} else {
			unlink_page(&heap->parked, page);
			nc_page_forget(page);
		}
	}
}

static struct nc_page *first_avail(struct nc_heap *heap, unsigned class_idx)
{
	struct nc_page *page = heap->avail[class_idx];

	if (!page)
		return NULL;
	unlink_page(&heap->avail[class_idx], page);
	if (page->kept_empty) {
		heap->empty_bytes -= page->slice_count << NC_SLICE_SHIFT;
		page->kept_empty = false;
	}
	return page;
}

static struct nc_page *adopt(struct nc_heap *heap, unsigned class_idx)
{
	struct nc_page *page = nc_adopt(class_idx);

	if (!page)
		return NULL;
	/* Noted from the start: what was claimed meanwhile told nobody. */
	nc_store_release(&page->x_owner, nc_heap_word(heap) | NC_NOTED);
	if (page->distrusted)
		nc_page_rebuild(page, &heap->random);
	page->distrusted = false;
	nc_page_collect(page, &heap->random);
	page->left = (uint32_t)nc_page_live_count(page);
	return page;
}

/* The current page is full: put it aside, unless others just freed in it. */
static bool retire_current(struct nc_heap *heap, struct nc_page *page)
{
	page->current = false;
	page->left = (uint32_t)page->block_count;
	if (!park(heap, page)) {
		page->current = true;
		page->left = LEFT_CURRENT;
		return false;
	}
	link_page(&heap->parked, page);
	set_current(heap, page->class_idx, &nc_page_empty);
	return true;
}

/* The list begins with `page`, and what was before that comes last. */
static void rotate_to(struct nc_page **list, struct nc_page *page)
{
	struct nc_page *first = *list;

	if (page == first)
		return;
	first->prev->next = first;
	page->prev->next = NULL;
	*list = page;
}

/* Pages that the owner freed in, and that others freed the rest of, tell nobody:
 * a few are looked at now and then. True if others freed in one. */
static bool sweep(struct nc_heap *heap)
{
	struct nc_page **list, *page, *next;
	bool found = false;

	for (unsigned c = 0; c < NC_CLASS_COUNT; c++) {
		heap->sweep_at = (heap->sweep_at + 1) % NC_CLASS_COUNT;
		if (heap->avail[heap->sweep_at])
			break;
	}
	list = &heap->avail[heap->sweep_at];
	page = *list;
	for (int i = 0; page; page = next, i++) {
		next = page->next;
		if (i == SWEEP_COUNT) {
			rotate_to(list, page);
			break;
		}
		if (!(nc_load_relaxed(&page->x_owner) & NC_NOTED))
			continue;
		found = true;
		nc_page_collect(page, &heap->random);
		if (page->left == 0 && !page->kept_empty)
			nc_heap_page_emptied(heap, page);
	}
	return found;
}

/* An owned page in no list, for the class. */
static struct nc_page *next_page(struct nc_heap *heap, unsigned class_idx)
{
	struct nc_page *page = first_avail(heap, class_idx);

	if (!page)
		page = adopt(heap, class_idx);
	if (page)
		return page;
	page = nc_page_make(class_idx, nc_heap_word(heap), &heap->random);
	if (page && heap->made[class_idx] < POPULATE_AFTER)
		heap->made[class_idx]++;
	else if (page && page->untouched)
		nc_page_populate(page);
	return page;
}

struct nc_page *nc_heap_page_slow(struct nc_heap *heap, unsigned class_idx)
{
	struct nc_page *page = heap->pages[class_idx];

	nc_heap_drain(heap);
	if (heap->sweep_in-- == 0) {
		heap->sweep_pause =
			sweep(heap) ? SWEEP_PAUSE_MIN
				    : nc_min(heap->sweep_pause * 2 + 1, SWEEP_PAUSE_MAX);
		heap->sweep_in = heap->sweep_pause;
	}
	while (page != &nc_page_empty) {
		if (nc_page_refill(page, &heap->random))
			return page;
		if (retire_current(heap, page))
			break;
	}
	while ((page = next_page(heap, class_idx))) {
		if (page->head != (uint8_t *)&page->end_link || nc_page_next_list(page) ||
		    nc_page_refill(page, &heap->random)) {
			page->current = true;
			page->left = LEFT_CURRENT;
			set_current(heap, class_idx, page);
			return page;
		}
		/* Adopted, and full. */
		if (park(heap, page))
			link_page(&heap->parked, page);
		else
			link_page(&heap->avail[class_idx], page);
	}
	return NULL;
}

void nc_heap_trim(struct nc_heap *heap)
{
	if (NC_QUARANTINE)
		nc_heap_end_quarantine(heap);
	nc_heap_drain(heap);
	for (unsigned c = 0; c < NC_CLASS_COUNT; c++) {
		struct nc_page *page, *next;
		for (page = heap->avail[c]; page; page = next) {
			next = page->next;
			if (nc_load_relaxed(&page->x_owner) & NC_NOTED)
				nc_page_collect(page, &heap->random);
			if (nc_page_used_count(page))
				continue;
			if (!page->kept_empty)
				heap->empty_bytes += page->slice_count << NC_SLICE_SHIFT;
			unlink_page(&heap->avail[c], page);
			heap->empty_bytes -= page->slice_count << NC_SLICE_SHIFT;
			nc_page_release(page, &heap->random);
		}
		page = heap->pages[c];
		if (!NC_LIVE_BITMAP || page == &nc_page_empty)
			continue;
		if (nc_load_relaxed(&page->x_owner) & NC_NOTED)
			nc_page_collect(page, &heap->random);
		if (!nc_page_used_count(page)) {
			set_current(heap, c, &nc_page_empty);
			nc_page_release(page, &heap->random);
		}
	}
	if (NC_LIMBO)
		nc_limbo_trim();
}

static size_t check_list(const struct nc_page *page)
{
	size_t n = 0;

	for (; page; page = page->next, n++)
		nc_page_check(page);
	return n;
}

size_t nc_heap_check(struct nc_heap *heap)
{
	size_t n = check_list(heap->parked);

	for (unsigned c = 0; c < NC_CLASS_COUNT; c++) {
		n += check_list(heap->avail[c]);
		if (heap->pages[c] != &nc_page_empty) {
			nc_page_check(heap->pages[c]);
			n++;
		}
	}
	return n;
}

void nc_heap_give_pages(struct nc_heap *heap)
{
	struct nc_page *page, *next;

	if (NC_QUARANTINE)
		nc_heap_end_quarantine(heap);
	nc_heap_drain(heap);
	for (unsigned c = 0; c < NC_CLASS_COUNT; c++) {
		page = heap->pages[c];
		set_current(heap, c, &nc_page_empty);
		if (page != &nc_page_empty) {
			page->current = false;
			nc_abandon(heap, page);
		}
		while ((page = first_avail(heap, c)))
			nc_abandon(heap, page);
	}
	for (page = heap->parked; page; page = next) {
		uintptr_t word = nc_heap_word(heap), expected = word | NC_PARKED;
		next = page->next;
		/* One on its way to the inbox stays with the heap's memory: the
		 * next thread to get that finds it there. */
		if (nc_cas(&page->x_owner, &expected, word | NC_OWNED)) {
			unlink_page(&heap->parked, page);
			nc_abandon(heap, page);
		}
	}
}

/* ---- a page's way from one thread to another ---- */

/* Under nc_core_lock. Full pages stay apart: every thread would take them over
 * at its first block, and leave them at its end. */
static struct nc_page *abandoned[NC_CLASS_COUNT], *abandoned_full[NC_CLASS_COUNT];
static uintptr_t x_abandoned_count[NC_CLASS_COUNT]; /* of the first kind */

static void link_abandoned(struct nc_page *page, bool full)
{
	nc_store_relaxed(&page->x_full, full);
	link_page(full ? &abandoned_full[page->class_idx] : &abandoned[page->class_idx],
	          page);
	if (!full)
		nc_fetch_add(&x_abandoned_count[page->class_idx], 1);
}

static void unlink_abandoned(struct nc_page *page)
{
	bool full = nc_load_relaxed(&page->x_full);

	unlink_page(full ? &abandoned_full[page->class_idx] : &abandoned[page->class_idx],
	            page);
	if (!full)
		nc_fetch_add(&x_abandoned_count[page->class_idx], (uintptr_t)-1);
}

void nc_abandon_locked(struct nc_page *page)
{
	bool full = !page->distrusted && !nc_page_has_free(page);

	link_abandoned(page, full);
	nc_store_release(&page->x_owner, NC_ABANDONED);
}

void nc_abandoned_reopen(struct nc_page *page)
{
	nc_lock_take(&nc_core_lock);
	if (nc_load_relaxed(&page->x_owner) == NC_ABANDONED &&
	    nc_load_relaxed(&page->x_full)) {
		unlink_abandoned(page);
		link_abandoned(page, false);
	}
	nc_lock_give(&nc_core_lock);
}

void nc_abandon(struct nc_heap *heap, struct nc_page *page)
{
	uintptr_t expected;

	do {
		expected = nc_heap_word(heap) | NC_OWNED;
		if (nc_load_relaxed(&page->x_owner) != expected)
			nc_page_collect(page, &heap->random);
		if (NC_LIVE_BITMAP && !nc_page_used_count(page)) {
			nc_page_release(page, &heap->random);
			return;
		}
		/* Once it is ABANDONED the thread that frees its last block
		 * looks for it in the list: both change under the lock. */
		nc_lock_take(&nc_core_lock);
		bool ours = nc_cas(&page->x_owner, &expected, NC_ABANDONED);
		if (ours)
			nc_abandon_locked(page);
		nc_lock_give(&nc_core_lock);
		if (ours)
			return;
	} while (true);
}

struct nc_page *nc_adopt(unsigned class_idx)
{
	if (!nc_load_relaxed(&x_abandoned_count[class_idx]))
		return NULL;
	nc_lock_take(&nc_core_lock);
	struct nc_page *page = abandoned[class_idx];
	if (page) {
		unlink_abandoned(page);
		/* No longer ABANDONED, so that nobody finishes it. */
		nc_store_release(&page->x_owner, NC_TAKEN);
	}
	nc_lock_give(&nc_core_lock);
	return page;
}

void nc_abandoned_finish(struct nc_page *page)
{
	nc_lock_take(&nc_core_lock);
	bool ours = nc_load_acquire(&page->x_owner) == NC_ABANDONED &&
	            nc_page_all_claimed(page);
	if (ours) {
		unlink_abandoned(page);
		nc_store_release(&page->x_owner, NC_GONE);
	}
	nc_lock_give(&nc_core_lock);
	if (ours) {
		nc_page_release_run(page);
		nc_page_forget(page);
	}
}
