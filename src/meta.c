#include "meta.h"

struct nc_lock nc_core_lock;

#define SLOT_BYTES ((size_t)256)

static struct {
	uintptr_t next, end; /* unused part of the newest area */
	size_t total_bytes;
} meta;

static bool grow(size_t bytes)
{
	size_t guard = NC_GUARD ? nc_os_page : 0;
	size_t area = nc_max(nc_align_up(bytes, nc_os_page),
	                     nc_max(NC_META_AREA_BYTES, nc_os_page * 4));
	char *p = nc_port_map(area + 2 * guard);

	if (!p) {
		area = nc_align_up(bytes, nc_os_page);
		p = nc_port_map(area + 2 * guard);
		if (!p)
			return false;
	}
	if (guard) {
		nc_port_guard(p, guard);
		nc_port_guard(p + guard + area, guard);
	}
	meta.next = (uintptr_t)p + guard;
	meta.end = meta.next + area;
	meta.total_bytes += area + 2 * guard;
	return true;
}

void nc_meta_seed_locked(void *p, size_t bytes)
{
	meta.next = (uintptr_t)p;
	meta.end = meta.next + bytes;
	meta.total_bytes += bytes;
}

void *nc_meta_take_locked(size_t bytes)
{
	/* Slots lie close: what a small process has fits in one system page. */
	size_t slot_bytes = nc_align_up(bytes, SLOT_BYTES);

	if (meta.next + slot_bytes > meta.end && !grow(slot_bytes))
		return NULL;
	meta.next += slot_bytes;
	return (void *)(meta.next - slot_bytes);
}

size_t nc_meta_bytes_locked(void)
{
	return meta.total_bytes;
}
