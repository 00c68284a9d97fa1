/* Statistics: what the heap holds, counted by a walk over all pages. */
#ifndef NC_STATS_H
#define NC_STATS_H

#include "thread.h"

#include <nacre.h>

void nc_stats(struct nacre_stats *out);

#endif
