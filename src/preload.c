/* What the library does when it is loaded: have fork and the ends of
 * threads told to us, before the program takes all keys. No allocation waits for this. */
#include "page.h"

__attribute__((constructor(101))) static void nc_preload_start(void)
{
	nc_page_init_none();
	nc_port_fork_register();
	nc_port_thread_register(nc_port_self_get());
}
