/* glibc's own names and its reporting functions, so that nothing in a process
 * reaches the allocator inside libc.so. */
#include <errno.h>
#include <malloc.h>
#include <stdio.h>

#include "stats.h"
#include "api.h"

NC_EXPORT struct mallinfo2 nacre_mallinfo2(void) __asm__("mallinfo2");
NC_EXPORT struct mallinfo nacre_mallinfo(void) __asm__("mallinfo");

struct mallinfo2 nacre_mallinfo2(void)
{
	struct nacre_stats s;

	nc_stats(&s);
	/* arena and uordblks leave large blocks out, as glibc's do. */
	struct mallinfo2 info = {
		.arena = s.page_bytes + s.cached_bytes,
		.hblkhd = s.large_bytes,
		.uordblks = s.live_bytes - s.large_bytes,
		.keepcost = s.cached_bytes,
	};
	info.fordblks = info.arena > info.uordblks ? info.arena - info.uordblks : 0;
	return info;
}

static int clamp(size_t v)
{
	return v > 0x7fffffff ? 0x7fffffff : (int)v;
}

struct mallinfo nacre_mallinfo(void)
{
	struct mallinfo2 all = nacre_mallinfo2();

	return (struct mallinfo){
		.arena = clamp(all.arena),
		.hblkhd = clamp(all.hblkhd),
		.uordblks = clamp(all.uordblks),
		.fordblks = clamp(all.fordblks),
		.keepcost = clamp(all.keepcost),
	};
}

/* Every parameter is accepted and none changes anything. */
NC_EXPORT int mallopt(int param, int value)
{
	(void)param;
	(void)value;
	return 1;
}

NC_EXPORT int malloc_trim(size_t pad)
{
	int saved = errno;
	bool gave = nc_trim();

	(void)pad;
	errno = saved;
	return gave;
}

NC_EXPORT void malloc_stats(void)
{
	nacre_print_stats(2);
}

/* The totals of glibc's format; options must be 0. */
NC_EXPORT int malloc_info(int options, FILE *stream)
{
	struct nacre_stats s;
	char text[512];

	if (options) {
		errno = EINVAL;
		return -1;
	}
	nc_stats(&s);
	nc_format(text, sizeof text,
	          "<malloc version=\"nacre-%s\">\n"
	          "<total type=\"rest\" count=\"%z\" size=\"%z\"/>\n"
	          "<total type=\"mmap\" count=\"%z\" size=\"%z\"/>\n"
	          "<system type=\"current\" size=\"%z\"/>\n"
	          "<aspace type=\"total\" size=\"%z\"/>\n"
	          "</malloc>\n",
	          NC_VERSION, s.live_blocks, s.live_bytes - s.large_bytes, (size_t)0,
	          s.large_bytes, s.page_bytes + s.large_bytes + s.cached_bytes,
	          s.reserved_bytes);
	return fputs(text, stream) < 0 ? -1 : 0;
}
