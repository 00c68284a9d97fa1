#include <errno.h>

#include "api.h"
#include "large.h"
#include "remote.h"
#include "thread.h"
#include "zero.h"

/* Largest request with a direct slot. */
#define DIRECT_MAX (NC_DIRECT_BYTES - NC_CANARY_BYTES)
/* Largest request that shares a page. */
#define SMALL_MAX (NC_SMALL_BYTES - NC_CANARY_BYTES)
/* Blocks from here on get room when they grow by little. */
#define ROOM_FROM_BYTES (128 - NC_CANARY_BYTES)

NC_NOINLINE static void *nc_malloc_slow(size_t bytes, struct nc_heap *heap);
NC_NOINLINE static void *nc_malloc_next(size_t bytes, struct nc_page *page,
                                        struct nc_heap *heap);

/* What the next pointer of the page's head says: a block's index, or more. */
NC_INLINE uintptr_t next_of(const struct nc_page *page, const uint8_t *block)
{
	return nc_link_decode(&page->keys, block, *(const nc_word_t *)block);
}

/* A free block was written to; where a test lets it go on, it is wiped now. */
NC_NOINLINE static void *nc_malloc_written(size_t bytes, struct nc_page *page,
                                           uint8_t *block)
{
	nc_page_report_written(block, page->block_bytes, sizeof(nc_word_t),
	                       "when it was handed out");
	nc_page_wipe(page, block);
	nc_page_arm(page, block, bytes, false);
	return block;
}

/* The block, which is on no list any more. */
NC_INLINE void *hand_out(struct nc_page *page, uint8_t *block, size_t bytes)
{
	if (NC_CHECK_EXIT)
		nc_signal_fence();
	if (NC_WIPE) {
		/* A tail call: else every malloc saved its registers for it. */
		if (NC_UNLIKELY(!nc_page_is_wiped(page, block)))
			return nc_malloc_written(bytes, page, block);
		*(nc_word_t *)block = 0;
	}
	nc_page_arm(page, block, bytes, false);
	return block;
}

NC_INLINE void *malloc_from(struct nc_heap *heap, struct nc_page *page, size_t bytes)
{
	uint8_t *block = page->head;
	uintptr_t i = page->head_idx;
	uintptr_t next = next_of(page, block);

	if (NC_UNLIKELY(!nc_page_is_ref(page, next)))
		return nc_malloc_next(bytes, page, heap);
	if (NC_LIVE_BITMAP && NC_UNLIKELY(!nc_page_live_set(page, i)))
		return nc_malloc_next(bytes, page, heap);
	if (NC_REF_IS_INDEX)
		page->head_idx = next;
	page->head = nc_page_ref_block(page, next);
	return hand_out(page, block, bytes);
}

void *nc_malloc(size_t bytes)
{
	struct nc_heap *heap = nc_heap_of_word(nc_port_self_get());

	if (NC_UNLIKELY(bytes - NC_GUARD_ZERO >= DIRECT_MAX + !NC_GUARD_ZERO))
		return nc_malloc_slow(bytes, heap);
	return malloc_from(
		heap, heap->direct[(bytes + NC_CANARY_BYTES + NC_GRAIN - 1) / NC_GRAIN],
		bytes);
}

/* The head's link is no index: its list ends here, or it was overwritten. */
NC_NOINLINE static void *nc_malloc_next(size_t bytes, struct nc_page *page,
                                        struct nc_heap *heap)
{
	uint8_t *block = page->head;

	if (block == (uint8_t *)&page->end_link) {
		if (!nc_heap_refill_current(heap, page))
			return nc_malloc_slow(bytes, heap);
		return malloc_from(heap, page, bytes);
	}
	uintptr_t i = page->head_idx;
	if (NC_UNLIKELY(next_of(page, block) != NC_REF_END ||
	                (NC_LIVE_BITMAP && !nc_page_live_set(page, i)))) {
		nc_page_report_link(page, block);
		nc_page_next_list(page); /* the rest of this list is lost */
		return nc_malloc_slow(bytes, heap);
	}
	nc_page_next_list(page);
	return hand_out(page, block, bytes);
}

/* A block of the class, by any way. */
static void *malloc_class(struct nc_heap *heap, unsigned class_idx, size_t bytes)
{
	struct nc_page *page = heap->pages[class_idx];

	if (page->head == (uint8_t *)&page->end_link) {
		nc_heap_reap_slow();
		page = nc_heap_page_slow(heap, class_idx);
		if (!page) {
			nc_heap_trim(heap);
			nc_large_trim();
			page = nc_heap_page_slow(heap, class_idx);
		}
		if (!page) {
			errno = ENOMEM;
			return NULL;
		}
	}
	return malloc_from(heap, page, bytes);
}

/* For a heap's thread, or for one past its exit. */
static void *malloc_any_thread(struct nc_heap *heap, unsigned class_idx, size_t bytes)
{
	if (NC_LIKELY(nc_heap_is_word(nc_heap_word(heap))))
		return malloc_class(heap, class_idx, bytes);
	heap = nc_heap_enter();
	if (heap)
		return malloc_class(heap, class_idx, bytes);
	if (!nc_port_self_get()) {
		errno = ENOMEM;
		return NULL;
	}
	heap = nc_heap_late_take();
	void *p = heap ? malloc_class(heap, class_idx, bytes) : NULL;
	nc_heap_late_give();
	if (!p)
		errno = ENOMEM;
	return p;
}

static void *malloc_large(size_t bytes, size_t align, bool *zero)
{
	nc_arena_init();
	void *p = nc_large_take(bytes, align, zero);
	uintptr_t word = nc_port_self_get();
	if (!p && bytes <= (size_t)PTRDIFF_MAX && nc_heap_is_word(word)) {
		nc_heap_trim(nc_heap_of_word(word));
		p = nc_large_take(bytes, align, zero);
	}
	if (!p)
		errno = ENOMEM;
	return p;
}

NC_NOINLINE static void *nc_malloc_slow(size_t bytes, struct nc_heap *heap)
{
	if (NC_UNLIKELY(bytes > SMALL_MAX))
		return malloc_large(bytes, NC_GRAIN, NULL);
	if (NC_GUARD_ZERO && !bytes) {
		nc_arena_init();
		void *p = nc_zero_take();
		if (p)
			return p;
	}
	return malloc_any_thread(heap, nc_class_of(nc_max(bytes + NC_CANARY_BYTES, 1)),
	                         bytes);
}

/* Of a small block that was live. False: it is not any more, its owner has just freed
 * it, and what a wipe leaves behind the end is no overflow. */
static bool report_if_overrun(const struct nc_page *page, const void *p, uintptr_t i)
{
	if (nc_page_is_intact(page, p))
		return true;
	if (!nc_page_is_live(page, i))
		return false;
	nc_page_report_overflow(p, page);
	return true;
}

NC_NOINLINE static void nc_free_slow(void *p, struct nc_page *page)
{
	uintptr_t i = nc_page_index(page, p);

	if (!p || (i < page->block_count && nc_remote_free_noted(page, i, p)))
		return;
	int saved = errno;
	if (i >= page->block_count) {
		if (page == &nc_page_freed)
			nc_page_report_double_free(page, p);
		else
			nc_page_report_invalid(page, p, "free");
	} else if (nc_load_relaxed(&page->x_owner) == NC_LARGE) {
		nc_large_give(page, p);
	} else if (NC_GUARD_ZERO && nc_load_relaxed(&page->x_owner) == NC_ZERO) {
		nc_zero_give(page, p);
	} else if (NC_LIVE_BITMAP && !nc_page_is_live(page, i)) {
		nc_page_report_double_free(page, p);
	} else {
		if (!nc_page_is_claimed(page, i))
			report_if_overrun(page, p, i);
		nc_heap_reap_slow();
		nc_remote_or_owner_free(page, i, p);
	}
	errno = saved;
}

/* The free that made its page's count run out. */
NC_NOINLINE static void nc_free_last(void *p, struct nc_page *page)
{
	int saved = errno;

	(void)p; /* the arguments stay where nc_free has them */
	nc_heap_page_emptied(nc_heap_of_word(nc_port_self_get()), page);
	errno = saved;
}

NC_INLINE void free_in(struct nc_page *page, void *p)
{
	uintptr_t i = nc_page_index(page, p);

	if (NC_UNLIKELY((NC_CHECK_START && i >= page->block_count) ||
	                nc_load_relaxed(&page->x_owner) != nc_port_self_get()))
		return nc_free_slow(p, page);
	if (NC_LIVE_BITMAP && NC_UNLIKELY(!nc_page_live_clear(page, i)))
		return nc_free_slow(p, page);
	if (NC_UNLIKELY(!nc_page_is_intact(page, p)))
		return nc_page_report_overflow(p, page);
	nc_page_wipe(page, p);
	if (NC_QUARANTINE)
		return nc_heap_put_off(nc_heap_of_word(nc_port_self_get()), page, p);
	if (NC_UNLIKELY(nc_heap_push_freed(page, p, i)))
		nc_free_last(p, page);
}

void nc_free(void *p)
{
	free_in(nc_page_find(p), p);
}

void *nc_calloc(size_t count, size_t bytes)
{
	size_t total;
	bool zero = false;

	if (NC_UNLIKELY(__builtin_mul_overflow(count, bytes, &total))) {
		errno = ENOMEM;
		return NULL;
	}
	void *p = total > SMALL_MAX ? malloc_large(total, NC_GRAIN, &zero)
	                            : nc_malloc(total);
	if (p && !zero && !(NC_WIPE && total <= SMALL_MAX))
		__builtin_memset(p, 0, total);
	return p;
}

/* The page of a live block that starts at p; reports otherwise, and is NULL
 * where a test lets it go on. */
static struct nc_page *page_of_live(void *p, const char *call)
{
	struct nc_page *page = nc_page_find(p);
	uintptr_t i = nc_page_index(page, p);

	if (NC_LIKELY(i < page->block_count && nc_page_is_live(page, i) &&
	              !nc_page_is_claimed(page, i)))
		return page;
	nc_page_report_invalid(page, p, call);
	return NULL;
}

/* Whether a small block stays when its size becomes this. */
static bool stays(const struct nc_page *page, size_t bytes)
{
	size_t room = nc_page_room(page);

	if (bytes > room || (NC_GUARD_ZERO && !bytes))
		return false;
	return nc_class_of(nc_max(bytes + NC_CANARY_BYTES, 1)) == page->class_idx ||
	       (nc_load_relaxed(&page->x_roomy) && bytes >= room / 2);
}

/* The block stays, and is of another size now. */
static void *resize_in_place(const struct nc_page *page, uint8_t *block, size_t old,
                             size_t bytes)
{
	if (!NC_SLACK)
		return block;
	if (NC_CHECK_EXIT) {
		nc_store_relaxed(&nc_page_changing, block);
		nc_signal_fence();
	}
	/* What showed overflows is no business of the program's. */
	if (bytes > old)
		__builtin_memset(block + old, 0, bytes - old);
	nc_page_arm(page, block, bytes, true);
	if (NC_CHECK_EXIT) {
		nc_signal_fence();
		nc_store_relaxed(&nc_page_changing, NULL);
	}
	return block;
}

/* A block that grows by small steps gets room for more of them, or it would move at
 * each class. Sizes given to frees of that page's blocks may then be smaller. */
static void *malloc_to_grow(size_t old, size_t bytes)
{
	size_t room = nc_min(old + old / 2, SMALL_MAX);
	void *p = NULL;

	if (old >= ROOM_FROM_BYTES && bytes > old && bytes - old <= old / 4 &&
	    bytes < room)
		p = nc_malloc(room);
	if (!p)
		return nc_malloc(bytes);
	struct nc_page *page = nc_page_find(p);
	nc_store_relaxed(&page->x_roomy, 1);
	return resize_in_place(page, p, room, bytes);
}

static size_t usable(const struct nc_page *page, const void *p)
{
	uintptr_t owner = nc_load_relaxed(&page->x_owner);

	if (NC_GUARD_ZERO && owner == NC_ZERO)
		return 0;
	return owner == NC_LARGE ? nc_large_usable(page) : nc_page_usable(page, p);
}

void *nc_realloc(void *p, size_t bytes)
{
	if (!p)
		return nc_malloc(bytes);
	if (!bytes && NC_REALLOC_ZERO_FREES) {
		nc_free(p);
		return NULL;
	}
	struct nc_page *page = page_of_live(p, "realloc");
	if (!page)
		return NULL;
	bool large = nc_load_relaxed(&page->x_owner) == NC_LARGE;
	if (NC_GUARD_ZERO && nc_load_relaxed(&page->x_owner) == NC_ZERO) {
		void *other = nc_malloc(bytes);
		if (other)
			nc_free(p);
		return other;
	}
	if (large && !nc_large_is_intact(page))
		nc_page_report_overflow(p, page);
	if (!large && !report_if_overrun(page, p, nc_page_index(page, p))) {
		nc_page_report_invalid(page, p, "realloc");
		return NULL;
	}
	size_t old = usable(page, p);
	if (!large && stays(page, bytes))
		return resize_in_place(page, p, old, bytes);
	void *fresh;
	if (large && bytes > SMALL_MAX) {
		fresh = nc_large_resize(page, bytes);
		if (!fresh && bytes > old)
			errno = ENOMEM;
		if (fresh || bytes > old)
			return fresh;
	} else {
		fresh = malloc_to_grow(old, bytes);
	}
	if (!fresh) {
		if (bytes > old)
			return NULL;
		nc_store_relaxed(&page->x_roomy, 1);
		return large ? nc_large_resize_in_place(page, bytes)
		             : resize_in_place(page, p, old, bytes);
	}
	__builtin_memcpy(fresh, p, nc_min(old, bytes));
	nc_free(p);
	return fresh;
}

void *nc_reallocarray(void *p, size_t count, size_t bytes)
{
	size_t total;

	if (__builtin_mul_overflow(count, bytes, &total)) {
		errno = ENOMEM;
		return NULL;
	}
	return nc_realloc(p, total);
}

/* The least class whose blocks all lie at multiples of align; the count of
 * classes when such a block would be large. */
static unsigned aligned_class(size_t align, size_t bytes)
{
	if (bytes > SMALL_MAX || align > NC_SMALL_BYTES)
		return NC_CLASS_COUNT;
	unsigned c = nc_class_of(nc_max(bytes + NC_CANARY_BYTES, nc_max(align, 1)));
	while (c < NC_CLASS_COUNT && nc_class_bytes(c) & (align - 1))
		c++;
	return c;
}

static void *memalign_checked(size_t align, size_t bytes)
{
	if (align <= NC_GRAIN)
		return nc_malloc(bytes);
	unsigned c = aligned_class(align, bytes);
	if (c == NC_CLASS_COUNT)
		return malloc_large(bytes, align, NULL);
	return malloc_any_thread(nc_heap_of_word(nc_port_self_get()), c, bytes);
}

void *nc_memalign(size_t align, size_t bytes)
{
	if (!align || align & (align - 1)) {
		errno = EINVAL;
		return NULL;
	}
	return memalign_checked(align, bytes);
}

int nc_posix_memalign(void **out, size_t align, size_t bytes)
{
	int saved = errno;

	if (align < sizeof(void *) || align & (align - 1))
		return EINVAL;
	void *p = memalign_checked(align, bytes);
	errno = saved;
	if (!p)
		return ENOMEM;
	*out = p;
	return 0;
}

size_t nc_usable_size(void *p)
{
	if (!p)
		return 0;
	struct nc_page *page = page_of_live(p, "malloc_usable_size");
	return page ? usable(page, p) : 0;
}

/* Whether a block that was asked for with these can be this one. */
static bool size_holds(const struct nc_page *page, const void *p, size_t align,
                       size_t bytes)
{
	if (NC_SLACK) {
		size_t told = usable(page, p);
		if (told != bytes && told != NC_SLACK_BROKEN)
			return false; /* a broken one is left to the free to report */
	}
	if (NC_GUARD_ZERO && nc_load_relaxed(&page->x_owner) == NC_ZERO)
		return bytes == 0 && align <= NC_GRAIN;
	if (nc_load_relaxed(&page->x_roomy))
		return bytes <= nc_page_room(page);
	if (nc_load_relaxed(&page->x_owner) == NC_LARGE)
		return page->requested == bytes &&
		       !((uintptr_t)page->start & (align - 1));
	return aligned_class(align, bytes) == page->class_idx;
}

void nc_free_aligned_sized(void *p, size_t align, size_t bytes)
{
	struct nc_page *page = nc_page_find(p);

	/* What is no live block's start is left to the free to report. */
	if (NC_CHECK_SIZE && p) {
		uintptr_t i = nc_page_index(page, p);
		if (i < page->block_count && nc_page_is_live(page, i) &&
		    (!align || align & (align - 1) || !size_holds(page, p, align, bytes)))
			nc_report(
				NC_SIZE_MISMATCH,
				"size mismatch in free of %p (block of %z bytes, given size "
				"%z, alignment %z)",
				p, page->block_bytes, bytes, align);
	}
	free_in(page, p);
}

void nc_free_sized(void *p, size_t bytes)
{
	nc_free_aligned_sized(p, NC_GRAIN, bytes);
}

bool nc_trim(void)
{
	struct nc_heap *heap = nc_heap_of_word(nc_port_self_get());

	if (nc_heap_is_word(nc_heap_word(heap)))
		nc_heap_trim(heap);
	nc_large_trim();
	nc_arena_trim();
	return true;
}

#ifdef NC_PUBLIC_NAMES
#include "names.h"
#endif
