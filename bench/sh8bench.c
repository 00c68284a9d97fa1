/* sh6bench.c's load with migration: one batch in four is freed by the next thread.
 *
 *     sh8bench [THREADS CALLS MIN MAX]
 *              2 10000 1 1000
 *
 * Arguments, operations and source as in sh6bench.c; fewer calls, since blocks that
 * change threads cost some allocators much more. */
#include "sh_load.h"

int main(int argc, char **argv)
{
	return sh_main("sh8bench", 1, 10000, argc, argv);
}
