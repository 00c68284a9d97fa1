/* nacre's own interface, found as a program finds it: by its symbols. */
#include "../testing.h"

#include "nacre.h"

#include <ctype.h>

int main(void)
{
	const char *(*version)(void) =
		(const char *(*)(void))dlsym(RTLD_DEFAULT, "nacre_version");
	int (*get)(struct nacre_stats *, size_t) =
		(int (*)(struct nacre_stats *, size_t))dlsym(RTLD_DEFAULT,
	                                                     "nacre_get_stats");
	void (*print)(int) = (void (*)(int))dlsym(RTLD_DEFAULT, "nacre_print_stats");
	size_t (*check)(void) = (size_t(*)(void))dlsym(RTLD_DEFAULT, "nacre_check_heap");
	const char *report = dlsym(RTLD_DEFAULT, "nacre_report");
	const char *kind = dlsym(RTLD_DEFAULT, "nacre_report_kind");
	struct nacre_stats before, after, part;
	static void *blocks[1000];
	char text[4096];
	int ends[2];

	if (!version)
		return 77;
	CHECK(get && print && check && report && kind);
	CHECK(isdigit((unsigned char)version()[0]) && strchr(version(), ' '));
	CHECK(version() == version());
	CHECK(test_zero(report, 256) && test_zero(kind, 32));

	CHECK(get(&before, sizeof before) == 0);
	for (size_t i = 0; i < 1000; i++)
		blocks[i] = malloc(i % 10 == 9 ? 200000 : 100);
	CHECK(get(&after, sizeof after) == 0);
	CHECK(after.live_blocks == before.live_blocks + 1000);
	CHECK(after.live_bytes >= before.live_bytes + 900 * 100 + 100 * 200000);
	CHECK(after.live_bytes <= before.live_bytes + 900 * 128 + 100 * 300000);
	CHECK(after.large_bytes >= before.large_bytes + 100 * 200000);
	CHECK(after.reserved_bytes >= after.page_bytes);
	CHECK(after.heaps >= 1 && after.metadata_bytes > 0);
	CHECK(check() > 0);
	for (size_t i = 0; i < 1000; i++)
		free(blocks[i]);
	CHECK(get(&after, sizeof after) == 0);
	CHECK(after.live_blocks == before.live_blocks);
	CHECK(after.live_bytes == before.live_bytes);
	CHECK(check() > 0);

	memset(&part, 0xee, sizeof part);
	CHECK(get(&part, sizeof(size_t)) == 0);
	CHECK(part.reserved_bytes == after.reserved_bytes);
	CHECK(part.metadata_bytes != after.metadata_bytes);
	errno = 0;
	CHECK(get(&part, 0) == -1 && errno == EINVAL);

	CHECK(pipe(ends) == 0);
	print(ends[1]);
	close(ends[1]);
	CHECK(read(ends[0], text, sizeof text) > 20);
	CHECK(test_zero(report, 256) && test_zero(kind, 32));
	return 0;
}
