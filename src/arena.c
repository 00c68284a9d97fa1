#include "arena.h"
#include "meta.h"
#include "slices.h"

struct nc_arena {
	struct nc_arena *next;
	uintptr_t base;
	struct nc_slices slices;
	bool long_runs; /* above SHORT_RUN slices; huge pages may back it */
	void *map;      /* what was mapped for it; NULL if it must stay */
	size_t map_bytes;
	uintptr_t words[];
};

/* Longer runs have arenas of their own. There the system may use huge pages, which among
 * small blocks would make memory resident that nothing asked for; and what was a large
 * block's is no small ones' at once, so that a stale pointer to it is still seen as one.
 * They are put where many of their slices are resident, not only where all are. */
#define SHORT_RUN ((size_t)16)

/* Slices kept whether they serve or not. */
#define KEEP_ANYWAY ((size_t)16)

static struct {
	struct nc_arena *first;
	struct nc_arena *spare; /* descriptions of what was unmapped */
	size_t reserved_slices, used_slices, dirty_slices;
	size_t missed_slices; /* given to the system, and perhaps taken again soon */
	size_t extra_slices;  /* may stay dirty, since such were missed before */
	size_t peak_slices;   /* most that were in use or dirty */
} arenas;

static uint32_t x_ready;
static uintptr_t x_first_guard; /* behind the first metadata; not made yet */

/* A description that was in use and is large enough. */
static struct nc_arena *spare_locked(size_t words)
{
	struct nc_arena **at = &arenas.spare, *a;

	while (*at && (*at)->slices.word_count < words)
		at = &(*at)->next;
	a = *at;
	if (a) {
		*at = a->next;
		__builtin_memset(a->words, 0,
		                 NC_SLICES_MAPS * a->slices.word_count *
		                         sizeof *a->words);
	}
	return a;
}

static struct nc_arena *describe_locked(uintptr_t base, size_t slices)
{
	size_t words = nc_slices_words(slices);
	struct nc_arena *a = spare_locked(words);

	if (a)
		words = a->slices.word_count;
	else
		a = nc_meta_take_locked(sizeof *a +
		                        NC_SLICES_MAPS * words * sizeof *a->words);
	if (!a)
		return NULL;
	nc_slices_init(&a->slices, slices, a->words, words);
	a->base = base;
	a->long_runs = false;
	a->map = NULL;
	return a;
}

static void enter_locked(struct nc_arena *a)
{
	a->next = arenas.first;
	arenas.first = a;
	arenas.reserved_slices += a->slices.count;
}

/* A new arena that holds a run of count slices; the step grows with use and is
 * halved as long as the system refuses it. */
static bool grow_locked(size_t count)
{
	size_t want = nc_max(nc_min(arenas.reserved_slices * NC_SLICE_BYTES / 2,
	                            NC_ARENA_MAX_BYTES),
	                     NC_ARENA_MIN_BYTES);
	size_t least = count * NC_SLICE_BYTES;

	want = nc_max(want, least);
	for (;; want = nc_max(want / 2 & ~(NC_SLICE_BYTES - 1), least)) {
		char *p = nc_port_map_small(want + NC_SLICE_BYTES);
		if (!p) {
			if (want == least)
				return false;
			continue;
		}
		char *base = (char *)nc_align_up((uintptr_t)p, NC_SLICE_BYTES);
		size_t bytes = base == p ? want + NC_SLICE_BYTES : want;
		struct nc_arena *a = NULL;
		if (nc_pagemap_grow_locked(base, bytes))
			a = describe_locked((uintptr_t)base, bytes >> NC_SLICE_SHIFT);
		if (!a) {
			nc_port_unmap(p, want + NC_SLICE_BYTES);
			return false;
		}
		a->long_runs = count > SHORT_RUN;
		if (!a->long_runs)
			nc_port_no_huge(base, bytes);
		a->map = p;
		a->map_bytes = want + NC_SLICE_BYTES;
		enter_locked(a);
		return true;
	}
}

/* Where resident slices make up most of a long run; NULL: nowhere any. */
static struct nc_arena *find_long_locked(size_t count, size_t *at)
{
	struct nc_arena *found = NULL;
	size_t best = 0;

	for (struct nc_arena *a = arenas.first; a; a = a->next) {
		if (a->slices.dirty_count > best && a->long_runs &&
		    nc_slices_find_better(&a->slices, count, &best, at))
			found = a;
	}
	return found;
}

static struct nc_arena *find_first_locked(size_t count, bool dirty, bool long_runs,
                                          size_t *at)
{
	for (struct nc_arena *a = arenas.first; a; a = a->next) {
		if (a->long_runs != long_runs ||
		    (dirty ? a->slices.dirty_count : a->slices.free_count) < count)
			continue;
		*at = nc_slices_find(&a->slices, dirty, count);
		if (*at < a->slices.count)
			return a;
	}
	return NULL;
}

/* An arena with a run, and its index; resident slices come first. */
static struct nc_arena *find_locked(size_t count, size_t *at)
{
	bool is_long = count > SHORT_RUN;
	struct nc_arena *a = is_long ? find_long_locked(count, at)
	                             : find_first_locked(count, true, false, at);

	if (!a)
		a = find_first_locked(count, false, is_long, at);
	if (a)
		return a;
	if (grow_locked(count)) {
		*at = 0;
		return arenas.first;
	}
	/* No address space: what the others have left. */
	return find_first_locked(count, false, !is_long, at);
}

/* The first arena, laid out so that a program with one page of blocks makes three
 * system calls:
 *
 *     slice 0 | guard | leaf of the page map | first metadata | (guard) | slices
 *
 * The guard in parentheses is made when a slice behind it is taken. Where there is
 * no address space for that, each part finds its own, smaller. */
static void init_locked(void)
{
	char *p = nc_port_map_small(NC_ARENA_MIN_BYTES);

	if (!p)
		return;
	char *base = (char *)nc_align_up((uintptr_t)p, NC_SLICE_BYTES);
	char *leaf = base + nc_max(NC_SLICE_BYTES, nc_os_page), *end;
	size_t leaf_bytes = nc_align_up(NC_LEAF_BYTES, nc_os_page);
	size_t guard = NC_GUARD ? nc_os_page : 0;
	size_t slices = (size_t)(p + NC_ARENA_MIN_BYTES - base) >> NC_SLICE_SHIFT;

	/* The guard comes first: it makes huge pages impossible here. */
	enum nc_guard first =
		NC_GUARD ? nc_port_guard(leaf - nc_os_page, nc_os_page) : NC_GUARD_NONE;
	nc_port_no_huge(p, NC_ARENA_MIN_BYTES);
	end = (char *)nc_align_up((uintptr_t)leaf + leaf_bytes + NC_META_AREA_BYTES,
	                          nc_max(NC_SLICE_BYTES, nc_os_page));
	nc_pagemap_seed_locked(leaf, base);
	nc_meta_seed_locked(leaf + leaf_bytes, (size_t)(end - leaf) - leaf_bytes - guard);
	if (guard)
		nc_store_release(&x_first_guard, (uintptr_t)end - guard);
	/* Both succeed, but where the arena lies across two leaves. */
	struct nc_arena *a = describe_locked((uintptr_t)base, slices);
	if (!a || !nc_pagemap_grow_locked(base, slices << NC_SLICE_SHIFT))
		return;
	nc_slices_take(&a->slices, 1, ((size_t)(end - base) >> NC_SLICE_SHIFT) - 1);
	nc_slices_set_guard(&a->slices, 0, first);
	enter_locked(a);
}

void nc_arena_init(void)
{
	if (NC_LIKELY(nc_load_acquire(&x_ready)))
		return;
	nc_port_init();
	nc_lock_take(&nc_core_lock);
	if (!x_ready) {
		init_locked();
		nc_store_release(&x_ready, 1);
	}
	nc_lock_give(&nc_core_lock);
}

static void *slice_at(const struct nc_arena *a, size_t i)
{
	return (void *)(a->base + (i << NC_SLICE_SHIFT));
}

static void *tail_of(const struct nc_arena *a, size_t i)
{
	return (char *)slice_at(a, i + 1) - nc_os_page;
}

static bool lift_guard(const struct nc_arena *a, size_t i)
{
	if (!nc_port_unguard(tail_of(a, i), nc_os_page, nc_slices_guard(&a->slices, i)))
		return false;
	nc_slices_set_guard(&a->slices, i, NC_GUARD_NONE);
	return true;
}

/* Guards inside the run go, one at its end comes. False: a guard stays. */
static bool place_guards(const struct nc_arena *a, size_t at, size_t count)
{
	size_t last = at + count - 1;

	for (size_t i = at; i < last; i++) {
		if (nc_slices_guard(&a->slices, i) && !lift_guard(a, i))
			return false;
	}
	if (!nc_slices_guard(&a->slices, last))
		nc_slices_set_guard(&a->slices, last,
		                    nc_port_guard(tail_of(a, last), nc_os_page));
	return true;
}

/* Dirty slices that may stay. */
static size_t bound_locked(void)
{
	return (NC_DIRTY_MIN_BYTES >> NC_SLICE_SHIFT) +
	       (arenas.used_slices >> NC_DIRTY_SHIFT) + arenas.extra_slices;
}

/* Whoever gives slices to the system and soon takes as many again should have
 * kept them; whoever gives and does not take again, less. */
static void learn_taken_locked(size_t fresh)
{
	size_t missed = nc_min(fresh, arenas.missed_slices);

	arenas.missed_slices -= missed;
	arenas.extra_slices = nc_min(arenas.extra_slices + missed,
	                             NC_DIRTY_EXTRA_BYTES >> NC_SLICE_SHIFT);
}

static void learn_given_locked(size_t count)
{
	arenas.missed_slices = nc_min(arenas.missed_slices + count,
	                              NC_DIRTY_EXTRA_BYTES >> NC_SLICE_SHIFT);
	arenas.extra_slices -= nc_min(arenas.extra_slices, count / 8);
}

/* A run of at most `most` dirty free slices, taken out; its count, 0 if none. */
static size_t take_dirty_locked(size_t most, struct nc_arena **where, size_t *at)
{
	size_t n = 0;

	for (struct nc_arena *a = arenas.first; a && !n; a = a->next) {
		n = nc_slices_take_dirty(&a->slices, most, at);
		*where = a;
	}
	arenas.dirty_slices -= n;
	return n;
}

/* Slices that are neither free nor in use come back. */
static void put_locked(struct nc_arena *a, size_t at, size_t count, bool dirty)
{
	nc_slices_put(&a->slices, at, count, dirty);
	arenas.dirty_slices += dirty ? count : 0;
}

/* Slices go back to the system. What it does not take (it is locked) is wiped,
 * guard and all, and is as good as new from then on. False: a guard hinders. */
static bool purge_run(const struct nc_arena *a, size_t at, size_t count)
{
	bool gone = true;

	if (nc_port_purge(slice_at(a, at), count << NC_SLICE_SHIFT))
		return true;
	for (size_t i = at; i < at + count; i++) {
		if (nc_port_purge(slice_at(a, i), NC_SLICE_BYTES))
			continue;
		if (nc_slices_guard(&a->slices, i) && !lift_guard(a, i))
			gone = false;
		else
			__builtin_memset(slice_at(a, i), 0, NC_SLICE_BYTES);
	}
	return gone;
}

/* Give dirty slices to the system until no more than `keep` are left, but at
 * most `most`. */
static void purge_some(size_t most, size_t keep)
{
	struct nc_arena *a;
	size_t at, n;

	nc_lock_take(&nc_core_lock);
	while (most && arenas.dirty_slices > keep &&
	       (n = take_dirty_locked(most, &a, &at))) {
		nc_lock_give(&nc_core_lock);
		bool gone = purge_run(a, at, n);
		nc_lock_take(&nc_core_lock);
		put_locked(a, at, n, !gone);
		most -= n;
	}
	nc_lock_give(&nc_core_lock);
}

/* Dirty slices that may stay though they did not serve. */
static size_t kept_in_vain_locked(void)
{
	return KEEP_ANYWAY + (arenas.used_slices >> (NC_DIRTY_SHIFT + 1)) +
	       arenas.extra_slices / 2;
}

/* Slices were taken. Fresh ones while dirty ones did not serve make the process
 * larger than it ever was: by how much, which the system gets of the dirty ones. */
static size_t over_peak_locked(void)
{
	size_t now = arenas.used_slices + arenas.dirty_slices;
	size_t over = now - nc_min(now, arenas.peak_slices);

	over = nc_min(over, arenas.dirty_slices -
	                            nc_min(arenas.dirty_slices, kept_in_vain_locked()));
	arenas.peak_slices = nc_max(arenas.peak_slices, now - over);
	return over;
}

/* Free slices are taken; how many of them are dirty. */
static size_t take_locked(struct nc_arena *a, size_t at, size_t count)
{
	size_t dirty = nc_slices_take(&a->slices, at, count);

	arenas.dirty_slices -= dirty;
	arenas.used_slices += count;
	learn_taken_locked(count - dirty);
	return dirty;
}

void *nc_arena_take(size_t count, struct nc_run_state *state)
{
	size_t at = 0;

	nc_lock_take(&nc_core_lock);
	struct nc_arena *a = find_locked(count, &at);
	if (!a) {
		nc_lock_give(&nc_core_lock);
		return nc_arena_shrink() ? nc_arena_take(count, state) : NULL;
	}
	size_t dirty = take_locked(a, at, count);
	size_t over = over_peak_locked();
	nc_lock_give(&nc_core_lock);
	if (over)
		purge_some(over, 0);
	if (nc_load_relaxed(&x_first_guard) && at) {
		void *guard = (void *)nc_exchange(&x_first_guard, 0);
		if (guard)
			nc_port_guard(guard, nc_os_page);
	}
	state->zero = !dirty;
	state->guarded = false;
	if (!NC_GUARD)
		return slice_at(a, at);
	/* A guard that cannot be lifted makes the run useless: it is left out.
	 * This ends: a new arena has none. */
	if (!place_guards(a, at, count))
		return nc_arena_take(count, state);
	state->guarded = nc_slices_guard(&a->slices, at + count - 1) != NC_GUARD_NONE;
	return slice_at(a, at);
}

static struct nc_arena *arena_of_locked(const void *run)
{
	struct nc_arena *a = arenas.first;

	while ((uintptr_t)run - a->base >= a->slices.count << NC_SLICE_SHIFT)
		a = a->next;
	return a;
}

void nc_arena_give(void *run, size_t count, bool dirty)
{
	nc_lock_take(&nc_core_lock);
	struct nc_arena *a = arena_of_locked(run);
	arenas.used_slices -= count;
	put_locked(a, ((uintptr_t)run - a->base) >> NC_SLICE_SHIFT, count, dirty);
	size_t bound = bound_locked();
	bool over = arenas.dirty_slices > bound;
	/* More than came: as what is in use falls, what is kept falls too. */
	size_t most = 2 * count + 2;
	if (over)
		learn_given_locked(nc_min(most, arenas.dirty_slices - bound));
	nc_lock_give(&nc_core_lock);
	if (over)
		purge_some(most, bound);
}

bool nc_arena_extend(void *run, size_t count, size_t more, bool *guarded)
{
	nc_lock_take(&nc_core_lock);
	struct nc_arena *a = arena_of_locked(run);
	size_t at = (((uintptr_t)run - a->base) >> NC_SLICE_SHIFT) + count;
	bool free = nc_slices_are_free(&a->slices, at, more);
	size_t over = free ? (take_locked(a, at, more), over_peak_locked()) : 0;
	nc_lock_give(&nc_core_lock);
	if (over)
		purge_some(over, 0);
	if (!free)
		return false;
	*guarded = false;
	if (!NC_GUARD)
		return true;
	/* The guard between the two goes last: if it must stay, so does the run. */
	if (!place_guards(a, at, more) ||
	    (nc_slices_guard(&a->slices, at - 1) && !lift_guard(a, at - 1))) {
		nc_arena_give(slice_at(a, at), more, true);
		return false;
	}
	*guarded = nc_slices_guard(&a->slices, at + more - 1) != NC_GUARD_NONE;
	return true;
}

void nc_arena_uncount(size_t count)
{
	nc_lock_take(&nc_core_lock);
	arenas.used_slices -= count;
	nc_lock_give(&nc_core_lock);
}

void nc_arena_recount(size_t count)
{
	nc_lock_take(&nc_core_lock);
	arenas.used_slices += count;
	nc_lock_give(&nc_core_lock);
}

void nc_arena_seal(void *slice)
{
	nc_lock_take(&nc_core_lock);
	struct nc_arena *a = arena_of_locked(slice);
	nc_lock_give(&nc_core_lock);
	size_t i = ((uintptr_t)slice - a->base) >> NC_SLICE_SHIFT;
	if (NC_GUARD && !nc_slices_guard(&a->slices, i))
		nc_slices_set_guard(&a->slices, i,
		                    nc_port_guard(tail_of(a, i), nc_os_page));
}

void nc_arena_publish(void *run, size_t count, const void *page)
{
	nc_lock_take(&nc_core_lock);
	nc_pagemap_set_locked(run, count, page);
	nc_lock_give(&nc_core_lock);
}

void nc_arena_figures_locked(struct nc_arena_figures *out)
{
	out->reserved_bytes = arenas.reserved_slices << NC_SLICE_SHIFT;
	out->used_bytes = arenas.used_slices << NC_SLICE_SHIFT;
	out->dirty_bytes = arenas.dirty_slices << NC_SLICE_SHIFT;
}

void nc_arena_trim(void)
{
	nc_lock_take(&nc_core_lock);
	arenas.missed_slices = arenas.extra_slices = 0;
	nc_lock_give(&nc_core_lock);
	purge_some(SIZE_MAX / 2, 0);
}

/* Arenas that nothing uses, taken out and linked by next. */
static struct nc_arena *take_unused_locked(void)
{
	struct nc_arena *unused = NULL, **at = &arenas.first;

	while (*at) {
		struct nc_arena *a = *at;
		if (!a->map || a->slices.free_count < a->slices.count) {
			at = &a->next;
			continue;
		}
		*at = a->next;
		a->next = unused;
		unused = a;
		arenas.reserved_slices -= a->slices.count;
		arenas.dirty_slices -= a->slices.dirty_count;
		nc_pagemap_set_locked((void *)a->base, a->slices.count, NULL);
	}
	return unused;
}

bool nc_arena_shrink(void)
{
	nc_lock_take(&nc_core_lock);
	struct nc_arena *unused = take_unused_locked(), *next;
	nc_lock_give(&nc_core_lock);
	bool any = unused != NULL;
	for (struct nc_arena *a = unused; a; a = next) {
		next = a->next;
		for (size_t i = 0; i < a->slices.count; i++)
			nc_port_guard_gone(nc_slices_guard(&a->slices, i));
		if (!nc_port_unmap(a->map, a->map_bytes))
			nc_port_purge(a->map, a->map_bytes);
		nc_lock_take(&nc_core_lock);
		a->next = arenas.spare;
		arenas.spare = a;
		nc_lock_give(&nc_core_lock);
	}
	return any;
}

void nc_arena_walk_locked(void (*visit)(void *page, void *with), void *with)
{
	for (struct nc_arena *a = arenas.first; a; a = a->next) {
		void *last = NULL;
		for (size_t i = 0; i < a->slices.count; i++) {
			if (nc_slices_are_free(&a->slices, i, 1))
				continue;
			void *page = nc_pagemap_find(slice_at(a, i));
			if (page != last && page != (void *)&nc_pagemap)
				visit(page, with);
			last = page;
		}
	}
}
