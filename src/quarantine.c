/* Blocks that wait before their page has them back (heap.h). */
#include <errno.h>

#include "heap.h"
#include "meta.h"

#if NC_QUARANTINE

/* A place for blocks of the class to wait; NULL: there is none for such large ones, or
 * no memory. */
static struct nc_quarantine *make_quarantine(struct nc_heap *heap, unsigned class_idx)
{
	uint32_t length = nc_quarantine_length(nc_class_bytes(class_idx),
	                                       NC_QUARANTINE_CLASS_BYTES);
	struct nc_quarantine *q;

	if (!length)
		return NULL;
	nc_lock_take(&nc_core_lock);
	q = nc_meta_take_locked(sizeof *q + 2 * length * sizeof *q->places);
	nc_lock_give(&nc_core_lock);
	if (q)
		q->mask = length - 1;
	heap->quarantine[class_idx] = q;
	return q;
}

/* The first word of a block that waits: as the last of a list has it. */
static nc_word_t waiting_mark(const struct nc_page *page, const uint8_t *block)
{
	return nc_link_encode(&page->keys, block, NC_REF_END);
}

NC_NOINLINE static void let_go_slow(struct nc_heap *heap, uint8_t *block);

NC_INLINE void put_back(struct nc_heap *heap, struct nc_page *page, uint8_t *block)
{
	nc_store_relaxed(&page->x_waiting, nc_load_relaxed(&page->x_waiting) - 1);
	if (NC_UNLIKELY(nc_heap_push_freed(page, block, nc_page_index(page, block))))
		nc_heap_page_emptied(heap, page);
}

/* The block, freed long ago, may be used again. */
NC_INLINE void let_go(struct nc_heap *heap, uint8_t *block)
{
	struct nc_page *page = nc_page_find(block);

	if (NC_UNLIKELY((nc_load_acquire(&page->x_owner) & NC_OWNER_KINDS) > NC_NOTED ||
	                *(nc_word_t *)block != waiting_mark(page, block) ||
	                page->left == 1))
		return let_go_slow(heap, block);
	put_back(heap, page, block);
}

NC_NOINLINE static void let_go_slow(struct nc_heap *heap, uint8_t *block)
{
	struct nc_page *page = nc_page_find(block);
	int saved = errno;

	/* Put aside since, it has free blocks now. One that another thread just looks at
	 * is not finished, since the block waits, and comes back at once. */
	while ((nc_load_acquire(&page->x_owner) & NC_OWNER_KINDS) > NC_NOTED)
		nc_heap_unpark(heap, page);
	if (*(nc_word_t *)block != waiting_mark(page, block))
		nc_page_report_link(page, block);
	put_back(heap, page, block);
	errno = saved;
}

/* The first block of its class to wait, or one that never does. */
NC_NOINLINE static void put_off_first(struct nc_heap *heap, unsigned class_idx,
                                      uint8_t *block)
{
	int saved = errno;
	struct nc_quarantine *q = make_quarantine(heap, class_idx);

	if (q)
		block = nc_quarantine_pass(q, nc_random_u64(&heap->random), block);
	errno = saved;
	if (block)
		let_go(heap, block);
}

void nc_heap_put_off(struct nc_heap *heap, struct nc_page *page, uint8_t *block)
{
	struct nc_quarantine *q = heap->quarantine[page->class_idx];

	nc_store_relaxed(&page->x_waiting, nc_load_relaxed(&page->x_waiting) + 1);
	*(nc_word_t *)block = waiting_mark(page, block);
	if (NC_CHECK_EXIT)
		nc_signal_fence();
	if (NC_UNLIKELY(!q))
		return put_off_first(heap, page->class_idx, block);
	block = nc_quarantine_pass(q, page->rotor, block);
	if (NC_LIKELY(block))
		let_go(heap, block);
}

void nc_heap_end_quarantine(struct nc_heap *heap)
{
	for (unsigned c = 0; c < NC_CLASS_COUNT; c++) {
		uint32_t from = 0;
		void *block;
		while (heap->quarantine[c] &&
		       (block = nc_quarantine_drain(heap->quarantine[c], &from)))
			let_go(heap, block);
	}
}

#endif
