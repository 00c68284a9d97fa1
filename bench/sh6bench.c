/* Small blocks in batches of one size, by THREADS threads, each by itself; some batches
 * are freed in the order they were made in, some in reverse. sh_load.h says how.
 *
 *     sh6bench [THREADS CALLS MIN MAX]
 *              2 30000 1 1000
 *
 * CALLS of a thread, about 1000 blocks each; MIN and MAX size of a block in bytes.
 * Operations: blocks and the tables of the batches, each one malloc and one free.
 *
 * After what is published about sh6bench (MicroQuill, SmartHeap): its arguments and
 * their values in mimalloc-bench, and the description there. Its source, whose terms
 * allow nothing derived from it, was not used: compare allocators by this program, not
 * this program with that one. */
#include "sh_load.h"

int main(int argc, char **argv)
{
	return sh_main("sh6bench", 0, 30000, argc, argv);
}
