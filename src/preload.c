/* What the library does when it is loaded, and at the end. Loaded: have fork and the ends of
 * threads told to us, before the program takes all keys. No allocation waits for this. */
#include "thread.h"

__attribute__((constructor(101))) static void nc_preload_start(void)
{
	nc_page_init_none();
	nc_port_fork_register();
	nc_port_thread_register(nc_port_self_get());
}

__attribute__((destructor(101))) static void nc_preload_end(void)
{
	const struct nc_heap *heap = NC_CHECK_EXIT ? nc_heap_only() : NULL;

	if (heap)
		nc_heap_inspect(heap);
}
