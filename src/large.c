#include "large.h"
#include "meta.h"

#define LET_GO_COUNT 8

static struct {
	struct nc_page *cached[NC_LARGE_CACHE_COUNT]; /* oldest first */
	size_t cached_count, cached_bytes;
	size_t bound;                /* of cached_bytes, less NC_LARGE_CACHE_MIN_BYTES */
	size_t let_go[LET_GO_COUNT]; /* sizes of the last ones that were not kept */
	size_t let_go_at;
	size_t live_blocks, live_bytes;
	size_t mapped_bytes; /* of mappings of their own */
	struct nc_random random;
	bool seeded;
} large;

static void seed_locked(void)
{
	if (!large.seeded)
		nc_random_init(&large.random);
	large.seeded = true;
}

static void init_keys(struct nc_page *page)
{
	nc_lock_take(&nc_core_lock);
	seed_locked();
	page->keys.mask = (uintptr_t)nc_random_u64(&large.random);
	page->keys.factor = (uintptr_t)nc_random_u64(&large.random) | 1;
	page->canary_key = nc_random_u32(&large.random);
	page->slack_key = nc_random_u64(&large.random);
	nc_lock_give(&nc_core_lock);
}

/* A mapping of whole slices at a slice's start. */
static uint8_t *map_slices(size_t bytes)
{
	uint8_t *p = nc_port_map(bytes);

	if (!p || (uintptr_t)p % NC_SLICE_BYTES == 0)
		return p;
	nc_port_unmap(p, bytes);
	p = nc_port_map(bytes + NC_SLICE_BYTES);
	if (!p)
		return NULL;
	size_t before = nc_align_up((uintptr_t)p, NC_SLICE_BYTES) - (uintptr_t)p;
	if (before)
		nc_port_unmap(p, before);
	if (NC_SLICE_BYTES - before)
		nc_port_unmap(p + before + bytes, NC_SLICE_BYTES - before);
	return p + before;
}

static uint8_t *tail_of(const struct nc_page *page)
{
	return page->run + (page->slice_count << NC_SLICE_SHIFT) - nc_os_page;
}

/* Of the address space on either side that a run has, this much is a guard. */
static size_t guard_bytes(const uint8_t *from, const uint8_t *to)
{
	return NC_GUARD_RANDOM
	               ? nc_min((size_t)(to - from), NC_GUARD_RANDOM_PAGES * nc_os_page)
	               : nc_os_page;
}

static size_t low_bytes(const struct nc_page *page)
{
	return guard_bytes(page->run, page->start);
}

static size_t high_bytes(const struct nc_page *page)
{
	return guard_bytes(page->start + page->block_bytes,
	                   tail_of(page) + (page->own_map ? nc_os_page : 0));
}

/* A guard right behind the block. That at the tail of an arena's run is there
 * already (or could not be had). */
static void guard_end(struct nc_page *page)
{
	uint8_t *end = page->start + page->block_bytes;

	page->guarded = page->tail_guarded && end == tail_of(page);
	page->guard_high = NC_GUARD_NONE;
	if (NC_GUARD && (page->own_map || end != tail_of(page))) {
		page->guard_high = nc_port_guard(end, high_bytes(page));
		page->guarded = page->guard_high != NC_GUARD_NONE;
	}
}

static void guard_start(struct nc_page *page)
{
	size_t bytes = low_bytes(page);

	page->guard_low =
		NC_GUARD ? nc_port_guard(page->start - bytes, bytes) : NC_GUARD_NONE;
}

static bool lift_guards(struct nc_page *page)
{
	return nc_port_unguard(page->start - low_bytes(page), low_bytes(page),
	                       page->guard_low) &&
	       nc_port_unguard(page->start + page->block_bytes, high_bytes(page),
	                       page->guard_high);
}

static void guards_gone(const struct nc_page *page)
{
	nc_port_guard_gone(page->guard_low);
	nc_port_guard_gone(page->guard_high);
}

/* Bytes in whole system pages, `most` at most. */
static size_t random_pages(size_t most)
{
	nc_lock_take(&nc_core_lock);
	seed_locked();
	uint32_t pages =
		nc_random_below(&large.random, (uint32_t)(most / nc_os_page + 1));
	nc_lock_give(&nc_core_lock);
	return pages * nc_os_page;
}

/* What is asked of a block. */
struct wish {
	size_t bytes, align;
	size_t reserve; /* address space behind it to grow into */
	bool map_soon;  /* a mapping rather than a run of an arena */
};

static bool take_run(struct nc_page *page, const struct wish *wish, size_t reserve,
                     struct nc_run_state *state)
{
	size_t block_bytes = page->block_bytes, align = wish->align;
	size_t slack = align > nc_os_page ? align : 0;
	size_t spread = NC_GUARD_RANDOM ? nc_min(block_bytes / 8, NC_SLICE_BYTES) : 0;
	size_t total = block_bytes + reserve + 2 * nc_os_page + slack + spread;

	if (total < block_bytes || total > PTRDIFF_MAX - NC_SLICE_BYTES)
		return false;
	page->slice_count = nc_align_up(total, NC_SLICE_BYTES) >> NC_SLICE_SHIFT;
	size_t bytes = page->slice_count << NC_SLICE_SHIFT;
	if (NC_GUARD_RANDOM)
		spread = random_pages(bytes - total + spread);
	page->own_map =
		bytes > (wish->map_soon ? NC_OWN_MAP_SOON_BYTES : NC_OWN_MAP_BYTES);
	if (page->own_map) {
		page->run = map_slices(bytes);
		state->zero = true;
		state->guarded = false;
	} else {
		page->run = nc_arena_take(page->slice_count, state);
	}
	if (!page->run && page->own_map) {
		/* No address space: perhaps an arena has some left. */
		page->own_map = false;
		page->run = nc_arena_take(page->slice_count, state);
	}
	if (!page->run)
		return false;
	page->start = (uint8_t *)nc_align_down((uintptr_t)page->run + bytes - nc_os_page -
	                                               block_bytes - reserve - spread,
	                                       align);
	return true;
}

/* Enter the block into the page map. */
static bool publish(struct nc_page *page)
{
	nc_lock_take(&nc_core_lock);
	bool ok = !page->own_map ||
	          nc_pagemap_grow_locked(page->run, page->slice_count << NC_SLICE_SHIFT);
	if (ok) {
		nc_pagemap_set_locked(page->run, page->slice_count, page);
		large.live_blocks++;
		large.live_bytes += page->block_bytes;
		if (page->own_map)
			large.mapped_bytes += page->slice_count << NC_SLICE_SHIFT;
	}
	nc_lock_give(&nc_core_lock);
	return ok;
}

/* Whether a block of `has` bytes may serve for one of `want`. */
static bool serves(size_t has, size_t want)
{
	return has >= want && has - want <= want / 4;
}

/* A block is asked for and none is cached: had we kept one, it would be. A
 * program that only grows its blocks never gets here. */
static void regret_locked(size_t want)
{
	for (size_t i = 0; i < LET_GO_COUNT; i++) {
		if (!serves(large.let_go[i], want))
			continue;
		large.bound = nc_min(large.bound + large.let_go[i],
		                     NC_LARGE_CACHE_BYTES - NC_LARGE_CACHE_MIN_BYTES);
		large.let_go[i] = 0;
		return;
	}
}

/* Take a cached block of about this size. */
static struct nc_page *from_cache(size_t block_bytes, size_t align)
{
	size_t best = NC_LARGE_CACHE_COUNT;

	if (NC_GUARD_FREED)
		return NULL;
	nc_lock_take(&nc_core_lock);
	for (size_t i = large.cached_count; i-- > 0;) {
		struct nc_page *page = large.cached[i];
		if (serves(page->block_bytes, block_bytes) &&
		    !((uintptr_t)page->start & (align - 1)) &&
		    (best == NC_LARGE_CACHE_COUNT ||
		     page->block_bytes < large.cached[best]->block_bytes))
			best = i;
	}
	struct nc_page *page = NULL;
	if (best < NC_LARGE_CACHE_COUNT) {
		page = large.cached[best];
		large.cached_count--;
		for (size_t i = best; i < large.cached_count; i++)
			large.cached[i] = large.cached[i + 1];
		large.cached_bytes -= page->block_bytes;
		large.live_blocks++;
		large.live_bytes += page->block_bytes;
	} else {
		regret_locked(block_bytes);
	}
	nc_lock_give(&nc_core_lock);
	return page;
}

/* What the first word of a cached block holds: a write after the free is found
 * when the block is handed out again. */
static uintptr_t freed_mark(const struct nc_page *page)
{
	return ((uintptr_t)page->start ^ page->keys.mask) * page->keys.factor;
}

static void arm(const struct nc_page *page)
{
	if (NC_SLACK || !page->guarded)
		nc_page_arm(page, page->start, page->requested, true);
}

bool nc_large_is_intact(const struct nc_page *page)
{
	if (NC_SLACK)
		return nc_page_usable(page, page->start) == page->requested;
	return page->guarded || nc_page_is_intact(page, page->start);
}

size_t nc_large_usable(const struct nc_page *page)
{
	return NC_SLACK ? page->requested : nc_page_room(page);
}

void *nc_large_resize_in_place(struct nc_page *page, size_t bytes)
{
	size_t old = page->requested;

	page->requested = bytes;
	if (NC_SLACK && bytes > old)
		__builtin_memset(page->start + old, 0, bytes - old);
	if (NC_SLACK)
		arm(page);
	return page->start;
}

static void make_live(struct nc_page *page, size_t requested, size_t align)
{
	page->requested = requested;
	page->align = align;
	nc_store_relaxed(&page->x_roomy, 0);
	arm(page);
	/* Live before the claim is gone: who finds no claim finds it live. */
	nc_store_relaxed(&page->x_live[0], 1);
	uintptr_t old = nc_load_relaxed(&page->x_claims[0]);
	nc_store_release(&page->x_claims[0], (old & ~NC_CLAIM_MASK) + NC_CLAIM_MASK + 1);
}

static void *take(const struct wish *wish, bool *zero)
{
	size_t bytes = wish->bytes, align = wish->align;

	if (bytes > (size_t)PTRDIFF_MAX - NC_CANARY_BYTES)
		return NULL;
	size_t block_bytes = nc_large_bytes(bytes + NC_CANARY_BYTES);
	if (!block_bytes)
		return NULL;
	struct nc_page *page = from_cache(block_bytes, align);
	if (page) {
		if (NC_LINK_ENCODE && *(nc_word_t *)page->start != freed_mark(page))
			nc_page_report_link(page, page->start);
		if (zero)
			*zero = false;
		page->fresh_zero = false;
		make_live(page, bytes, align);
		return page->start;
	}
	page = nc_page_describe(NC_CLASS_LARGE, 1);
	if (!page)
		return NULL;
	struct nc_run_state state;
	page->block_bytes = block_bytes;
	if (!take_run(page, wish, wish->reserve, &state) &&
	    (!wish->reserve || !take_run(page, wish, 0, &state))) {
		nc_large_trim();
		nc_arena_shrink();
		if (!take_run(page, wish, 0, &state)) {
			nc_page_forget(page);
			return NULL;
		}
	}
	if (zero)
		*zero = state.zero;
	page->fresh_zero = state.zero;
	page->block_count = page->extended = 1;
	page->first = 0;
	page->step = 1;
	page->divide_inverse = 1;
	page->divide_shift = 0;
	init_keys(page);
	page->guard_freed = NC_GUARD_NONE;
	page->covered = false;
	nc_store_release(&page->x_owner, NC_LARGE);
	guard_start(page);
	page->tail_guarded = state.guarded;
	guard_end(page);
	if (!publish(page)) {
		nc_port_unmap(page->run, page->slice_count << NC_SLICE_SHIFT);
		guards_gone(page);
		nc_page_forget(page);
		return NULL;
	}
	make_live(page, bytes, align);
	return page->start;
}

void *nc_large_take(size_t bytes, size_t align, bool *zero)
{
	return take(&(struct wish){ .bytes = bytes, .align = align, .map_soon = zero },
	            zero);
}

bool nc_large_reads_zero(const struct nc_page *page)
{
	return nc_load_relaxed(&page->x_owner) == NC_LARGE && page->fresh_zero;
}

/* Take a mapping out of the page map, before its addresses can be somebody
 * else's. */
static void unpublish(struct nc_page *page)
{
	nc_lock_take(&nc_core_lock);
	/* The slice of the block's start keeps a mark, and has one at any moment: a
	 * second free meets the page, or the mark. */
	size_t at = (size_t)(page->start - page->run) >> NC_SLICE_SHIFT;
	uint8_t *slice = page->run + (at << NC_SLICE_SHIFT);
	nc_pagemap_set_locked(slice, 1, &nc_page_freed);
	nc_pagemap_set_locked(page->run, at, NULL);
	nc_pagemap_set_locked(slice + NC_SLICE_BYTES, page->slice_count - at - 1, NULL);
	large.mapped_bytes -= page->slice_count << NC_SLICE_SHIFT;
	nc_lock_give(&nc_core_lock);
}

/* The system may have no mapping left to split one: then the address range is
 * lost, but not its memory. */
static void unmap(uint8_t *p, size_t bytes)
{
	if (bytes && !nc_port_unmap(p, bytes))
		nc_port_purge(p, bytes);
}

/* What is a guard once the block is freed: of an arena's run all but its tail, so that no
 * memory is left in it. */
static uint8_t *cover_start(const struct nc_page *page)
{
	return page->own_map ? page->start : page->run;
}

static size_t cover_bytes(const struct nc_page *page)
{
	return page->own_map ? page->block_bytes : (size_t)(tail_of(page) - page->run);
}

/* A freed block's content goes, and so does, where the system can, the way to it. */
static void cover(struct nc_page *page)
{
	uint8_t *p = cover_start(page);

	page->covered = true;
	page->guard_freed = nc_port_guard(p, cover_bytes(page));
	if (page->guard_freed != NC_GUARD_MARK && !nc_port_purge(p, cover_bytes(page)) &&
	    page->guard_freed == NC_GUARD_NONE)
		__builtin_memset(page->start, 0, page->block_bytes);
	if (!page->own_map)
		nc_arena_uncount(page->slice_count);
}

static bool uncover(struct nc_page *page)
{
	if (!page->covered)
		return true;
	nc_arena_recount(page->slice_count);
	/* What the kernel marked before lies in what it marked then. */
	if (page->guard_freed == NC_GUARD_MARK && page->guard_low == NC_GUARD_MARK)
		page->guard_low = NC_GUARD_NONE;
	if (page->guard_freed == NC_GUARD_MARK && page->guard_high == NC_GUARD_MARK)
		page->guard_high = NC_GUARD_NONE;
	return nc_port_unguard(cover_start(page), cover_bytes(page), page->guard_freed);
}

/* Back to the system or to the arena. The page is in no list and not live. */
static void release(struct nc_page *page)
{
	if (page->own_map) {
		unpublish(page);
		unmap(page->run, page->slice_count << NC_SLICE_SHIFT);
		guards_gone(page);
		nc_port_guard_gone(page->guard_freed);
	} else {
		if (!uncover(page) || !lift_guards(page))
			return;
		nc_arena_publish(page->run, page->slice_count, &nc_page_freed);
		/* The first page becomes a guard where it is a slice's last, as it is
		 * in all of these but the aligned ones: a write after free is seen. */
		if (!NC_GUARD_RANDOM &&
		    page->slice_count << NC_SLICE_SHIFT > NC_OWN_MAP_SOON_BYTES &&
		    (size_t)(page->start - page->run) == NC_SLICE_BYTES - nc_os_page)
			nc_arena_seal(page->run);
		nc_arena_give(page->run, page->slice_count,
		              page->guard_freed != NC_GUARD_MARK);
	}
	nc_page_forget(page);
}

static void count_dead_locked(const struct nc_page *page)
{
	large.live_blocks--;
	large.live_bytes -= page->block_bytes;
}

/* Keep a freed block, or give it and what is too old back. */
static void to_cache(struct nc_page *page)
{
	struct nc_page *out[NC_LARGE_CACHE_COUNT + 1];
	size_t out_count = 0;

	if (NC_GUARD_FREED && page->block_bytes <= NC_LARGE_CACHE_BYTES)
		cover(page);
	nc_lock_take(&nc_core_lock);
	count_dead_locked(page);
	size_t bound = NC_GUARD_FREED ? NC_LARGE_CACHE_BYTES
	                              : NC_LARGE_CACHE_MIN_BYTES + large.bound;
	size_t drop = 0;
	bool keep = page->block_bytes <= bound;
	while (keep && drop < large.cached_count &&
	       (large.cached_count - drop == NC_LARGE_CACHE_COUNT ||
	        large.cached_bytes + page->block_bytes > bound)) {
		large.cached_bytes -= large.cached[drop]->block_bytes;
		out[out_count++] = large.cached[drop++];
	}
	large.cached_count -= drop;
	for (size_t i = 0; drop && i < large.cached_count; i++)
		large.cached[i] = large.cached[i + drop];
	if (keep) {
		if (NC_LINK_ENCODE && !NC_GUARD_FREED)
			*(nc_word_t *)page->start = freed_mark(page);
		large.cached[large.cached_count++] = page;
		large.cached_bytes += page->block_bytes;
	} else {
		out[out_count++] = page;
	}
	for (size_t i = 0; i < out_count; i++)
		large.let_go[large.let_go_at++ % LET_GO_COUNT] = out[i]->block_bytes;
	nc_lock_give(&nc_core_lock);
	for (size_t i = 0; i < out_count; i++)
		release(out[i]);
}

/* Exactly one of several frees gets the block: as in remote_free, the claim word
 * is loaded first, so that whatever happens to the page after makes the claim
 * fail. */
static bool claim(struct nc_page *page, const void *p)
{
	uintptr_t seen;

	do {
		seen = nc_load_acquire(&page->x_claims[0]);
		if (NC_UNLIKELY(nc_page_find(p) != page)) {
			nc_page_report_double_free(&nc_page_freed, p);
			return false;
		}
		if (NC_UNLIKELY((seen & NC_CLAIM_MASK) || !nc_page_is_live(page, 0))) {
			nc_page_report_double_free(page, p);
			return false;
		}
	} while (!nc_cas(&page->x_claims[0], &seen, seen | 1));
	nc_store_relaxed(&page->x_live[0], 0);
	if (!nc_large_is_intact(page))
		nc_page_report_overflow(page->start, page);
	return true;
}

void nc_large_give(struct nc_page *page, const void *p)
{
	if (claim(page, p))
		to_cache(page);
}

/* Move the memory of a dead block into that of another one, and be rid of the
 * rest. False: nothing changed. */
static bool move_memory(struct nc_page *page, struct nc_page *to)
{
	size_t bytes = nc_min(page->block_bytes, to->block_bytes);
	uint8_t *end = page->run + (page->slice_count << NC_SLICE_SHIFT);

	if (!page->own_map || !to->own_map || !to->guarded)
		return false;
	unpublish(page);
	/* With all that it may grow into, or it would be two mappings, and could not
	 * be moved the next time. */
	size_t room = (size_t)(to->run + (to->slice_count << NC_SLICE_SHIFT) - to->start);
	bool moved = nc_port_move(page->start, bytes, to->start, room);
	nc_port_guard_gone(to->guard_high);
	guard_end(to);
	arm(to);
	if (!moved) {
		nc_lock_take(&nc_core_lock);
		nc_pagemap_set_locked(page->run, page->slice_count, page);
		large.mapped_bytes += page->slice_count << NC_SLICE_SHIFT;
		nc_lock_give(&nc_core_lock);
		return false;
	}
	/* What was moved is a hole now, which may be another's already. */
	unmap(page->run, (size_t)(page->start - page->run));
	unmap(page->start + bytes, (size_t)(end - page->start) - bytes);
	guards_gone(page);
	nc_lock_take(&nc_core_lock);
	count_dead_locked(page);
	nc_lock_give(&nc_core_lock);
	nc_page_forget(page);
	return true;
}

/* The claimed block gets larger where it is, if its run has room or can be made
 * longer. */
static bool extend(struct nc_page *page, size_t block_bytes)
{
	uint8_t *old_end = page->start + page->block_bytes;
	size_t slices =
		nc_align_up((size_t)(page->start - page->run) + block_bytes + nc_os_page,
	                    NC_SLICE_BYTES) >>
		NC_SLICE_SHIFT;
	size_t more = slices - nc_min(page->slice_count, slices);
	size_t high = high_bytes(page);
	size_t most = page->slice_count << NC_SLICE_SHIFT > NC_OWN_MAP_SOON_BYTES
	                      ? NC_OWN_MAP_BYTES
	                      : NC_OWN_MAP_SOON_BYTES;

	if (more &&
	    (page->own_map || slices << NC_SLICE_SHIFT > most ||
	     !nc_arena_extend(page->run, page->slice_count, more, &page->tail_guarded)))
		return false;
	nc_lock_take(&nc_core_lock);
	nc_pagemap_set_locked(page->run + (page->slice_count << NC_SLICE_SHIFT), more,
	                      page);
	page->slice_count += more;
	nc_lock_give(&nc_core_lock);
	if (!nc_port_unguard(old_end, high, page->guard_high))
		return false;
	if (NC_SLACK)
		__builtin_memset(page->start + page->requested, 0,
		                 page->block_bytes - page->requested);
	nc_lock_take(&nc_core_lock);
	large.live_bytes += block_bytes - page->block_bytes;
	page->block_bytes = block_bytes;
	nc_lock_give(&nc_core_lock);
	guard_end(page);
	return true;
}

void *nc_large_resize(struct nc_page *page, size_t bytes)
{
	if (bytes <= nc_page_room(page) && bytes >= page->block_bytes / 2)
		return nc_large_resize_in_place(page, bytes);
	size_t block_bytes = 0;
	if (bytes > page->block_bytes && bytes <= (size_t)PTRDIFF_MAX - NC_CANARY_BYTES)
		block_bytes = nc_large_bytes(bytes + NC_CANARY_BYTES);
	if (block_bytes) {
		if (!claim(page, page->start))
			return page->start;
		bool grown = extend(page, block_bytes);
		make_live(page, grown ? bytes : page->requested, page->align);
		if (grown)
			return page->start;
	}
	/* What grew once grows again: the reserve is address space, not memory. */
	struct wish wish = { .bytes = bytes, .align = NC_GRAIN };
	wish.reserve =
		nc_align_down(nc_min(block_bytes / 2, NC_ARENA_MAX_BYTES), nc_os_page);
	wish.map_soon = block_bytes != 0;
	uint8_t *fresh = take(&wish, NULL);
	if (!fresh)
		return NULL;
	struct nc_page *to = nc_page_find(fresh);
	if (!claim(page, page->start)) {
		nc_large_give(to, fresh);
		return page->start;
	}
	if (move_memory(page, to))
		return fresh;
	__builtin_memcpy(fresh, page->start, nc_min(bytes, nc_large_usable(page)));
	to_cache(page);
	return fresh;
}

void nc_large_trim(void)
{
	struct nc_page *out[NC_LARGE_CACHE_COUNT];

	nc_lock_take(&nc_core_lock);
	size_t n = large.cached_count;
	for (size_t i = 0; i < n; i++)
		out[i] = large.cached[i];
	large.cached_count = large.cached_bytes = 0;
	nc_lock_give(&nc_core_lock);
	for (size_t i = 0; i < n; i++)
		release(out[i]);
}

void nc_large_figures_locked(struct nc_large_figures *out)
{
	out->live_blocks = large.live_blocks;
	out->live_bytes = large.live_bytes;
	out->cached_bytes = large.cached_bytes;
	out->mapped_bytes = large.mapped_bytes;
}
