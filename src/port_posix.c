/* Threads and fork where a POSIX libc's program has them (glibc; musl as a
 * preload): a thread-specific key, and handlers. */
#include "port_sys.h"

#include <pthread.h>

#include "port.h"
#include "port_hooks.h"

__thread uintptr_t nc_port_self __attribute__((tls_model(NC_PORT_TLS_MODEL)));
uint32_t x_nc_port_forks;

/* In the shared library, the oldest version of each name, so that it loads on
 * glibc 2.17 and in programs without the thread library (where weak makes them
 * NULL). Never in a static program: an archive gives nothing to a weak name, and
 * the ends of threads would go unheard. */
#ifdef NC_SHARED
#if defined(__GLIBC__) && defined(__x86_64__)
#define NC_OLD_GLIBC(name) __asm__(".symver " #name "," #name "@GLIBC_2.2.5")
#elif defined(__GLIBC__) && defined(__aarch64__)
#define NC_OLD_GLIBC(name) __asm__(".symver " #name "," #name "@GLIBC_2.17")
#elif defined(__GLIBC__) && defined(__i386__)
#define NC_OLD_GLIBC(name) __asm__(".symver " #name "," #name "@GLIBC_2.0")
#else
#define NC_OLD_GLIBC(name) NC_STATIC_ASSERT(1, "the default version is the only one")
#endif
NC_OLD_GLIBC(pthread_key_create);
NC_OLD_GLIBC(pthread_setspecific);
#pragma weak pthread_key_create
#pragma weak pthread_setspecific
#define NC_HAVE_KEYS (pthread_key_create && pthread_setspecific)
#else
#define NC_HAVE_KEYS true
#endif

static struct nc_lock key_lock;
static pthread_key_t key;
static uint32_t x_key_state; /* 0 not made, 1 made, 2 none to be had */

void nc_port_forked(void)
{
	nc_lock_init(&key_lock);
	nc_port_process_set();
	__atomic_fetch_add(&x_nc_port_forks, 1, __ATOMIC_RELAXED);
}

static void thread_exit(void *self)
{
	nc_heap_thread_exit((uintptr_t)self);
}

uint32_t nc_port_tid(void)
{
	nc_port_process_known();
	return (uint32_t)nc_sys(SYS_gettid);
}

uint32_t nc_port_tids_hold(void)
{
	uint32_t pid = (uint32_t)nc_sys(SYS_getpid);

	return nc_port_process_is(pid) ? pid : 0;
}

bool nc_port_tid_gone(uint32_t process, uint32_t tid)
{
	return nc_sys(SYS_tgkill, (long)process, (long)tid, 0) == -ESRCH;
}

void nc_port_thread_register(uintptr_t self)
{
	if (!NC_HAVE_KEYS)
		return;
	if (!nc_load_acquire(&x_key_state)) {
		/* glibc's pthread_key_create takes no memory, so nothing comes
		 * back here while the lock is held. */
		nc_lock_take(&key_lock);
		if (!x_key_state)
			nc_store_release(&x_key_state,
			                 pthread_key_create(&key, thread_exit) ? 2u : 1u);
		nc_lock_give(&key_lock);
	}
	if (nc_load_acquire(&x_key_state) == 1)
		pthread_setspecific(key, (void *)self);
}

void nc_port_fork_register(void)
{
	static uint32_t x_done;

	if (!__atomic_exchange_n(&x_done, 1, __ATOMIC_RELAXED))
		pthread_atfork(nc_heap_fork_prepare, nc_heap_fork_parent,
		               nc_heap_fork_child);
}
