/* What musl calls: at a thread's end, around fork, and with memory to give away. */
#include "dynlink.h"
#include "fork_impl.h"

#include "port.h"
#include "port_hooks.h"

void __malloc_thread_exit(void)
{
	nc_heap_thread_exit(nc_port_self_get());
}

/* Only in a process with other threads; who: -1 before, 0 parent, 1 child. */
void __malloc_atfork(int who)
{
	if (who < 0)
		nc_heap_fork_prepare();
	else if (who > 0)
		nc_heap_fork_child();
	else
		nc_heap_fork_parent();
}

/* The rests of the pages of libraries' data: not taken, a block there would lie
 * beside variables, behind no guard. */
void __malloc_donate(char *start, char *end)
{
	(void)start;
	(void)end;
}

void nc_port_thread_register(uintptr_t self)
{
	(void)self;
	/* A fork in a process with one thread told nothing. */
	if (libc.threads_minus_1 <= 1)
		nc_port_process_set();
	else
		nc_port_process_known();
}

uint32_t nc_port_tid(void)
{
	return (uint32_t)nc_port_thread();
}

uint32_t nc_port_tids_hold(void)
{
	return 0;
}

bool nc_port_tid_gone(uint32_t process, uint32_t tid)
{
	(void)process;
	(void)tid;
	return false;
}

void nc_port_fork_register(void)
{
}

void nc_port_forked(void)
{
	nc_port_process_set();
}
