/* nacre: the public interface beside the C library's own names.
 *
 * Everything here is safe to call from any thread at any time. Nothing here is
 * async-signal-safe unless it says so. */
#ifndef NACRE_H
#define NACRE_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define NACRE_API __attribute__((visibility("default")))
#else
#define NACRE_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The version as "MAJOR.MINOR.PATCH PROFILE", a static string; mitigations that are
 * not as in the profile follow as ",NAME=VALUE". That the symbol resolves shows
 * that nacre is active. Async-signal-safe; no errors. */
NACRE_API const char *nacre_version(void);

/* What the heap holds, in bytes unless a field says otherwise. Figures are
 * exact when no other thread allocates meanwhile. */
struct nacre_stats {
	size_t reserved_bytes; /* address space of arenas and large blocks */
	size_t metadata_bytes; /* address space of page descriptions */
	size_t page_bytes;     /* address space of pages that hold small blocks */
	size_t large_bytes;    /* usable bytes of live large blocks */
	size_t cached_bytes;   /* freed large mappings kept for reuse */
	size_t live_blocks;    /* count: blocks in use, small and large */
	size_t live_bytes;     /* their block sizes, small and large */
	size_t remote_blocks;  /* count: freed by another thread, not yet collected */
	size_t heaps;          /* count: heaps of living threads */
	size_t guards_dropped; /* count: guard pages the system did not give */
};

/* Fill the first `size` bytes of *out (pass sizeof *out; a newer library fills
 * no more than that). Returns 0, or -1 with errno EINVAL when size is 0.
 * Cost: a walk over all pages, under the arena lock. */
NACRE_API int nacre_get_stats(struct nacre_stats *out, size_t size);

/* Write the statistics as text to the descriptor fd. No allocation. */
NACRE_API void nacre_print_stats(int fd);

/* Walk the calling thread's heap and the arenas and verify every invariant;
 * returns the number of pages visited, aborts on the first damage. */
NACRE_API size_t nacre_check_heap(void);

/* The last report's line and kind word; zero bytes until there is one. */
extern NACRE_API char nacre_report[256];
extern NACRE_API char nacre_report_kind[32];

#ifdef __cplusplus
}
#endif
#endif
