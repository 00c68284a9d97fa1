#include "thread.h"
#include "meta.h"
#include "port_hooks.h"

static struct nc_heap *heaps;     /* all there ever were */
static size_t heap_count;         /* of them */
static struct nc_heap *idle;      /* those without a thread */
static struct nc_heap *asked;     /* in heaps: whose thread was asked for last */
static struct nc_heap *late_heap; /* of threads past their exit */
static struct nc_lock late_lock;
static uint32_t x_dead_heaps; /* 1: a fork left pages of vanished threads */

/* The first thread lost its word as the program started: this is its heap. */
static struct nc_heap *first_heap_locked(void)
{
	static struct nc_heap *first;
	struct nc_heap *heap = NULL;

	if (!NC_FIRST_THREAD_MOVES)
		return NULL;
	if (!first)
		first = heaps;
	if (first && first == heaps && nc_port_is_again(first->tid))
		heap = first;
	return heap;
}

/* The heap after the one that was asked for last, if its thread is gone. */
static struct nc_heap *ask_next_locked(uint32_t process)
{
	struct nc_heap *heap = asked && asked->next ? asked->next : heaps;

	asked = heap;
	if (heap->idle || heap->dead || heap == late_heap)
		return NULL;
	uint32_t tid = heap->tid;
	nc_lock_give(&nc_core_lock);
	bool gone = nc_port_tid_gone(process, tid);
	nc_lock_take(&nc_core_lock);
	return gone && !heap->idle && !heap->dead && heap->tid == tid ? heap : NULL;
}

/* Not every thread's end is told: one without destructors left when it first
 * allocates, or in a program that has taken all keys. Before a heap is made some
 * threads of the list are asked for, and more of them once one was gone: so a
 * program that only starts threads pays little, and no heap is lost for ever. */
static struct nc_heap *left_behind_locked(void)
{
	static bool any_gone;
	size_t most = nc_min(heap_count, any_gone ? heap_count / 8 + 2 : 2);
	uint32_t process = most ? nc_port_tids_hold() : 0;
	struct nc_heap *heap = NULL;

	while (process && most-- && !heap)
		heap = ask_next_locked(process);
	any_gone |= heap != NULL;
	return heap;
}

static struct nc_heap *new_heap_locked(void)
{
	struct nc_heap *heap = nc_meta_take_locked(sizeof *heap);

	if (heap) {
		nc_heap_init(heap);
		heap->next = heaps;
		heaps = heap;
		heap_count++;
	}
	return heap;
}

static struct nc_heap *take_heap(bool *first)
{
	uint32_t tid = nc_port_tid();

	nc_lock_take(&nc_core_lock);
	*first = !heaps;
	struct nc_heap *heap = first_heap_locked();
	if (!heap && idle) {
		heap = idle;
		idle = heap->next_idle;
	}
	if (!heap)
		heap = left_behind_locked();
	if (!heap)
		heap = new_heap_locked();
	if (heap) {
		heap->idle = false;
		heap->exit_rounds = 0;
		heap->tid = tid;
	}
	nc_lock_give(&nc_core_lock);
	return heap;
}

struct nc_heap *nc_heap_enter(void)
{
	bool first;

	if (nc_port_self_get())
		return NULL;
	nc_arena_init();
	nc_page_init_none();
	struct nc_heap *heap = take_heap(&first);
	if (!heap)
		return NULL;
	nc_random_init(&heap->random);
	nc_port_self_set(nc_heap_word(heap));
	/* This may allocate, and come back here with a heap. The first thread
	 * may be too early in the process for it; its end is the process's, or
	 * nc_preload_start registers it. */
	if (first)
		nc_port_fork_register();
	else
		nc_port_thread_register(nc_heap_word(heap));
	return heap;
}

void nc_heap_thread_exit(uintptr_t self)
{
	struct nc_heap *heap = nc_heap_of_word(self);

	if (!nc_heap_is_word(self))
		return;
	if (heap->exit_rounds++ < NC_EXIT_ROUNDS) {
		nc_port_thread_register(self);
		return;
	}
	nc_port_self_set(NC_WORD_LATE);
	nc_heap_give_pages(heap);
	nc_lock_take(&nc_core_lock);
	heap->idle = true;
	heap->next_idle = idle;
	idle = heap;
	nc_lock_give(&nc_core_lock);
}

struct nc_heap *nc_heap_late_take(void)
{
	bool first;

	nc_lock_take(&late_lock);
	if (!late_heap) {
		struct nc_heap *heap = take_heap(&first);
		if (heap)
			nc_random_init(&heap->random);
		/* Who looks for heaps of gone threads holds this lock alone. */
		nc_lock_take(&nc_core_lock);
		late_heap = heap;
		nc_lock_give(&nc_core_lock);
	}
	return late_heap;
}

void nc_heap_late_give(void)
{
	nc_lock_give(&late_lock);
}

void nc_heap_fork_prepare(void)
{
	nc_lock_take_for_fork(&late_lock);
	nc_lock_take_for_fork(&nc_core_lock);
}

void nc_heap_fork_parent(void)
{
	nc_lock_give_after_fork(&nc_core_lock);
	nc_lock_give_after_fork(&late_lock);
}

/* Pages on their way to the inbox of a heap that lives on, with a thread that is
 * gone, or looked at by one. Done at the fork, while nobody else is there. */
static void repair_inbox(struct nc_heap *heap)
{
	nc_store_relaxed(&heap->x_inbox, 0);
	for (struct nc_page *page = heap->parked; page; page = page->next) {
		uintptr_t owner = nc_load_relaxed(&page->x_owner);
		if ((owner & NC_OWNER_KINDS) == NC_TAKEN &&
		    nc_page_find(page->run) != page) {
			/* Finished, but for what comes after the page map. */
			nc_store_relaxed(&page->x_owner, NC_GONE);
			nc_arena_give(page->run, page->slice_count, true);
		} else if ((owner & NC_OWNER_KINDS) == NC_TAKEN) {
			nc_store_relaxed(&page->x_owner, nc_heap_word(heap) | NC_PENDING);
		}
		if ((owner & NC_OWNER_KINDS) != NC_PARKED)
			nc_heap_push_inbox(heap, page);
	}
}

void nc_heap_fork_child(void)
{
	uintptr_t word = nc_port_self_get();
	struct nc_heap *own = nc_heap_is_word(word) ? nc_heap_of_word(word) : NULL;

	nc_port_forked();
	nc_lock_init(&nc_core_lock);
	nc_lock_init(&late_lock);
	if (own)
		own->tid = nc_port_tid();
	for (struct nc_heap *heap = heaps; heap; heap = heap->next) {
		if (heap == own || heap == late_heap || heap->idle) {
			repair_inbox(heap);
			continue;
		}
		heap->dead = true;
		nc_store_release(&x_dead_heaps, 1);
	}
}

/* A page of a thread that is gone: its live bits hold, its lists may have been
 * in the middle of a change. */
static void reap_page(void *what, void *with)
{
	struct nc_page *page = what;
	uintptr_t owner = nc_load_relaxed(&page->x_owner);
	struct nc_heap *heap = nc_heap_of_word(owner & ~NC_OWNER_KINDS);

	(void)with;
	if (!(owner & ~NC_OWNER_KINDS) || (owner & NC_OWNER_KINDS) > NC_TAKEN)
		return;
	if (!heap->dead)
		return;
	page->current = page->kept_empty = false;
	page->distrusted = true;
	nc_store_relaxed(&page->x_waiting, 0); /* the heap's quarantine is forgotten */
	nc_abandon_locked(page);
}

void nc_heap_reap_slow(void)
{
	if (!nc_load_acquire(&x_dead_heaps))
		return;
	nc_lock_take(&nc_core_lock);
	if (x_dead_heaps) {
		nc_arena_walk_locked(reap_page, NULL);
		for (struct nc_heap *heap = heaps; heap; heap = heap->next) {
			if (!heap->dead)
				continue;
			struct nc_heap *next = heap->next;
			nc_heap_init(heap);
			heap->next = next;
			heap->idle = true;
			heap->next_idle = idle;
			idle = heap;
		}
		nc_store_release(&x_dead_heaps, 0);
	}
	nc_lock_give(&nc_core_lock);
}

size_t nc_heap_count_locked(void)
{
	size_t n = 0;

	for (struct nc_heap *heap = heaps; heap; heap = heap->next)
		n += !heap->idle;
	return n;
}

struct nc_heap *nc_heap_only(void)
{
	uintptr_t word = nc_port_self_get();

	if (!nc_heap_is_word(word) || nc_load_relaxed(&x_dead_heaps))
		return NULL;
	for (struct nc_heap *heap = heaps; heap; heap = heap->next) {
		if (!heap->idle && heap != nc_heap_of_word(word))
			return NULL;
	}
	return nc_heap_of_word(word);
}
