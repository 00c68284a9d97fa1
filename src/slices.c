#include "slices.h"
#include "bits.h"

static bool get_bit(const uintptr_t *map, size_t i)
{
	return map[i / NC_WORD_BITS] >> i % NC_WORD_BITS & 1;
}

static void set_bit(uintptr_t *map, size_t i, bool on)
{
	uintptr_t bit = (uintptr_t)1 << i % NC_WORD_BITS;

	map[i / NC_WORD_BITS] =
		on ? map[i / NC_WORD_BITS] | bit : map[i / NC_WORD_BITS] & ~bit;
}

static bool get_shared_bit(const uintptr_t *map, size_t i)
{
	return nc_load_relaxed(&map[i / NC_WORD_BITS]) >> i % NC_WORD_BITS & 1;
}

static void set_shared_bit(uintptr_t *map, size_t i, bool on)
{
	uintptr_t bit = (uintptr_t)1 << i % NC_WORD_BITS;

	/* Relaxed: the bit belongs to whoever has the slice, and slices change
	 * hands under the lock; only the word is shared. */
	if (on)
		__atomic_fetch_or(&map[i / NC_WORD_BITS], bit, __ATOMIC_RELAXED);
	else
		__atomic_fetch_and(&map[i / NC_WORD_BITS], ~bit, __ATOMIC_RELAXED);
}

enum nc_guard nc_slices_guard(const struct nc_slices *s, size_t i)
{
	if (!get_shared_bit(s->x_guarded, i))
		return NC_GUARD_NONE;
	return get_shared_bit(s->x_mapped, i) ? NC_GUARD_MAPPING : NC_GUARD_MARK;
}

void nc_slices_set_guard(const struct nc_slices *s, size_t i, enum nc_guard kind)
{
	set_shared_bit(s->x_guarded, i, kind != NC_GUARD_NONE);
	set_shared_bit(s->x_mapped, i, kind == NC_GUARD_MAPPING);
}

/* First index at or after i whose bit in (a & (b or all)) is `on`; count if none. */
static size_t next_bit(const uintptr_t *a, const uintptr_t *b, size_t i, size_t count,
                       bool on)
{
	while (i < count) {
		uintptr_t w = a[i / NC_WORD_BITS];
		if (b)
			w &= b[i / NC_WORD_BITS];
		if (!on)
			w = ~w;
		w >>= i % NC_WORD_BITS;
		if (w)
			return nc_min(i + nc_ctz(w), count);
		i = (i / NC_WORD_BITS + 1) * NC_WORD_BITS;
	}
	return count;
}

size_t nc_slices_words(size_t count)
{
	return (count + NC_WORD_BITS - 1) / NC_WORD_BITS;
}

void nc_slices_init(struct nc_slices *s, size_t count, uintptr_t *words,
                    size_t word_count)
{
	s->count = s->free_count = count;
	s->dirty_count = 0;
	s->word_count = word_count;
	s->free = words;
	s->dirty = s->free + word_count;
	s->x_guarded = s->dirty + word_count;
	s->x_mapped = s->x_guarded + word_count;
	for (size_t i = 0; i < count; i++)
		set_bit(s->free, i, true);
}

bool nc_slices_are_free(const struct nc_slices *s, size_t at, size_t count)
{
	return at + count <= s->count &&
	       next_bit(s->free, NULL, at, at + count, false) == at + count;
}

size_t nc_slices_find(const struct nc_slices *s, bool want_dirty, size_t count)
{
	const uintptr_t *dirty = want_dirty ? s->dirty : NULL;

	for (size_t at = 0;;) {
		at = next_bit(s->free, dirty, at, s->count, true);
		if (at + count > s->count)
			return s->count;
		size_t end =
			next_bit(s->free, dirty, at, nc_min(s->count, at + count), false);
		if (end == at + count)
			return at;
		at = end;
	}
}

static size_t dirty_in(const struct nc_slices *s, size_t at, size_t count)
{
	size_t n = 0;

	for (size_t i = at; i < at + count; i++)
		n += get_bit(s->dirty, i);
	return n;
}

/* Of each stretch that is free one place is looked at: its first resident slice. */
bool nc_slices_find_better(const struct nc_slices *s, size_t count, size_t *best,
                           size_t *at)
{
	bool found = false;

	for (size_t i = 0, end; i < s->count; i = end) {
		i = next_bit(s->free, NULL, i, s->count, true);
		end = next_bit(s->free, NULL, i, s->count, false);
		if (end - i < count)
			continue;
		size_t from =
			nc_min(next_bit(s->free, s->dirty, i, end, true), end - count);
		size_t dirty = dirty_in(s, from, count);
		if (dirty <= *best)
			continue;
		*best = dirty;
		*at = from;
		found = true;
	}
	return found;
}

size_t nc_slices_take(struct nc_slices *s, size_t at, size_t count)
{
	size_t dirty = dirty_in(s, at, count);

	for (size_t i = at; i < at + count; i++) {
		set_bit(s->free, i, false);
		set_bit(s->dirty, i, false);
	}
	s->free_count -= count;
	s->dirty_count -= dirty;
	return dirty;
}

size_t nc_slices_take_dirty(struct nc_slices *s, size_t most, size_t *at)
{
	if (!s->dirty_count)
		return 0;
	*at = next_bit(s->free, s->dirty, 0, s->count, true);
	size_t end =
		next_bit(s->free, s->dirty, *at, nc_min(s->count, *at + most), false);
	return nc_slices_take(s, *at, end - *at);
}

void nc_slices_put(struct nc_slices *s, size_t at, size_t count, bool dirty)
{
	for (size_t i = at; i < at + count; i++) {
		set_bit(s->free, i, true);
		set_bit(s->dirty, i, dirty);
	}
	s->free_count += count;
	s->dirty_count += dirty ? count : 0;
}
