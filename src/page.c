#include "page.h"
#include "limbo.h"
#include "meta.h"

/* Blocks put on lists at a time: a system page's worth at first, then as many
 * again as there are, within these. */
#define EXTEND_MIN_BYTES 4096
#define EXTEND_MAX_BYTES 16384
#define EXTEND_MAX_COUNT 256
/* Blocks up to this are first used in runs of neighbours; larger ones, that have
 * system pages of their own, gain nothing from that. */
#define NEIGHBOURS_MAX_BYTES 2048
/* With NC_SCATTER only those of which EXTEND_MAX_BYTES hold a hundred. */
#define SCATTER_BYTES (EXTEND_MAX_BYTES / 100)
/* A page that is refilled this often without growing, though it wants to, takes
 * more of its memory. */
#define RECYCLES_MAX 4
#define MORE_MAX_BYTES 1024

NC_SEALED struct nc_page nc_page_empty = {
	.head = (uint8_t *)&nc_page_empty.end_link,
	.end_link = NC_REF_END,
};

const void *nc_page_changing;

NC_SEALED struct nc_page nc_page_freed = { .x_owner = NC_GONE };

size_t nc_page_slices(unsigned class_idx)
{
	/* 15 blocks at least, or 7 of 8 KiB; the guard at most a sixteenth. */
	size_t bytes = nc_class_bytes(class_idx);
	size_t want = bytes <= 8192 ? NC_SLICE_BYTES : bytes * 15 + nc_os_page;

	return nc_align_up(nc_max(want, nc_os_page * 16), NC_SLICE_BYTES) >>
	       NC_SLICE_SHIFT;
}

static uint32_t words_for(size_t block_count)
{
	return (uint32_t)((block_count + NC_CLAIM_BITS - 1) / NC_CLAIM_BITS);
}

static size_t claims_offset(size_t words)
{
	/* Claims are written by others, live bits by the owner. */
	return nc_align_up(sizeof(struct nc_page) + words * sizeof(uint32_t),
	                   NC_CACHE_LINE);
}

static size_t description_bytes(size_t words)
{
	return claims_offset(words) + words * sizeof(uintptr_t);
}

static uint32_t greatest_divisor(uint32_t a, uint32_t b)
{
	while (b) {
		uint32_t rest = a % b;
		a = b;
		b = rest;
	}
	return a;
}

static void clear_lists(struct nc_page *page)
{
	for (unsigned i = 0; i < NC_LISTS_MAX; i++)
		page->heads[i] = page->queue[i] = NC_REF_END;
	page->queue_count = 0;
	page->head = (uint8_t *)&page->end_link;
	page->head_idx = 0;
}

static void init_order(struct nc_page *page, struct nc_random *random)
{
	page->first = 0;
	page->step = 1;
	page->list_mask = page->block_count >= 64 ? NC_LISTS - 1 : (NC_LISTS - 1) / 4;
	if (!NC_RANDOM_ORDER || page->block_count < 2)
		return;
	if (page->block_bytes <= (NC_SCATTER ? SCATTER_BYTES : NEIGHBOURS_MAX_BYTES)) {
		/* What is used first begins where a system page may: a small program
		 * then touches one for a class, not two. */
		size_t bytes = page->block_bytes;
		size_t starts = page->block_count * bytes / EXTEND_MIN_BYTES;
		size_t at = nc_random_below(random, (uint32_t)starts) * EXTEND_MIN_BYTES;
		page->first = (uint32_t)((at + bytes - 1) / bytes);
		return;
	}
	page->first = nc_random_below(random, (uint32_t)page->block_count);
	do {
		page->step = 1 + nc_random_below(random, (uint32_t)page->block_count - 1);
	} while (greatest_divisor((uint32_t)page->block_count, page->step) != 1);
}

static void init_keys(struct nc_page *page, struct nc_random *random)
{
	page->keys.mask = (uintptr_t)nc_random_u64(random);
	page->keys.factor = (uintptr_t)nc_random_u64(random) | 1;
	page->keys.inverse = nc_odd_inverse(page->keys.factor);
	page->canary_key = nc_random_u32(random);
	page->slack_key = nc_random_u64(random);
	page->rotor = nc_random_u64(random);
	page->end_link = nc_link_encode(&page->keys, &page->end_link, NC_REF_END);
}

/* Descriptions without a page. Each serves its class alone, so that a thread that
 * comes late to it finds claim words where they were; their epochs go on. */
static struct nc_page *spare[NC_CLASS_ZERO + 1]; /* under nc_core_lock */

static struct nc_page *take_description(unsigned class_idx, uint32_t words)
{
	nc_lock_take(&nc_core_lock);
	struct nc_page *page = spare[class_idx];
	if (page)
		spare[class_idx] = page->next;
	else
		page = nc_meta_take_locked(description_bytes(words));
	nc_lock_give(&nc_core_lock);
	return page;
}

/* The system has no more address space, but an arena may: then descriptions have a run
 * of it for good, between its own guard and that of whatever lies before. */
static bool describe_in_arena(void)
{
	size_t slices = nc_max(NC_META_AREA_BYTES >> NC_SLICE_SHIFT, 2);
	size_t bytes = (slices << NC_SLICE_SHIFT) - (NC_GUARD ? nc_os_page : 0);
	struct nc_run_state state;
	void *run = nc_arena_take(slices, &state);

	if (!run)
		return false;
	nc_arena_publish(run, slices, NULL);
	if (!state.zero)
		__builtin_memset(run, 0, bytes);
	nc_lock_take(&nc_core_lock);
	nc_meta_seed_locked(run, bytes);
	nc_lock_give(&nc_core_lock);
	return true;
}

struct nc_page *nc_page_describe(unsigned class_idx, size_t block_count)
{
	uint32_t words = words_for(block_count);
	struct nc_page *page = take_description(class_idx, words);

	if (!page && nc_arena_shrink())
		page = take_description(class_idx, words);
	if (!page && describe_in_arena())
		page = take_description(class_idx, words);
	if (!page)
		return NULL;
	page->class_idx = (uint8_t)class_idx;
	page->word_count = words;
	page->x_claims = (uintptr_t *)((char *)page + claims_offset(words));
	page->current = page->listed = page->kept_empty = page->distrusted = false;
	nc_store_relaxed(&page->x_roomy, 0);
	page->next = page->prev = page->inbox_next = NULL;
	for (uint32_t w = 0; w < words; w++) {
		uintptr_t old = nc_load_relaxed(&page->x_claims[w]);
		nc_store_relaxed(&page->x_live[w], 0);
		nc_store_release(&page->x_claims[w],
		                 (old & ~NC_CLAIM_MASK) + NC_CLAIM_MASK + 1);
	}
	return page;
}

struct nc_page *nc_page_make(unsigned class_idx, uintptr_t owner,
                             struct nc_random *random)
{
	size_t slices = nc_page_slices(class_idx);
	size_t block_bytes = nc_class_bytes(class_idx);
	size_t usable = (slices << NC_SLICE_SHIFT) - (NC_GUARD ? nc_os_page : 0);
	uint32_t count = (uint32_t)nc_min(usable / block_bytes, 0xfffe);
	struct nc_run_state state;
	struct nc_page *page = nc_page_describe(class_idx, count);

	if (!page)
		return NULL;
	void *run = nc_arena_take(slices, &state);
	if (!run) {
		nc_page_forget(page);
		return NULL;
	}
	page->run = page->start = run;
	page->slice_count = slices;
	page->untouched = state.zero;
	page->block_bytes = block_bytes;
	page->block_count = count;
	page->divide_shift = nc_ctz(block_bytes);
	page->divide_inverse = nc_odd_inverse(block_bytes >> page->divide_shift);
	nc_store_relaxed(&page->x_waiting, 0);
	page->left = page->extended = page->recycles = page->own_map = page->guarded = 0;
	if (NC_WIPE && !state.zero)
		__builtin_memset(run, 0, usable);
	init_keys(page, random);
	init_order(page, random);
	clear_lists(page);
	nc_store_release(&page->x_owner, owner | NC_OWNED);
	nc_arena_publish(run, slices, page);
	return page;
}

void nc_page_forget(struct nc_page *page)
{
	nc_lock_take(&nc_core_lock);
	page->next = spare[page->class_idx];
	spare[page->class_idx] = page;
	nc_lock_give(&nc_core_lock);
}

void nc_page_release_run(struct nc_page *page)
{
	struct nc_limbo_run wiped;
	uint8_t *run = page->run;
	size_t slices = page->slice_count;

	/* The map first: a second free that still found the page here could
	 * otherwise meet the next one that the description serves. */
	nc_arena_publish(run, slices, &nc_page_freed);
	if (NC_LIMBO)
		wiped = nc_limbo_wipe(page);
	nc_store_release(&page->x_owner, NC_GONE);
	if (NC_LIMBO)
		nc_limbo_put(&wiped);
	else
		nc_arena_give(run, slices, true);
}

void nc_page_release(struct nc_page *page, struct nc_random *random)
{
	/* The read-modify-write orders every clearing of a live bit before it:
	 * who notes a free after this sees a block that is not live. */
	if ((nc_fetch_add(&page->x_owner, 0) & NC_OWNER_KINDS) == NC_NOTED)
		nc_page_collect(page, random);
	nc_page_release_run(page);
	nc_page_forget(page);
}

/* The rotor picks some 20 lists before its bits come again. */
static void push_random(struct nc_page *page, uintptr_t i)
{
	nc_page_wipe(page, nc_page_block(page, i));
	nc_page_push(page, nc_page_block(page, i), i, nc_page_pick_list(page));
}

static void stir(struct nc_page *page, struct nc_random *random)
{
	page->rotor = (page->rotor << 32 | page->rotor >> 32) ^ nc_random_u32(random);
}

/* Take over the claims of one word; returns how many. */
static size_t collect_word(struct nc_page *page, uint32_t w, struct nc_random *random)
{
	uintptr_t seen = nc_load_acquire(&page->x_claims[w]), fresh, done = 0;
	uintptr_t live = nc_load_relaxed(&page->x_live[w]);
	size_t count = 0;

	do {
		/* A claim on a block that is not live: the owner freed it too.
		 * Thread B reads live; A frees and refills; B claims. */
		fresh = seen & NC_CLAIM_MASK & ~done;
		done |= fresh;
		for (uintptr_t bad = fresh & ~live; bad; bad &= bad - 1)
			nc_page_report_race(page, w * NC_CLAIM_BITS + nc_ctz(bad));
		/* Dead before the new epoch shows: else a second free that
		 * finds it could still find the block live. */
		if (NC_LIVE_BITMAP && done)
			nc_store_relaxed(&page->x_live[w], (uint32_t)(live & ~done));
		/* The epoch moves even where nothing is claimed: it makes a
		 * claim fail that was checked before and is made after. */
	} while (!nc_cas(&page->x_claims[w], &seen,
	                 (seen & ~NC_CLAIM_MASK) + NC_CLAIM_MASK + 1));
	done &= live;
	if (done)
		stir(page, random);
	for (; done; done &= done - 1, count++)
		push_random(page, w * NC_CLAIM_BITS + nc_ctz(done));
	return count;
}

size_t nc_page_collect(struct nc_page *page, struct nc_random *random)
{
	uintptr_t owner = nc_load_relaxed(&page->x_owner) & ~NC_OWNER_KINDS;
	size_t count = 0;

	/* Before the words: a thread that finds a new epoch must also find that
	 * its free has to be noted again. */
	nc_exchange(&page->x_owner, owner | NC_OWNED);
	for (uint32_t w = 0; w < page->word_count; w++)
		count += collect_word(page, w, random);
	if (!page->current)
		page->left -= (uint32_t)count;
	return count;
}

void nc_page_populate(struct nc_page *page)
{
	/* Larger ones may never be touched in the middle. */
	if (page->block_bytes <= NEIGHBOURS_MAX_BYTES)
		nc_port_populate(page->start, page->block_count * page->block_bytes);
}

/* Put more blocks of the page on its free lists, in random order. */
static void extend(struct nc_page *page, struct nc_random *random)
{
	uint16_t order[EXTEND_MAX_COUNT];
	size_t most = nc_min(EXTEND_MAX_BYTES / page->block_bytes, EXTEND_MAX_COUNT);
	size_t step = page->extended
	                      ? page->extended
	                      : (NC_SCATTER ? EXTEND_MAX_BYTES : EXTEND_MIN_BYTES) /
	                                page->block_bytes;
	uint32_t n = (uint32_t)nc_min(nc_max(nc_min(step, most), 1),
	                              page->block_count - page->extended);

	uint32_t i = (uint32_t)((page->first + (uint64_t)page->extended * page->step) %
	                        page->block_count);
	uint32_t bits = 0;
	for (uint32_t k = 0; k < n; k++) {
		/* Sixteen bits are enough to choose among 256. */
		bits = k % 2 || !NC_RANDOM_ORDER ? bits >> 16 : nc_random_u32(random);
		uint32_t j = NC_RANDOM_ORDER ? (bits & 0xffff) * (k + 1) >> 16 : k;
		order[k] = order[j];
		order[j] = (uint16_t)i;
		i += page->step;
		i -= i < page->block_count ? 0 : (uint32_t)page->block_count;
	}
	for (uint32_t k = n; k-- > 0;) {
		i = order[k];
		nc_page_push(page, nc_page_block(page, i), i, k & page->list_mask);
		if (!NC_LIVE_BITMAP)
			page->x_live[i >> NC_CLAIM_SHIFT] |= (uint32_t)1
			                                     << (i & (NC_CLAIM_BITS - 1));
	}
	page->extended += n;
	page->recycles = 0;
}

/* Free lists that have a block. */
static unsigned list_count(const struct nc_page *page)
{
	unsigned n = 0;

	for (unsigned i = 0; i < NC_LISTS; i++)
		n += page->heads[i] != NC_REF_END;
	return n;
}

bool nc_page_has_free(const struct nc_page *page)
{
	return page->queue_count || page->head != (const uint8_t *)&page->end_link ||
	       page->extended < page->block_count || list_count(page);
}

/* Few blocks circulate: longer lists would be refilled more rarely. Of larger blocks
 * that would be much memory, and their use costs more than their refill. */
static bool wants_more(const struct nc_page *page, unsigned lists)
{
	return (lists <= NC_LISTS / 2 && page->block_bytes <= MORE_MAX_BYTES) ||
	       page->extended * page->block_bytes < EXTEND_MAX_BYTES >>
	               (page->block_bytes <= 512);
}

bool nc_page_refill(struct nc_page *page, struct nc_random *random)
{
	/* The read-modify-write orders the live bits that were cleared before it
	 * before the note of any thread that it does not see: that thread then
	 * reads "not live". Without it: B reads live (stale), A frees, refills
	 * without a look at the claims, hands out; B claims; both succeeded. */
	if ((nc_fetch_add(&page->x_owner, 0) & NC_OWNER_KINDS) == NC_NOTED)
		nc_page_collect(page, random);
	unsigned lists = list_count(page);
	if (page->extended < page->block_count &&
	    (!lists || (wants_more(page, lists) && ++page->recycles > RECYCLES_MAX)))
		extend(page, random);
	else if (!lists)
		return false;
	stir(page, random);
	unsigned at = (unsigned)page->rotor, n = 0;
	for (unsigned i = 0; i < NC_LISTS; i++) {
		nc_ref_t *head = &page->heads[(at + i) % NC_LISTS];
		page->queue[n] = *head;
		n += *head != NC_REF_END;
		*head = NC_REF_END;
	}
	page->queue_count = (uint8_t)n;
	return nc_page_next_list(page);
}

void nc_page_rebuild(struct nc_page *page, struct nc_random *random)
{
	clear_lists(page);
	for (uint32_t k = 0; k < page->extended; k++) {
		uint32_t i = (uint32_t)((page->first + (uint64_t)k * page->step) %
		                        page->block_count);
		if (k % NC_CLAIM_BITS == 0)
			stir(page, random);
		if (!nc_page_is_live(page, i))
			push_random(page, i);
	}
}

size_t nc_page_live_count(const struct nc_page *page)
{
	size_t n = 0;

	for (uint32_t w = 0; w < page->word_count; w++)
		n += nc_popcount(nc_load_relaxed(&page->x_live[w]));
	return n;
}

size_t nc_page_claim_count(const struct nc_page *page)
{
	size_t n = 0;

	for (uint32_t w = 0; w < page->word_count; w++)
		n += nc_popcount(nc_load_acquire(&page->x_claims[w]) & NC_CLAIM_MASK);
	return n;
}

size_t nc_page_used_count(const struct nc_page *page)
{
	return nc_page_live_count(page) + nc_load_relaxed(&page->x_waiting);
}

bool nc_page_all_claimed(const struct nc_page *page)
{
	/* It cannot change while the page is put aside, or on its way. */
	if (NC_QUARANTINE && nc_load_relaxed(&page->x_waiting))
		return false;
	for (uint32_t w = 0; w < page->word_count; w++) {
		if ((nc_load_seq(&page->x_claims[w]) & NC_CLAIM_MASK) !=
		    nc_load_relaxed(&page->x_live[w]))
			return false;
	}
	return true;
}
