/* musl's names for nacre's functions: aliases, so that no jump lies in between.
 * Included at the end of api.c. aligned_alloc and malloc_usable_size have files of
 * their own: a static program may bring one of them and use the rest.
 */
#ifndef NC_NAMES_H
#define NC_NAMES_H

#define NC_ALIAS(name, target) \
	NC_HIDDEN extern __typeof__(target) name __attribute__((alias(#target)))

NC_ALIAS(__libc_malloc_impl, nc_malloc);
NC_ALIAS(__libc_realloc, nc_realloc);
NC_ALIAS(__libc_free, nc_free);

/* calloc asks this of a block that malloc just gave it. */
NC_HIDDEN int __malloc_allzerop(void *p)
{
	return nc_large_reads_zero(nc_page_find(p));
}

#endif
