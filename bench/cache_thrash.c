/* Active false sharing. Each of THREADS threads makes, writes and frees small objects,
 * one at a time: an allocator that serves threads from one place gives them parts of
 * one cache line.
 *
 *     cache_thrash [THREADS OBJECTS SIZE WRITINGS CONCURRENCY]
 *                  2 1000 1 2000000 2
 *
 * Arguments, operations and source are cache_scratch.c's. */
#include "cache_load.h"

int main(int argc, char **argv)
{
	return cache_main("cache_thrash", 0, argc, argv);
}
