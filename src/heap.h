/* Heaps: a thread's pages, by class.
 *
 * Owns: which page serves a class, the lists of pages, the hand-over between
 * threads. Does not own: blocks.
 * Threads: a heap has one user; others only push pages on its inbox. A heap's
 * memory is never unmapped: a push may come after its thread ended.
 * Invariants: heap->pages[c] is nc_page_empty or a page with current set, in no
 * list; heap->avail[c] lists owned pages with free blocks; heap->parked lists
 * full ones (kinds PARKED, PENDING, TAKEN, GONE); direct[i] is pages[c] of the
 * class c that serves blocks of i * NC_GRAIN bytes.
 */
#ifndef NC_HEAP_H
#define NC_HEAP_H

#include "mit_quarantine.h"
#include "page.h"

struct nc_heap {
	struct nc_page *direct[NC_DIRECT_COUNT];
	struct nc_page *pages[NC_CLASS_COUNT];
	struct nc_page *avail[NC_CLASS_COUNT];
	struct nc_page *parked;
	size_t empty_bytes;        /* of empty pages in avail */
	unsigned sweep_at;         /* class that the next sweep looks at */
	size_t sweep_in;           /* calls for a page until then */
	size_t sweep_pause;        /* the last pause between two */
	uintptr_t x_inbox;         /* pages that others freed in, linked by inbox_next */
	struct nc_heap *next;      /* all heaps */
	struct nc_heap *next_idle; /* those without a thread */
	bool idle;                 /* no thread has it */
	bool dead;                 /* its thread vanished in a fork */
	uint8_t made[NC_CLASS_COUNT]; /* pages of the class, POPULATE_AFTER at most */
	uint8_t exit_rounds;          /* thread-exit rounds seen */
	uint32_t tid;                 /* that has it, or had it last */
	struct nc_random random;
	/* NULL before the first free. Last: they outlive the heap's user. */
	struct nc_quarantine *quarantine[NC_QUARANTINE * NC_CLASS_COUNT];
} __attribute__((aligned(NC_CACHE_LINE)));

/* What a thread without a heap has, in place of direct: every malloc misses. A
 * thread's word (nc_port_self_get) is its heap's distance from here. The part
 * from the second cache line on is for threads that are past their exit. */
#define NC_NOBODY_LATE (NC_CACHE_LINE / sizeof(struct nc_page *))
extern NC_HIDDEN struct nc_page *nc_heap_nobody[NC_DIRECT_COUNT + NC_NOBODY_LATE];
#define NC_WORD_LATE ((uintptr_t)NC_CACHE_LINE)

NC_INLINE struct nc_heap *nc_heap_of_word(uintptr_t word)
{
	return (struct nc_heap *)((uintptr_t)nc_heap_nobody + word);
}

NC_INLINE uintptr_t nc_heap_word(const struct nc_heap *heap)
{
	return (uintptr_t)heap - (uintptr_t)nc_heap_nobody;
}

/* Whether the word is that of a heap, which one thread has. */
NC_INLINE bool nc_heap_is_word(uintptr_t word)
{
	return word != 0 && word != NC_WORD_LATE;
}

/* An empty heap; memory of one that was in use, or zeroed. */
void nc_heap_init(struct nc_heap *heap);

/* A page of the class with a block to hand out, made its current one; NULL
 * when there is no memory. Called when the current one has none. */
struct nc_page *nc_heap_page_slow(struct nc_heap *heap, unsigned class_idx);
/* The short way: the current page has more by itself, and nothing else is due.
 * False: nc_heap_page_slow. */
NC_INLINE bool nc_heap_refill_current(struct nc_heap *heap, struct nc_page *page)
{
	if (page == &nc_page_empty || nc_load_relaxed(&heap->x_inbox) || !heap->sweep_in)
		return false;
	heap->sweep_in--;
	return nc_page_refill(page, &heap->random);
}
/* The owner's page may be empty now (left came to 0). */
void nc_heap_page_emptied(struct nc_heap *heap, struct nc_page *page);
/* Make an owned, parked page ready for the owner's own free. False: it is
 * another thread's matter for now; free as they do. */
bool nc_heap_unpark(struct nc_heap *heap, struct nc_page *page);

/* Part of the owner's free behind every check. True: nc_heap_page_emptied is due. */
NC_INLINE bool nc_heap_push_freed(struct nc_page *page, uint8_t *block, uintptr_t i)
{
	nc_page_push(page, block, i, nc_page_pick_list(page));
	return --page->left == 0;
}

/* In its place with NC_QUARANTINE: the block waits, and another's wait ends. */
void nc_heap_put_off(struct nc_heap *heap, struct nc_page *page, uint8_t *block);
/* All waits of the heap end. */
void nc_heap_end_quarantine(struct nc_heap *heap);

/* Abandoned pages: give one (owned, in no list; it is released when it is
 * empty), take one of a class with a free block, finish one in which every block
 * is claimed, and tell that a block was claimed in one that was full. */
void nc_abandon(struct nc_heap *heap, struct nc_page *page);
void nc_abandon_locked(struct nc_page *page);
struct nc_page *nc_adopt(unsigned class_idx);
void nc_abandoned_finish(struct nc_page *page);
void nc_abandoned_reopen(struct nc_page *page);

/* Take everything from the inbox. */
void nc_heap_drain(struct nc_heap *heap);
/* Have the page, whose kind just became PENDING, in the inbox. */
void nc_heap_push_inbox(struct nc_heap *heap, struct nc_page *page);
/* All pages go to whoever wants them (at a thread's end). */
void nc_heap_give_pages(struct nc_heap *heap);
/* Give back what is empty (malloc_trim). */
void nc_heap_trim(struct nc_heap *heap);
/* Report what the heap's blocks hold amiss, of NC_CHECK_EXIT_BYTES at most. By its thread,
 * the only one, perhaps from a signal handler that interrupted a call. */
void nc_heap_inspect(const struct nc_heap *heap);
/* Verify every page of the heap; returns their count. */
size_t nc_heap_check(struct nc_heap *heap);

#endif
