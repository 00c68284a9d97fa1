/* Encoded free-list links: the index of the next free block, multiplied by a
 * secret odd number and masked with a secret and with the address it lies at
 * (docs/mitigations/links.md). Decoding a changed link gives a number out of
 * range unless the change was made with the secrets.
 */
#ifndef NC_MIT_LINK_H
#define NC_MIT_LINK_H

#include "base.h"

/* How a list names a block: by its index, or, where no mitigation needs the
 * index, by its address. */
#define NC_REF_IS_INDEX (NC_LINK_ENCODE || NC_LIVE_BITMAP || NC_CHECK_START)
#if NC_REF_IS_INDEX
typedef uint16_t nc_ref_t;
#define NC_REF_END 0xffffu /* ends a list; above every block count */
#else
typedef uintptr_t nc_ref_t;
#define NC_REF_END 0u
#endif

struct nc_link_keys {
	uintptr_t mask;
	uintptr_t inverse; /* of factor */
	uintptr_t factor;  /* odd */
};

NC_INLINE uintptr_t nc_link_encode(const struct nc_link_keys *keys, const void *at,
                                   uintptr_t ref)
{
	if (!NC_LINK_ENCODE)
		return ref;
	return keys->factor * ref ^ (uintptr_t)at ^ keys->mask;
}

NC_INLINE uintptr_t nc_link_decode(const struct nc_link_keys *keys, const void *at,
                                   uintptr_t link)
{
	if (!NC_LINK_ENCODE)
		return link;
	return (link ^ (uintptr_t)at ^ keys->mask) * keys->inverse;
}

#endif
