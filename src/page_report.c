/* The reports that name a block, and the validity walk of a page. */
#include "page.h"

static bool was_put_on_a_list(const struct nc_page *page, uintptr_t i)
{
	for (uint32_t k = 0; k < page->extended; k++) {
		if ((page->first + (uint64_t)k * page->step) % page->block_count == i)
			return true;
	}
	return false;
}

void nc_page_report_double_free(const struct nc_page *page, const void *p)
{
	uintptr_t i = nc_page_index(page, p);

	if (page == &nc_page_freed || i >= page->block_count)
		nc_report(NC_DOUBLE_FREE,
		          "double free of %p (its memory was already given back)", p);
	else if (page->x_claims && nc_load_relaxed(&page->x_owner) != NC_LARGE &&
	         nc_page_is_claimed(page, i))
		nc_report(
			NC_DOUBLE_FREE,
			"double free of %p (block of %z bytes, freed before by another thread)",
			p, page->block_bytes);
	else if (page->x_claims && !was_put_on_a_list(page, i))
		nc_report(NC_INVALID_POINTER,
		          "invalid free of %p (block of %z bytes, never handed out)", p,
		          page->block_bytes);
	else
		nc_report(NC_DOUBLE_FREE, "double free of %p (block of %z bytes)", p,
		          page->block_bytes);
}

void nc_page_report_race(const struct nc_page *page, uintptr_t i)
{
	nc_report(NC_DOUBLE_FREE,
	          "double free of %p (block of %z bytes, freed by two threads at once)",
	          nc_page_block(page, i), page->block_bytes);
}

void nc_page_report_overflow(const void *block, const struct nc_page *page)
{
	nc_report(
		NC_OVERFLOW,
		NC_SLACK
			? "overflow of block %p (block of %z bytes, written past its end)"
			: "overflow of block %p (block of %z bytes, its last 4 bytes were overwritten)",
		block, page->block_bytes);
}

void nc_page_report_link(const struct nc_page *page, const void *block)
{
	nc_report(
		NC_WRITE_AFTER_FREE,
		"write after free to %p (block of %z bytes, found when it was handed out)",
		block, page->block_bytes);
}

void nc_page_report_written(const void *block, size_t block_bytes, size_t link,
                            const char *when)
{
	const uint8_t *bytes = block;
	size_t from = link, to = block_bytes;

	while (from < to && !bytes[from])
		from++;
	while (from < to && !bytes[to - 1])
		to--;
	nc_report(
		NC_WRITE_AFTER_FREE,
		"write after free to %p (block of %z bytes, found %s, %z bytes from byte "
		"%z on)",
		block, block_bytes, when, to - from, from);
}

/* p is no live block's start; page is what the page map says. */
void nc_page_report_invalid(const struct nc_page *page, const void *p, const char *call)
{
	uintptr_t offset = (uintptr_t)p - (uintptr_t)page->start;
	uintptr_t i = page->block_bytes ? offset / page->block_bytes : 0;
	size_t into = page->block_bytes ? offset % page->block_bytes : 0;
	bool live = i < page->block_count && nc_page_is_live(page, i) &&
	            !nc_page_is_claimed(page, i);

	if (page == &nc_page_freed) {
		nc_report(NC_INVALID_POINTER,
		          "invalid %s of %p (its memory was already given back)", call,
		          p);
	} else if (!page->block_count || (uintptr_t)p >> (NC_ADDR_BITS - 1) > 1) {
		nc_report(NC_INVALID_POINTER, "invalid %s of %p (not a block of nacre)",
		          call, p);
	} else if ((uintptr_t)p < (uintptr_t)page->start || i >= page->block_count) {
		nc_report(NC_INVALID_POINTER,
		          "invalid %s of %p (outside the blocks of its page)", call, p);
	} else if (into) {
		nc_report(NC_INVALID_POINTER,
		          "invalid %s of %p (%z bytes into a %sblock of %z bytes)", call,
		          p, into, live ? "" : "freed ", page->block_bytes);
	} else if (page->x_claims && !was_put_on_a_list(page, i)) {
		nc_report(NC_INVALID_POINTER,
		          "invalid %s of %p (block of %z bytes, never handed out)", call,
		          p, page->block_bytes);
	} else {
		nc_report(NC_USE_AFTER_FREE, "%s of freed block %p (block of %z bytes)",
		          call, p, page->block_bytes);
	}
}

static void expect(bool holds, const struct nc_page *page, const char *what)
{
	if (!holds)
		nc_report(NC_INTERNAL, "internal error: page %p: %s", page, what);
}

/* Follow one list; every block must be free, and on no other list. */
static size_t check_list(const struct nc_page *page, uintptr_t ref, uint32_t *seen)
{
	size_t n = 0;

	while (ref != NC_REF_END) {
		const uint8_t *block = nc_page_ref_block(page, ref);
		uintptr_t i = nc_page_index(page, block);
		if (i >= page->block_count) {
			expect(false, page, "a link leads out of the page");
			return n;
		}
		uint32_t bit = (uint32_t)1 << (i & (NC_CLAIM_BITS - 1));
		expect(!NC_LIVE_BITMAP || !nc_page_is_live(page, i), page,
		       "a live block is on a list");
		expect(!(seen[i >> NC_CLAIM_SHIFT] & bit), page,
		       "a block is on two lists");
		seen[i >> NC_CLAIM_SHIFT] |= bit;
		ref = nc_link_decode(&page->keys, block, *(const nc_word_t *)block);
		n++;
	}
	return n;
}

void nc_page_check(const struct nc_page *page)
{
	uint32_t seen[2048] = { 0 };
	size_t n = 0;

	if (page->word_count > sizeof seen / sizeof *seen)
		return;
	for (unsigned l = 0; l < NC_LISTS; l++)
		n += check_list(page, page->heads[l], seen);
	for (unsigned l = 0; l < page->queue_count; l++)
		n += check_list(page, page->queue[l], seen);
	if (page->head != (const uint8_t *)&page->end_link) {
		expect(!NC_REF_IS_INDEX ||
		               page->head == nc_page_ref_block(page, page->head_idx),
		       page, "head and its index");
		n += check_list(page,
		                NC_REF_IS_INDEX ? page->head_idx : (uintptr_t)page->head,
		                seen);
	}
	if (NC_LIVE_BITMAP) {
		size_t used = nc_page_used_count(page);
		expect(n + used == page->extended, page,
		       "free and live blocks do not add up");
		expect(page->current || page->left == used, page, "count of live blocks");
	}
	expect(nc_page_find(page->start) == page, page, "page map");
}
