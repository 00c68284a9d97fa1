/* What a heap's blocks hold, looked at when the process ends. A call may have been
 * interrupted by a signal whose handler ends it, so that only what holds at any moment can
 * be asked for: blocks on lists and in the quarantine are wiped, those in use show no
 * overflow but may not be filled yet. */
#include "heap.h"
#include "limbo.h"

#define AT_EXIT "at exit"

static void inspect_free(const struct nc_page *page, const uint8_t *block)
{
	if (!nc_page_link_holds(page, block) || !nc_page_is_wiped(page, block))
		nc_page_report_written(block, page->block_bytes, sizeof(nc_word_t),
		                       AT_EXIT);
}

static void inspect_list(const struct nc_page *page, uintptr_t ref)
{
	for (size_t n = 0; n < page->block_count && ref < page->block_count; n++) {
		const uint8_t *block = nc_page_block(page, ref);
		/* Live: it is just being handed out. */
		if (!nc_page_is_live(page, ref))
			inspect_free(page, block);
		ref = nc_link_decode(&page->keys, block, *(const nc_word_t *)block);
	}
}

static void inspect_live(const struct nc_page *page)
{
	for (uintptr_t i = 0; i < page->block_count; i++) {
		const uint8_t *block = nc_page_block(page, i);
		if (nc_page_is_live(page, i) && !nc_page_is_claimed(page, i) &&
		    block != nc_load_relaxed(&nc_page_changing) &&
		    !(NC_SLACK ? nc_slack_may_hold(block, page->block_bytes,
		                                   page->slack_key)
		               : nc_page_is_intact(page, block)))
			nc_page_report_overflow(block, page);
	}
}

static void inspect_pages(const struct nc_page *page, size_t *budget)
{
	for (; page && page != &nc_page_empty; page = page->next) {
		size_t bytes = page->extended * page->block_bytes;
		if (bytes > *budget)
			return;
		*budget -= bytes;
		inspect_live(page);
		for (unsigned l = 0; l < NC_LISTS; l++)
			inspect_list(page, page->heads[l]);
		for (unsigned l = 0; l < page->queue_count; l++)
			inspect_list(page, page->queue[l]);
		if (page->head != (const uint8_t *)&page->end_link)
			inspect_list(page, nc_page_index(page, page->head));
	}
}

void nc_heap_inspect(const struct nc_heap *heap)
{
	size_t budget = NC_CHECK_EXIT_BYTES;

	for (unsigned c = 0; c < NC_CLASS_COUNT; c++) {
		inspect_pages(heap->pages[c], &budget);
		inspect_pages(heap->avail[c], &budget);
		const struct nc_quarantine *q =
			NC_QUARANTINE ? heap->quarantine[c] : NULL;
		for (uint32_t i = 0; q && i <= 2 * q->mask + 1; i++) {
			const uint8_t *block = q->places[i];
			if (block)
				inspect_free(nc_page_find(block), block);
		}
	}
	inspect_pages(heap->parked, &budget);
	if (NC_LIMBO)
		nc_limbo_inspect();
}
