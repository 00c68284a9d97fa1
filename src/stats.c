#include <errno.h>

#include "arena.h"
#include "large.h"
#include "meta.h"
#include "stats.h"

static void count_page(void *what, void *with)
{
	const struct nc_page *page = what;
	struct nacre_stats *out = with;

	if (nc_load_relaxed(&page->x_owner) == NC_LARGE)
		return;
	size_t claimed = nc_page_claim_count(page);
	size_t live = nc_page_live_count(page);
	live = live > claimed ? live - claimed : 0;
	out->page_bytes += page->slice_count << NC_SLICE_SHIFT;
	out->live_blocks += live;
	out->live_bytes += live * page->block_bytes;
	out->remote_blocks += claimed;
}

void nc_stats(struct nacre_stats *out)
{
	struct nc_arena_figures arenas;
	struct nc_large_figures large;

	*out = (struct nacre_stats){ 0 };
	nc_lock_take(&nc_core_lock);
	nc_arena_walk_locked(count_page, out);
	nc_arena_figures_locked(&arenas);
	nc_large_figures_locked(&large);
	out->metadata_bytes = nc_meta_bytes_locked();
	out->heaps = nc_heap_count_locked();
	nc_lock_give(&nc_core_lock);
	out->reserved_bytes = arenas.reserved_bytes + large.mapped_bytes;
	out->large_bytes = large.live_bytes;
	out->cached_bytes = large.cached_bytes + arenas.dirty_bytes;
	out->live_blocks += large.live_blocks;
	out->live_bytes += large.live_bytes;
	out->guards_dropped = nc_port_guards_dropped();
}

NC_EXPORT int nacre_get_stats(struct nacre_stats *out, size_t size)
{
	struct nacre_stats all;

	if (!size) {
		errno = EINVAL;
		return -1;
	}
	nc_stats(&all);
	__builtin_memcpy(out, &all, nc_min(size, sizeof all));
	return 0;
}

NC_EXPORT void nacre_print_stats(int fd)
{
	struct nacre_stats s;
	char line[512];

	nc_stats(&s);
	size_t n = nc_format(line, sizeof line,
	                     "nacre %s\n"
	                     "live blocks        %z\n"
	                     "live bytes         %z\n"
	                     "  of large blocks  %z\n"
	                     "freed, to collect  %z blocks\n"
	                     "reserved bytes     %z\n"
	                     "  pages of blocks  %z\n"
	                     "kept for reuse     %z\n"
	                     "metadata bytes     %z\n"
	                     "heaps              %z\n"
	                     "guards dropped     %z\n",
	                     nacre_version(), s.live_blocks, s.live_bytes, s.large_bytes,
	                     s.remote_blocks, s.reserved_bytes, s.page_bytes,
	                     s.cached_bytes, s.metadata_bytes, s.heaps, s.guards_dropped);
	nc_port_write(fd, line, n);
}

NC_EXPORT const char *nacre_version(void)
{
	return NC_VERSION " " NC_PROFILE;
}

NC_EXPORT size_t nacre_check_heap(void)
{
	uintptr_t word = nc_port_self_get();

	if (!nc_heap_is_word(word))
		return 0;
	return nc_heap_check(nc_heap_of_word(word));
}
