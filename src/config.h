/* Every knob of nacre, always defined as 0 or 1 or a number, with the
 * assertions that keep a set of knobs sound. The build passes them by -D; a
 * name that is missing gets the standard profile's value.
 *
 * Owns: the knobs. Does not own: what they do (docs/mitigations/).
 */
#ifndef NC_CONFIG_H
#define NC_CONFIG_H

#ifndef NC_VERSION
#define NC_VERSION "0.1.0"
#endif
#ifndef NC_PROFILE
#define NC_PROFILE "standard"
#endif

/* Guard pages behind each page of blocks, around metadata and large blocks. */
#ifndef NC_GUARD
#define NC_GUARD 1
#endif
/* Free-list links are encoded with the page's keys and the link's address. */
#ifndef NC_LINK_ENCODE
#define NC_LINK_ENCODE 1
#endif
/* Blocks are first used, and reused, in random order. */
#ifndef NC_RANDOM_ORDER
#define NC_RANDOM_ORDER 1
#endif
/* A freed pointer must be the start of a block. */
#ifndef NC_CHECK_START
#define NC_CHECK_START 1
#endif
/* One live bit a block decides whether it may be freed or handed out. */
#ifndef NC_LIVE_BITMAP
#define NC_LIVE_BITMAP 1
#endif
/* Four bytes at a block's end are checked at its free. */
#ifndef NC_CANARY
#define NC_CANARY 1
#endif
/* Every byte between the size asked for and the block's end is checked at its free. */
#ifndef NC_SLACK
#define NC_SLACK 0
#endif
/* A freed block is zero, and must still be when it is handed out again. */
#ifndef NC_WIPE
#define NC_WIPE 0
#endif
/* A freed block waits, in a random place and a queue, before it is used again. */
#ifndef NC_QUARANTINE
#define NC_QUARANTINE 0
#endif
/* Bytes that wait in a heap at most, of one size class. */
#ifndef NC_QUARANTINE_CLASS_BYTES
#define NC_QUARANTINE_CLASS_BYTES ((size_t)56 << 10)
#endif
/* A page's memory waits, wiped, before other blocks have it. */
#ifndef NC_LIMBO
#define NC_LIMBO 0
#endif
/* Bytes of pages that wait at most. */
#ifndef NC_LIMBO_BYTES
#define NC_LIMBO_BYTES ((size_t)2 << 20)
#endif
/* Blocks are first used in an order in which few follow their neighbours. */
#ifndef NC_SCATTER
#define NC_SCATTER 0
#endif
/* A block of no bytes is a guard. */
#ifndef NC_GUARD_ZERO
#define NC_GUARD_ZERO 0
#endif
/* A freed large block is a guard, and waits. */
#ifndef NC_GUARD_FREED
#define NC_GUARD_FREED 0
#endif
/* Large blocks lie at random places between guards of random sizes. */
#ifndef NC_GUARD_RANDOM
#define NC_GUARD_RANDOM 0
#endif
/* What a thread's heap holds is checked when a process with one thread ends. */
#ifndef NC_CHECK_EXIT
#define NC_CHECK_EXIT 0
#endif
#define NC_CHECK_EXIT_BYTES ((size_t)64 << 20)
/* The sized and aligned frees check what they are given. */
#ifndef NC_CHECK_SIZE
#define NC_CHECK_SIZE 1
#endif
/* Full validity walks after slow-path operations (for tests). */
#ifndef NC_PARANOID
#define NC_PARANOID 0
#endif
/* realloc(p, 0) frees p and returns NULL, as glibc does. */
#ifndef NC_REALLOC_ZERO_FREES
#define NC_REALLOC_ZERO_FREES 1
#endif

#if !NC_CANARY
#undef NC_SLACK
#define NC_SLACK 0 /* it is the canary made exact */
#endif
#if !NC_LIVE_BITMAP
#undef NC_QUARANTINE
#define NC_QUARANTINE 0 /* a second free would wait twice */
#undef NC_GUARD_ZERO
#define NC_GUARD_ZERO 0 /* its blocks have nothing else */
#endif
#if !NC_WIPE || !NC_LIVE_BITMAP
#undef NC_CHECK_EXIT
#define NC_CHECK_EXIT 0
#endif
#if !NC_WIPE
#undef NC_LIMBO
#define NC_LIMBO 0 /* it looks for what is not zero */
#endif
#if !NC_RANDOM_ORDER
#undef NC_SCATTER
#define NC_SCATTER 0
#endif
#if !NC_GUARD
#undef NC_GUARD_ZERO
#define NC_GUARD_ZERO 0
#undef NC_GUARD_FREED
#define NC_GUARD_FREED 0
#undef NC_GUARD_RANDOM
#define NC_GUARD_RANDOM 0
#endif
#define NC_CANARY_BYTES (4 * NC_CANARY)

/* Address space: unit of the page map, bits of an address, slices a leaf. */
#define NC_SLICE_SHIFT 16
#define NC_SLICE_BYTES ((size_t)1 << NC_SLICE_SHIFT)
#if UINTPTR_MAX > 0xffffffffu
#define NC_ADDR_BITS 47
#define NC_LEAF_BITS 16
#else
#define NC_ADDR_BITS 32
#define NC_LEAF_BITS 10
#endif
#define NC_ROOT_BITS (NC_ADDR_BITS - NC_SLICE_SHIFT - NC_LEAF_BITS)

/* Blocks of a multiple of 16 bytes up to here have a direct slot in a heap. */
#define NC_GRAIN 16
#define NC_DIRECT_BYTES (1024 + NC_GRAIN)
#define NC_DIRECT_COUNT (NC_DIRECT_BYTES / NC_GRAIN + 1)
/* Largest block that shares a page with others; above it blocks are large. */
#define NC_SMALL_BYTES (((size_t)64 << 10) + NC_GRAIN)
/* Large blocks above this have a mapping of their own; those that grew, or that shall
 * read as zero, from the second figure on: a mapping moves without being copied, and is
 * zero without being written. */
#define NC_OWN_MAP_BYTES (sizeof(void *) > 4 ? (size_t)32 << 20 : (size_t)4 << 20)
#define NC_OWN_MAP_SOON_BYTES ((size_t)1 << 20)

/* Free lists a page: a freed block goes to a random one, so the next block
 * handed out is guessed right at most once in this many times. */
#define NC_LISTS (NC_RANDOM_ORDER ? 8 : 1)
#define NC_LISTS_MAX 8

/* First arena; later ones grow with use up to the second figure. */
#define NC_ARENA_MIN_BYTES ((size_t)16 << 20)
#define NC_ARENA_MAX_BYTES (sizeof(void *) > 4 ? (size_t)1 << 30 : (size_t)64 << 20)
/* Descriptions are mapped in areas of this. */
#define NC_META_AREA_BYTES ((size_t)256 << 10)
/* Freed slices kept resident: this, and one part in 2^shift of those in use.
 * To touch a page of memory anew costs more than anything else here. */
#define NC_DIRTY_MIN_BYTES (((size_t)4 << 20) - NC_LIMBO * NC_LIMBO_BYTES)
#define NC_DIRTY_SHIFT 2
/* Kept besides, at most, where what was given back was soon missed. */
#define NC_DIRTY_EXTRA_BYTES (sizeof(void *) > 4 ? (size_t)32 << 20 : (size_t)8 << 20)
/* Empty pages a heap keeps for itself. */
#define NC_HEAP_EMPTY_BYTES ((size_t)1 << 20)
/* Freed large blocks kept for reuse: their count, and their bytes at first and
 * at most. The bound grows when a block is asked for that was just let go. With
 * NC_GUARD_FREED it is of blocks that wait, and that have no memory. */
#define NC_LARGE_CACHE_COUNT (NC_GUARD_FREED ? 256 : 32)
#define NC_LARGE_CACHE_MIN_BYTES ((size_t)2 << 20)
#define NC_LARGE_CACHE_BYTES (NC_GUARD_FREED ? NC_ARENA_MAX_BYTES / 8 : (size_t)8 << 20)
/* Guards of random sizes have this many system pages at most. */
#define NC_GUARD_RANDOM_PAGES ((size_t)32)
/* Guards that split a mapping (where the kernel has no cheaper ones). */
#define NC_GUARD_SPLIT_MAX 8192

#endif
