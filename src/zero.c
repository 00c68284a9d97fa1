#include "zero.h"
#include "meta.h"

/* Under nc_core_lock. */
static struct {
	struct nc_page *first; /* has a free block, and next ones do */
	struct nc_random random;
	bool seeded;
} zero;

/* A run that is never given back: it holds no memory. */
static struct nc_page *make(void)
{
	size_t slices = nc_page_slices(0);
	size_t bytes = (slices << NC_SLICE_SHIFT) - nc_os_page; /* the arena's guard */
	struct nc_run_state state;
	struct nc_page *page = nc_page_describe(NC_CLASS_ZERO, bytes / NC_GRAIN);
	uint8_t *run = page ? nc_arena_take(slices, &state) : NULL;

	if (!page)
		return NULL;
	if (!run || nc_port_guard(run, bytes) == NC_GUARD_NONE) {
		if (run)
			nc_arena_give(run, slices, true);
		nc_page_forget(page);
		return NULL;
	}
	page->run = page->start = run;
	page->slice_count = slices;
	page->block_bytes = NC_GRAIN;
	page->block_count = bytes / NC_GRAIN;
	page->left = (uint32_t)page->block_count;
	page->divide_shift = nc_ctz(NC_GRAIN);
	page->divide_inverse = 1;
	page->extended = (uint32_t)page->block_count;
	page->first = 0;
	page->step = 1;
	nc_store_release(&page->x_owner, NC_ZERO);
	nc_arena_publish(run, slices, page);
	return page;
}

static void list_locked(struct nc_page *page)
{
	page->next = zero.first;
	zero.first = page;
	page->listed = true;
}

static void *take_locked(struct nc_page *page)
{
	uintptr_t i = nc_random_below(&zero.random, (uint32_t)page->block_count);

	while (!nc_page_live_set(page, i))
		i = i + 1 < page->block_count ? i + 1 : 0;
	if (--page->left == 0) {
		zero.first = page->next;
		page->listed = false;
	}
	return nc_page_block(page, i);
}

void *nc_zero_take(void)
{
	struct nc_page *fresh = NULL;
	void *p = NULL;

	nc_lock_take(&nc_core_lock);
	if (!zero.first) {
		nc_lock_give(&nc_core_lock);
		fresh = make();
		nc_lock_take(&nc_core_lock);
	}
	if (!zero.seeded)
		nc_random_init(&zero.random);
	zero.seeded = true;
	if (fresh)
		list_locked(fresh);
	if (zero.first)
		p = take_locked(zero.first);
	nc_lock_give(&nc_core_lock);
	return p;
}

void nc_zero_give(struct nc_page *page, const void *p)
{
	nc_lock_take(&nc_core_lock);
	bool was_live = nc_page_live_clear(page, nc_page_index(page, p));
	if (was_live && ++page->left && !page->listed)
		list_locked(page);
	nc_lock_give(&nc_core_lock);
	if (!was_live)
		nc_page_report_double_free(page, p);
}
