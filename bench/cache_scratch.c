/* Passive false sharing. The main thread makes an object for each of THREADS threads;
 * they lie side by side. Each thread frees the one it was given and then makes, writes
 * and frees objects of the same size by itself: an allocator that gives a thread the
 * memory it just freed hands out parts of one cache line to several threads.
 *
 *     cache_scratch [THREADS OBJECTS SIZE WRITINGS CONCURRENCY]
 *                   2 1000 1 2000000 2
 *
 * OBJECTS that a thread makes, one after the other; SIZE of an object in bytes;
 * WRITINGS of a whole object, divided by THREADS, so that the work stays the same;
 * CONCURRENCY is taken for the sake of published command lines and ignored: it went to
 * pthread_setconcurrency, which does nothing on Linux.
 * Operations: bytes written (and read back).
 *
 * After E. Berger and others, "Hoard: A Scalable Memory Allocator for Multithreaded
 * Applications" (ASPLOS 2000); the arguments as in mimalloc-bench. */
#include "cache_load.h"

int main(int argc, char **argv)
{
	return cache_main("cache_scratch", 1, argc, argv);
}
