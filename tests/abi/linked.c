/* nacre linked in, as object or archive, dynamic and static: it serves the program,
 * and hears of the ends of its threads. */
#include "../testing.h"

#include <pthread.h>

#include "nacre.h"

static void *use(void *unused)
{
	for (int i = 0; i < 1000; i++)
		free(malloc((size_t)i));
	return unused;
}

int main(void)
{
	struct nacre_stats stats;
	pthread_t thread;

	for (int i = 0; i < 20; i++) {
		CHECK(pthread_create(&thread, NULL, use, NULL) == 0);
		CHECK(pthread_join(thread, NULL) == 0);
	}
	void *block = malloc(100);
	CHECK(nacre_get_stats(&stats, sizeof stats) == 0);
	CHECK(stats.heaps == 1);
	CHECK(stats.live_blocks >= 1 && stats.live_bytes >= 100);
	free(block);
	CHECK(nacre_check_heap() > 0);
	return 0;
}
