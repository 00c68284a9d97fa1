#include "meta.h"
#include "bits.h"

struct nc_lock nc_core_lock;

#define MIN_SHIFT 8

static struct {
	uintptr_t next, end; /* unused part of the newest area */
	size_t total_bytes;
} meta;

static unsigned slot_shift(size_t bytes)
{
	return bytes <= (size_t)1 << MIN_SHIFT ? MIN_SHIFT : nc_log2(bytes - 1) + 1;
}

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
	unsigned shift = slot_shift(bytes);
	size_t slot_bytes = (size_t)1 << shift;
	uintptr_t at = nc_align_up(meta.next, nc_min(slot_bytes, 4096));
	if (at + slot_bytes > meta.end) {
		if (!grow(slot_bytes))
			return NULL;
		at = nc_align_up(meta.next, nc_min(slot_bytes, 4096));
	}
	meta.next = at + slot_bytes;
	return (void *)at;
}

size_t nc_meta_bytes_locked(void)
{
	return meta.total_bytes;
}
