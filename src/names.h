/* The C library's names for nacre's functions, and C++'s operators: aliases,
 * so that no jump lies in between. Included at the end of api.c, where the
 * functions are; api.c compiled without it defines no name but nc_*.
 */
#ifndef NC_NAMES_H
#define NC_NAMES_H

/* gcc warns of an alias without its target's attributes; clang knows no copy. */
#if defined(__clang__)
#define NC_ALIAS(name, target) \
	NC_EXPORT extern __typeof__(target) name __attribute__((alias(#target)))
#else
#define NC_ALIAS(name, target)                   \
	NC_EXPORT extern __typeof__(target) name \
		__attribute__((alias(#target), copy(target)))
#endif
/* C++'s letter for size_t in a mangled name. */
#if defined(__SIZEOF_POINTER__) && __SIZEOF_POINTER__ == 8
#define NC_CXX(before, after) before##m##after
#else
#define NC_CXX(before, after) before##j##after
#endif

/* glibc's memalign takes any alignment, and rounds it up. */
static void *nc_memalign_any(size_t align, size_t bytes)
{
	if (align > (size_t)PTRDIFF_MAX) {
		errno = EINVAL;
		return NULL;
	}
	if (align & (align - 1))
		align = (size_t)2 << nc_log2(align);
	return memalign_checked(align, bytes);
}

static void *nc_valloc(size_t bytes)
{
	nc_port_init();
	return memalign_checked(nc_os_page, bytes);
}

static void *nc_pvalloc(size_t bytes)
{
	nc_port_init();
	if (bytes > (size_t)PTRDIFF_MAX) {
		errno = ENOMEM;
		return NULL;
	}
	return memalign_checked(nc_os_page, nc_align_up(bytes, nc_os_page));
}

/* C23: the greatest power of two that p is a multiple of; 0 for NULL. */
static size_t nc_memalignment(const void *p)
{
	return (size_t)((uintptr_t)p & -(uintptr_t)p);
}

NC_ALIAS(malloc, nc_malloc);
NC_ALIAS(calloc, nc_calloc);
NC_ALIAS(realloc, nc_realloc);
NC_ALIAS(reallocarray, nc_reallocarray);
NC_ALIAS(free, nc_free);
NC_ALIAS(memalign, nc_memalign_any);
NC_ALIAS(aligned_alloc, nc_memalign);
NC_ALIAS(posix_memalign, nc_posix_memalign);
NC_ALIAS(valloc, nc_valloc);
NC_ALIAS(pvalloc, nc_pvalloc);
NC_ALIAS(malloc_usable_size, nc_usable_size);
NC_ALIAS(free_sized, nc_free_sized);
NC_ALIAS(free_aligned_sized, nc_free_aligned_sized);
NC_ALIAS(memalignment, nc_memalignment);

#ifdef __GLIBC__
NC_ALIAS(cfree, nc_free);
NC_ALIAS(__libc_malloc, nc_malloc);
NC_ALIAS(__libc_calloc, nc_calloc);
NC_ALIAS(__libc_realloc, nc_realloc);
NC_ALIAS(__libc_reallocarray, nc_reallocarray);
NC_ALIAS(__libc_free, nc_free);
NC_ALIAS(__libc_memalign, nc_memalign_any);
NC_ALIAS(__libc_valloc, nc_valloc);
NC_ALIAS(__libc_pvalloc, nc_pvalloc);
NC_ALIAS(__posix_memalign, nc_posix_memalign);
#endif

/* Deletes that are told a size get it before the alignment. */
static void nc_free_sized_aligned(void *p, size_t bytes, size_t align)
{
	nc_free_aligned_sized(p, align, bytes);
}

static void nc_free_aligned(void *p, size_t align)
{
	(void)align;
	nc_free(p);
}

static void nc_free_nothrow(void *p, const void *nothrow)
{
	(void)nothrow;
	nc_free(p);
}

static void nc_free_aligned_nothrow(void *p, size_t align, const void *nothrow)
{
	(void)align;
	(void)nothrow;
	nc_free(p);
}

NC_ALIAS(_ZdlPv, nc_free);
NC_ALIAS(_ZdaPv, nc_free);
NC_ALIAS(NC_CXX(_ZdlPv, ), nc_free_sized);
NC_ALIAS(NC_CXX(_ZdaPv, ), nc_free_sized);
NC_ALIAS(_ZdlPvSt11align_val_t, nc_free_aligned);
NC_ALIAS(_ZdaPvSt11align_val_t, nc_free_aligned);
NC_ALIAS(NC_CXX(_ZdlPv, St11align_val_t), nc_free_sized_aligned);
NC_ALIAS(NC_CXX(_ZdaPv, St11align_val_t), nc_free_sized_aligned);
NC_ALIAS(_ZdlPvRKSt9nothrow_t, nc_free_nothrow);
NC_ALIAS(_ZdaPvRKSt9nothrow_t, nc_free_nothrow);
NC_ALIAS(_ZdlPvSt11align_val_tRKSt9nothrow_t, nc_free_aligned_nothrow);
NC_ALIAS(_ZdaPvSt11align_val_tRKSt9nothrow_t, nc_free_aligned_nothrow);

#endif
