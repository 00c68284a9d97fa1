/* Pages: a run of slices that holds the blocks of one size class, or one large
 * block, and the description of it, which lies elsewhere.
 *
 * Owns: the blocks' state. Does not own: which page serves a class (heap).
 *
 * Invariants, with count = block_count and full lists = heads, queue, head:
 *   block i lies at start + i * block_bytes, i < count; extended <= count
 *   a block is live, or on exactly one list of the page, or claimed and live
 *   (freed by another thread, not yet collected), or was never put on a list
 *   live bit of i is set  <=>  the block is the program's or is claimed
 *   a block in a heap's quarantine is on no list and not live; waiting counts them,
 *   and is 0 when the page has no owner
 *   page is given back only when every live bit is clear and none waits
 *   left = live and waiting blocks, for an owned page that is not a current one
 *
 * Who writes: fields are the owner's but those that begin with x_; before a
 * page is published, and after it is taken out of use, whoever has it.
 * Who owns a page: see the kinds of x_owner below and docs/concurrency.md.
 */
#ifndef NC_PAGE_H
#define NC_PAGE_H

#include "arena.h"
#include "mit_canary.h"
#include "mit_link.h"
#include "mit_slack.h"
#include "mit_wipe.h"
#include "random.h"
#include "report.h"
#include "sizeclass.h"

/* Claim bits and epoch share one word, half and half. */
#define NC_CLAIM_BITS (NC_WORD_BITS / 2)
#define NC_CLAIM_SHIFT (sizeof(uintptr_t) == 8 ? 5 : 4)
#define NC_CLAIM_MASK (((uintptr_t)1 << NC_CLAIM_BITS) - 1)

/* x_owner is the owner's word (nc_heap.h: differs a heap, a multiple of 64)
 * and one of these. Only OWNED is 0, so that one comparison with the thread's
 * own word says "mine, and nobody else took part". */
enum nc_owner_kind {
	NC_OWNED = 0,     /* the owner frees on its fast path */
	NC_NOTED = 1,     /* owned; another thread frees, or has freed, here */
	NC_PARKED = 2,    /* owned, full, put aside: every free is a slow one */
	NC_PENDING = 3,   /* was parked; in the owner's inbox, or on its way */
	NC_TAKEN = 4,     /* was pending; a thread looks whether all is free */
	NC_GONE = 5,      /* given back; only the description is left */
	NC_ABANDONED = 6, /* the owner ended; in the list of its class */
	NC_LARGE = 7,     /* one large block, nobody's */
	NC_ZERO = 8,      /* blocks of no bytes (zero.h), nobody's */
};
#define NC_OWNER_KINDS ((uintptr_t)15)

struct nc_page {
	/* What every malloc and free reads and, but for x_owner, none writes: other
	 * threads' frees read it while the owner allocates. */
	uint8_t *start; /* of block 0 */
	size_t block_bytes;
	uintptr_t block_count;
	uintptr_t divide_inverse; /* of the odd part of block_bytes */
	uint32_t divide_shift;    /* log2 of the rest */
	uint32_t canary_key;
	uintptr_t x_owner;
	struct nc_link_keys keys; /* all but the factor */
	/* what the owner's malloc and free write */
	uint8_t *head;      /* next block to hand out, or &end_link */
	uintptr_t head_idx; /* its index */
	uint64_t rotor;     /* random bits that pick the free list */
	uint32_t left;      /* frees until the page may be empty */
	uint32_t list_mask; /* lists in use, less one: fewer where blocks are few */
	uint32_t x_waiting; /* blocks in the owner's quarantine */
	nc_ref_t heads[NC_LISTS_MAX]; /* free lists: first block, or NC_REF_END */
	uint64_t slack_key;           /* as canary_key, with NC_SLACK */
	/* what slow paths use */
	nc_ref_t queue[NC_LISTS_MAX]; /* lists to hand out after head's */
	nc_word_t end_link;           /* what an empty list's head points at */
	uint8_t queue_count;          /* lists of queue that are left; none is empty */
	uint8_t class_idx;
	bool current;      /* heap->page[class_idx] is this page */
	bool listed;       /* in a list of its heap, or the abandoned one */
	bool kept_empty;   /* empty, and counted in heap->empty_bytes */
	bool untouched;    /* nobody had the memory before */
	bool distrusted;   /* its owner vanished in a fork: rebuild lists */
	uint8_t x_roomy;   /* realloc left blocks here that are larger than asked for */
	uint8_t x_full;    /* abandoned without a free block, and none since */
	uint32_t extended; /* blocks that were ever put on a list: those */
	uint32_t first, step; /* at (first + k * step) % count, k < extended */
	uint32_t recycles;    /* refills since the last extension that wanted one */
	uint32_t word_count;  /* of live and of x_claims */
	struct nc_page *next, *prev; /* list that `listed` tells of */
	struct nc_page *inbox_next;  /* link in the owner's inbox */
	uint8_t *run;                /* slices */
	size_t slice_count;
	size_t requested;  /* large: bytes that the program asked for */
	size_t align;      /* large: alignment asked for */
	uint32_t own_map;  /* large: run is a mapping, not an arena's */
	uint32_t guarded;  /* large: a guard follows the block at once */
	bool tail_guarded; /* large, in an arena: a guard is the run's last page */
	bool covered; /* large: freed, without memory, and not counted in its arena */
	/* large: those that are its own, and the freed block itself */
	enum nc_guard guard_low, guard_high, guard_freed;
	uint32_t fresh_zero; /* large: nobody had the memory before */
	uintptr_t *x_claims; /* word_count words: claim bits low, epoch high */
	/* word_count words of NC_CLAIM_BITS live bits; the owner writes them */
	uint32_t x_live[] __attribute__((aligned(NC_CACHE_LINE)));
};
NC_STATIC_ASSERT(sizeof(void *) < 8 ||
                         offsetof(struct nc_page, keys.factor) == NC_CACHE_LINE,
                 "what others read ends here");

NC_STATIC_ASSERT(NC_PAGEMAP_NONE_BYTES >= sizeof(struct nc_page) + 64,
                 "none holds a page");

/* The page that serves a class which has none; every malloc from it misses. */
extern NC_HIDDEN struct nc_page nc_page_empty;
/* The block that realloc is just giving another size; of a thread that is alone. */
extern NC_HIDDEN const void *nc_page_changing;
/* What the page map says of slices that were freed whole. */
extern NC_HIDDEN struct nc_page nc_page_freed;

/* Called before a thread has a heap. Without the check for a block's start the
 * page of no page must differ from a thread without a heap by its owner. */
NC_INLINE void nc_page_init_none(void)
{
	if (!NC_CHECK_START)
		nc_store_relaxed(&((struct nc_page *)&nc_pagemap)->x_owner, NC_GONE);
}

NC_INLINE struct nc_page *nc_page_find(const void *p)
{
	return nc_pagemap_find(p);
}

/* The index of the block that starts at p; at or above block_count when none
 * does. An exact multiple of the block size times the inverse of the size's
 * odd part, rotated by the rest, is the quotient; nothing else comes out as
 * small (Granlund and Montgomery, "Division by invariant integers", 1994). */
NC_INLINE uintptr_t nc_page_index(const struct nc_page *page, const void *p)
{
	uintptr_t offset = (uintptr_t)p - (uintptr_t)page->start;

	return nc_rotate_right(offset * page->divide_inverse, page->divide_shift);
}

NC_INLINE uint8_t *nc_page_block(const struct nc_page *page, uintptr_t i)
{
	return page->start + i * page->block_bytes;
}

/* The block that a list names. */
NC_INLINE uint8_t *nc_page_ref_block(const struct nc_page *page, uintptr_t ref)
{
	return NC_REF_IS_INDEX ? nc_page_block(page, ref) : (uint8_t *)ref;
}

/* Whether a decoded link names a block; else its list ends there, or the link
 * was overwritten. */
NC_INLINE bool nc_page_is_ref(const struct nc_page *page, uintptr_t ref)
{
	return NC_REF_IS_INDEX ? ref < page->block_count : ref != NC_REF_END;
}

/* Bytes that a block of the page has for the program at most. */
NC_INLINE size_t nc_page_room(const struct nc_page *page)
{
	return page->block_bytes - (page->guarded && !NC_SLACK ? 0 : NC_CANARY_BYTES);
}

/* Make the end of a block, of which `bytes` were asked for, one that shows overflows.
 * Unless `keep`, up to 15 bytes before that end may become zero. */
NC_INLINE void nc_page_arm(const struct nc_page *page, uint8_t *block, size_t bytes,
                           bool keep)
{
	if (NC_SLACK)
		nc_slack_set(block, page->block_bytes, bytes, page->slack_key, keep);
	else if (NC_CANARY)
		nc_canary_set(block, page->block_bytes, page->canary_key);
}

NC_INLINE bool nc_page_is_intact(const struct nc_page *page, const void *block)
{
	size_t tail;

	if (NC_SLACK)
		return nc_slack_holds(block, page->block_bytes, page->slack_key, &tail);
	return !NC_CANARY || nc_canary_holds(block, page->block_bytes, page->canary_key);
}

/* Bytes that the program may use of an intact block. */
NC_INLINE size_t nc_page_usable(const struct nc_page *page, const void *block)
{
	if (NC_SLACK)
		return nc_slack_requested(block, page->block_bytes, page->slack_key);
	return nc_page_room(page);
}

/* Where block i's bit is in its word. x86 takes the bit's number modulo 32. */
NC_INLINE uint32_t nc_page_bit(uintptr_t i)
{
#if defined(__x86_64__)
	return (uint32_t)i;
#else
	return (uint32_t)i & (NC_CLAIM_BITS - 1);
#endif
}

NC_INLINE bool nc_page_is_live(const struct nc_page *page, uintptr_t i)
{
	return nc_load_relaxed(&page->x_live[i >> NC_CLAIM_SHIFT]) >>
	               (i & (NC_CLAIM_BITS - 1)) &
	       1;
}

NC_INLINE bool nc_page_is_claimed(const struct nc_page *page, uintptr_t i)
{
	return nc_load_acquire(&page->x_claims[i >> NC_CLAIM_SHIFT]) >>
	               (i & (NC_CLAIM_BITS - 1)) &
	       1;
}

/* Whether each live block of i's word is claimed in `claims`. */
NC_INLINE bool nc_page_word_is_claimed(const struct nc_page *page, uintptr_t i,
                                       uintptr_t claims)
{
	return (claims & NC_CLAIM_MASK) ==
	       nc_load_relaxed(&page->x_live[i >> NC_CLAIM_SHIFT]);
}

/* Change a live bit; false when it was so already. Only the owner calls this:
 * no atomic read-modify-write, readers see one value or the other. */
NC_INLINE bool nc_page_live_set(struct nc_page *page, uintptr_t i)
{
	uint32_t *word = &page->x_live[i >> NC_CLAIM_SHIFT], bits = nc_load_relaxed(word);

	if (NC_UNLIKELY(nc_bit_set(&bits, nc_page_bit(i))))
		return false;
	nc_store_relaxed(word, bits);
	return true;
}

NC_INLINE bool nc_page_live_clear(struct nc_page *page, uintptr_t i)
{
	uint32_t *word = &page->x_live[i >> NC_CLAIM_SHIFT], bits = nc_load_relaxed(word);

	if (NC_UNLIKELY(!nc_bit_clear(&bits, nc_page_bit(i))))
		return false;
	nc_store_relaxed(word, bits);
	return true;
}

/* The free list for the next freed block. */
NC_INLINE unsigned nc_page_pick_list(struct nc_page *page)
{
	if (!NC_RANDOM_ORDER)
		return 0;
	page->rotor = page->rotor >> 3 | page->rotor << 61;
	return (unsigned)page->rotor & page->list_mask;
}

/* Blocks above this are not read before one of their page was freed: what was never
 * touched stays so. */
#define NC_WIPE_READ_BYTES 4096

/* A free block is zero, and on no list. */
NC_INLINE void nc_page_wipe(struct nc_page *page, uint8_t *block)
{
	if (!NC_WIPE)
		return;
	if (page->block_bytes > NC_WIPE_READ_BYTES)
		page->untouched = false;
	nc_wipe(block, page->block_bytes);
}

/* Whether a free block, whose first word was looked at, is zero otherwise. */
NC_INLINE bool nc_page_is_wiped(const struct nc_page *page, const uint8_t *block)
{
	return !NC_WIPE || (page->block_bytes > NC_WIPE_READ_BYTES && page->untouched) ||
	       nc_wipe_holds(block, page->block_bytes);
}

/* Whether a free block's link was not overwritten. */
NC_INLINE bool nc_page_link_holds(const struct nc_page *page, const uint8_t *block)
{
	uintptr_t next = nc_link_decode(&page->keys, block, *(const nc_word_t *)block);

	return !NC_LINK_ENCODE || nc_page_is_ref(page, next) || next == NC_REF_END;
}

/* Put a free block on the free list `list`. */
NC_INLINE void nc_page_push(struct nc_page *page, uint8_t *block, uintptr_t i,
                            unsigned list)
{
	*(nc_word_t *)block = nc_link_encode(&page->keys, block, page->heads[list]);
	if (NC_CHECK_EXIT)
		nc_signal_fence();
	page->heads[list] = (nc_ref_t)(NC_REF_IS_INDEX ? i : (uintptr_t)block);
}

/* A new page for the class, published and owned by `owner`; NULL when there is
 * no memory. Its lists are empty: nc_page_refill gives them blocks. */
struct nc_page *nc_page_make(unsigned class_idx, uintptr_t owner,
                             struct nc_random *random);
/* Give an owned page, whose every block is free, back. Claims that come too
 * late are reported. */
void nc_page_release(struct nc_page *page, struct nc_random *random);
/* Give back the memory of a page that another thread finished, and leave the
 * description (kind GONE) to whoever finds it in the inbox. */
void nc_page_release_run(struct nc_page *page);
/* A description for a page of the class (NC_CLASS_LARGE, NC_CLASS_ZERO), with
 * no block live and none claimed; NULL when there is no memory. */
struct nc_page *nc_page_describe(unsigned class_idx, size_t block_count);
/* Give back a description that is in no list. */
void nc_page_forget(struct nc_page *page);

/* The page will be used up, like many before it: get all of its memory now. */
void nc_page_populate(struct nc_page *page);
/* Give `head` blocks to hand out: collect what others freed, then move the free
 * lists over, then use more of the page. False when the page is full. */
bool nc_page_refill(struct nc_page *page, struct nc_random *random);
/* Whether the page has a block to hand out, leaving claims aside. */
bool nc_page_has_free(const struct nc_page *page);
/* The next list of the queue becomes head's; false when there is none. */
NC_INLINE bool nc_page_next_list(struct nc_page *page)
{
	if (!page->queue_count) {
		page->head = (uint8_t *)&page->end_link;
		return false;
	}
	page->head_idx = page->queue[--page->queue_count];
	page->head = nc_page_ref_block(page, page->head_idx);
	return true;
}
/* Take over what others freed; x_owner becomes OWNED. Returns the count. */
size_t nc_page_collect(struct nc_page *page, struct nc_random *random);
/* Make the lists anew from the live bits (the lists cannot be trusted). */
void nc_page_rebuild(struct nc_page *page, struct nc_random *random);

size_t nc_page_live_count(const struct nc_page *page);
/* And those that wait: when it is 0, an owned page without claims is empty. */
size_t nc_page_used_count(const struct nc_page *page);
size_t nc_page_claim_count(const struct nc_page *page);
/* Every live block is claimed, and none waits. Exact while the owner cannot change
 * live bits. */
bool nc_page_all_claimed(const struct nc_page *page);
/* Slices that a page of the class has. */
size_t nc_page_slices(unsigned class_idx);
/* Verify the invariants above; reports an internal error. Owner only. */
void nc_page_check(const struct nc_page *page);

/* The reports that name a block. */
NC_COLD void nc_page_report_double_free(const struct nc_page *page, const void *p);
NC_COLD void nc_page_report_race(const struct nc_page *page, uintptr_t i);
NC_COLD void nc_page_report_overflow(const void *block, const struct nc_page *page);
/* The first `link` bytes are left out; `when` completes "found". */
NC_COLD void nc_page_report_written(const void *block, size_t block_bytes, size_t link,
                                    const char *when);
NC_COLD void nc_page_report_link(const struct nc_page *page, const void *block);
NC_COLD void nc_page_report_invalid(const struct nc_page *page, const void *p,
                                    const char *call);

#endif
