/* What the host side calls in the core: the only upward calls there are. */
#ifndef NC_PORT_HOOKS_H
#define NC_PORT_HOOKS_H

#include <stdint.h>

/* The calling thread, whose word was `self`, ends; it may be called again. */
void nc_heap_thread_exit(uintptr_t self);
void nc_heap_fork_prepare(void);
void nc_heap_fork_parent(void);
void nc_heap_fork_child(void);

#endif
