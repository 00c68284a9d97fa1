/* Encoded free-list links: the index of the next free block, multiplied by a
 * secret odd number and masked with a secret and with the address it lies at
 * (docs/mitigations/links.md). Decoding a changed link gives a number out of
 * range unless the change was made with the secrets.
 */
#ifndef NC_MIT_LINK_H
#define NC_MIT_LINK_H

#include "base.h"

/* Index that ends a list; above every block count. */
#define NC_LINK_END 0xffffu

struct nc_link_keys {
	uintptr_t mask;
	uintptr_t inverse; /* of factor */
	uintptr_t factor;  /* odd */
};

NC_INLINE uintptr_t nc_link_encode(const struct nc_link_keys *keys, const void *at, uintptr_t idx)
{
	if (!NC_LINK_ENCODE)
		return idx;
	return keys->factor * idx ^ (uintptr_t)at ^ keys->mask;
}

NC_INLINE uintptr_t nc_link_decode(const struct nc_link_keys *keys, const void *at, uintptr_t link)
{
	if (!NC_LINK_ENCODE)
		return link;
	return (link ^ (uintptr_t)at ^ keys->mask) * keys->inverse;
}

#endif
