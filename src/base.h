/* Attributes, assertion levels and small helpers that every file may use.
 *
 * Three levels of checks: promises (always on, they report and abort),
 * NC_ASSERT (internal invariants, on in debug builds) and, with NC_PARANOID,
 * full validity walks.
 */
#ifndef NC_BASE_H
#define NC_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config.h"

#define NC_INLINE static inline __attribute__((always_inline))
#define NC_COLD __attribute__((noinline, cold))
#define NC_NOINLINE __attribute__((noinline))
#define NC_NORETURN __attribute__((noreturn))
#ifndef NC_EXPORT
#define NC_EXPORT __attribute__((visibility("default")))
#endif
/* For data that other files declare: else it is reached through the GOT. */
#define NC_HIDDEN __attribute__((visibility("hidden")))
/* Never written once the loader has put its addresses right; it seals them then. */
#define NC_SEALED __attribute__((section(".data.rel.ro")))
#define NC_LIKELY(x) __builtin_expect(!!(x), 1)
#define NC_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define NC_STATIC_ASSERT(c, msg) _Static_assert(c, msg)
#define NC_CACHE_LINE 64

#ifdef NDEBUG
#define NC_ASSERT(c) ((void)0)
#else
void nc_assert_fail(const char *what);
#define NC_ASSERT(c) ((c) ? (void)0 : nc_assert_fail(#c))
#endif

/* A word of a free block: the program wrote other types there. */
typedef uintptr_t __attribute__((may_alias)) nc_word_t;
typedef uint32_t __attribute__((may_alias, aligned(1))) nc_u32_any_t;
typedef uint64_t __attribute__((may_alias)) nc_word64_t;

NC_INLINE size_t nc_min(size_t a, size_t b)
{
	return a < b ? a : b;
}

NC_INLINE size_t nc_max(size_t a, size_t b)
{
	return a > b ? a : b;
}

/* align is a power of two. */
NC_INLINE uintptr_t nc_align_up(uintptr_t x, size_t align)
{
	return (x + align - 1) & ~(uintptr_t)(align - 1);
}

NC_INLINE uintptr_t nc_align_down(uintptr_t x, size_t align)
{
	return x & ~(uintptr_t)(align - 1);
}

#endif
