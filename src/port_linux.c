/* The host contract on Linux; port_sys.h says how system calls are made. */
#include "port_sys.h"

#include <signal.h>

#include "port.h"
#include "port_hooks.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102
#define MADV_GUARD_REMOVE 103
#endif

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

size_t nc_os_page;
static uint32_t x_process; /* that the heap is of, once there are two threads */

static struct nc_lock init_lock;
static uint32_t x_ready;
static uint32_t x_guard_by_protect; /* 1: the kernel has no cheap guards */
static uint32_t x_guard_cheap;      /* 1: it has, and so all that came before them */
static uint32_t x_guard_mappings;   /* guards that are mappings */
static uint32_t x_guards_dropped;

void nc_port_init(void)
{
	if (nc_load_acquire(&x_ready))
		return;
	nc_lock_take(&init_lock);
	if (!x_ready) {
		nc_os_page = nc_sys_page_bytes();
		nc_store_release(&x_ready, 1);
	}
	nc_lock_give(&init_lock);
}

static void *map(size_t bytes, int flags)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
	               MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	/* Taggers keep bits above 47 for themselves; some kernels give more. */
	if ((uint64_t)(uintptr_t)p + bytes > (uint64_t)1 << NC_ADDR_BITS) {
		munmap(p, bytes);
		return NULL;
	}
	return p;
}

void *nc_port_map(size_t bytes)
{
	return map(bytes, 0);
}

void *nc_port_map_small(size_t bytes)
{
	return map(bytes, MAP_STACK);
}

void nc_port_no_huge(void *p, size_t bytes)
{
	/* From Linux 6.7 on MAP_STACK said so; cheap guards came after that. */
	if (!nc_load_relaxed(&x_guard_cheap))
		madvise(p, bytes, MADV_NOHUGEPAGE);
}

bool nc_port_unmap(void *p, size_t bytes)
{
	return munmap(p, bytes) == 0;
}

enum nc_guard nc_port_guard(void *p, size_t bytes)
{
	if (!nc_load_relaxed(&x_guard_by_protect)) {
		if (madvise(p, bytes, MADV_GUARD_INSTALL) == 0) {
			nc_store_relaxed(&x_guard_cheap, 1);
			return NC_GUARD_MARK;
		}
		/* An old kernel, or a filter, or locked memory: only in the last
		 * case does it still take advice about nothing. */
		if (madvise(p, 0, MADV_GUARD_INSTALL) != 0)
			nc_store_relaxed(&x_guard_by_protect, 1);
	}
	if (nc_load_relaxed(&x_guard_mappings) >= NC_GUARD_SPLIT_MAX ||
	    mprotect(p, bytes, PROT_NONE) != 0) {
		__atomic_fetch_add(&x_guards_dropped, 1, __ATOMIC_RELAXED);
		return NC_GUARD_NONE;
	}
	__atomic_fetch_add(&x_guard_mappings, 1, __ATOMIC_RELAXED);
	return NC_GUARD_MAPPING;
}

bool nc_port_unguard(void *p, size_t bytes, enum nc_guard kind)
{
	if (kind == NC_GUARD_MAPPING && mprotect(p, bytes, PROT_READ | PROT_WRITE) != 0)
		return false;
	nc_port_guard_gone(kind);
	/* A filter that came later may refuse: then other memory takes its place. */
	return kind != NC_GUARD_MARK || madvise(p, bytes, MADV_GUARD_REMOVE) == 0 ||
	       mmap(p, bytes, PROT_READ | PROT_WRITE,
	            MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_FIXED, -1, 0) == p;
}

void nc_port_guard_gone(enum nc_guard kind)
{
	if (kind == NC_GUARD_MAPPING)
		__atomic_fetch_sub(&x_guard_mappings, 1, __ATOMIC_RELAXED);
}

size_t nc_port_guards_dropped(void)
{
	return nc_load_relaxed(&x_guards_dropped);
}

bool nc_port_purge(void *p, size_t bytes)
{
	return madvise(p, bytes, MADV_DONTNEED) == 0;
}

void nc_port_populate(void *p, size_t bytes)
{
	static uint32_t x_refused;
	uintptr_t from = nc_align_up((uintptr_t)p, nc_os_page);
	uintptr_t to = ((uintptr_t)p + bytes) & ~(nc_os_page - 1);

	if (from < to && !nc_load_relaxed(&x_refused) &&
	    madvise((void *)from, to - from, MADV_POPULATE_WRITE) != 0)
		nc_store_relaxed(&x_refused, 1);
}

bool nc_port_move(void *from, size_t bytes, void *to, size_t to_bytes)
{
	/* The program may have split the mapping (by madvise, mlock): that is
	 * refused, but only after older kernels have unmapped the target. So ask
	 * first: growth in place is refused with ENOMEM where all is well, as
	 * something always follows the block. */
	if (mremap(from, bytes, bytes + nc_os_page, 0) != MAP_FAILED || errno != ENOMEM)
		return false;
	if (mremap(from, bytes, to_bytes, MREMAP_MAYMOVE | MREMAP_FIXED, to) == to)
		return true;
	/* Whatever else went wrong, the target must be there; it mostly is. */
	mmap(to, to_bytes, PROT_READ | PROT_WRITE,
	     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	return false;
}

void nc_port_entropy(void *buf, size_t bytes)
{
	unsigned char *out = buf;
	size_t got = 0;

	while (got < bytes) {
		long n =
			nc_sys(SYS_getrandom, out + got, bytes - got, 0x4 /* INSECURE */);
		if (n < 0)
			n = nc_sys(SYS_getrandom, out + got, bytes - got,
			           0x1 /* NONBLOCK */);
		if (n <= 0)
			break;
		got += (size_t)n;
	}
	if (got == bytes)
		return;
	/* No getrandom: the kernel's 16 bytes for the process, mixed with what
	 * else differs from run to run. The generator hashes it all. */
	static uintptr_t x_calls;
	const unsigned char *at_random = nc_sys_random_bytes();
	uintptr_t mix = (uintptr_t)&got ^ (uintptr_t)buf << 17;

	mix ^= nc_fetch_add(&x_calls, 1) * 0x9e3779b9u ^ (uintptr_t)nc_sys(SYS_getpid)
	                                                         << 13;
	for (size_t i = 0; i < bytes; i++) {
		mix = mix * 0x343fd + 0x269ec3;
		out[i] ^=
			(unsigned char)(mix >> 16) ^ (at_random ? at_random[i & 15] : 0);
	}
}

void nc_port_write(int fd, const char *s, size_t bytes)
{
	while (bytes) {
		long n = nc_sys(SYS_write, fd, s, bytes);
		if (n == -EINTR)
			continue;
		if (n <= 0)
			return;
		s += n;
		bytes -= (size_t)n;
	}
}

int nc_port_report_fd(void)
{
	/* A descriptor that is open for writing only, or for both and not a
	 * regular file that the program opened in place of standard error. */
	return 2;
}

static void raise_abort(void)
{
	nc_sys(SYS_tgkill, nc_sys(SYS_getpid), nc_sys(SYS_gettid), SIGABRT);
}

void nc_port_abort(void)
{
	/* As the kernel has them: a set of signals, and an action that is the
	 * default one. */
	unsigned long abort_alone[128 / 8 / sizeof(long)] = { 1ul << (SIGABRT - 1) };
	unsigned long dfl[8] = { 0 };

	/* A handler of the program runs first, as with abort(); if it returns,
	 * the second signal ends the process. */
	nc_sys(SYS_rt_sigprocmask, SIG_UNBLOCK, abort_alone, NULL, NSIG / 8);
	raise_abort();
	nc_sys(SYS_rt_sigaction, SIGABRT, dfl, NULL, NSIG / 8);
	raise_abort();
	for (;;)
		nc_sys(SYS_exit_group, 127);
}

static bool try_take(struct nc_lock *lock)
{
	uint32_t free_state = 0;

	return nc_load_relaxed(&lock->x_state) == 0 &&
	       __atomic_compare_exchange_n(&lock->x_state, &free_state, 1, false,
	                                   __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

void nc_lock_take_slow(struct nc_lock *lock)
{
	const long wait[2] = { 1, 0 }; /* seconds, ns */
	int in_vain = 0;

	if (nc_load_relaxed(&lock->x_borrower) == nc_port_thread()) {
		lock->depth++;
		return;
	}
	for (int i = 0; i < 100; i++) {
		if (try_take(lock))
			return;
#if defined(__x86_64__) || defined(__i386__)
		__builtin_ia32_pause();
#endif
	}
	while (__atomic_exchange_n(&lock->x_state, 2, __ATOMIC_ACQUIRE) != 0) {
		long woken = nc_sys(SYS_futex, &lock->x_state, FUTEX_WAIT_PRIVATE, 2,
		                    wait, NULL, 0);
		/* A child that was made without fork (by clone) ran none of our
		 * handlers: whoever held the lock is not here to give it. No
		 * holder that lives takes this long, and a process that was
		 * stopped meanwhile sees one wait fail, not three. */
		if (woken == -ETIMEDOUT && ++in_vain == 3 &&
		    (uint32_t)nc_sys(SYS_getpid) != x_process)
			nc_heap_fork_child();
	}
}

void nc_lock_give_slow(struct nc_lock *lock)
{
	if (nc_load_relaxed(&lock->x_borrower)) {
		/* Nobody but the borrower can be here. */
		lock->depth--;
		return;
	}
	nc_sys(SYS_futex, &lock->x_state, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

void nc_lock_take_for_fork(struct nc_lock *lock)
{
	nc_lock_take(lock);
	nc_store_relaxed(&lock->x_borrower, nc_port_thread());
}

void nc_lock_give_after_fork(struct nc_lock *lock)
{
	nc_store_relaxed(&lock->x_borrower, 0);
	nc_lock_give(lock);
}

void nc_lock_init(struct nc_lock *lock)
{
	nc_store_relaxed(&lock->x_borrower, 0);
	nc_store_release(&lock->x_state, 0);
}

void nc_port_process_set(void)
{
	nc_store_relaxed(&x_process, (uint32_t)nc_sys(SYS_getpid));
}

void nc_port_process_known(void)
{
	if (!nc_load_relaxed(&x_process))
		nc_port_process_set();
}

bool nc_port_process_is(uint32_t pid)
{
	return nc_load_relaxed(&x_process) == pid;
}
