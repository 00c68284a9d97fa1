#include "limbo.h"
#include "meta.h"
#include "page.h"

#define LIMBO_COUNT (NC_LIMBO_BYTES >> NC_SLICE_SHIFT)

/* A ring under nc_core_lock. */
static struct {
	struct nc_limbo_run runs[LIMBO_COUNT];
	size_t first, count, slices;
} limbo;

NC_INLINE uint8_t *block_at(const struct nc_limbo_run *run, uint32_t k)
{
	return run->run + (run->first + (uint64_t)k * run->step) % run->block_count *
	                          run->block_bytes;
}

static void check(const struct nc_limbo_run *run, const char *when)
{
	for (uint32_t k = 0; k < run->extended; k++) {
		const uint8_t *block = block_at(run, k);
		if (*(const nc_word_t *)block || !nc_wipe_holds(block, run->block_bytes))
			nc_page_report_written(block, run->block_bytes, 0, when);
	}
}

static bool take_first_locked(struct nc_limbo_run *out)
{
	if (!limbo.count)
		return false;
	*out = limbo.runs[limbo.first];
	limbo.first = (limbo.first + 1) % LIMBO_COUNT;
	limbo.count--;
	limbo.slices -= out->slice_count;
	return true;
}

/* Runs leave until no more than these are left. */
static void shrink_to(size_t count, size_t slices)
{
	struct nc_limbo_run out;
	bool any;

	do {
		nc_lock_take(&nc_core_lock);
		any = (limbo.count > count || limbo.slices > slices) &&
		      take_first_locked(&out);
		nc_lock_give(&nc_core_lock);
		if (any) {
			check(&out, "before its memory served again");
			nc_arena_give(out.run, out.slice_count, true);
		}
	} while (any);
}

struct nc_limbo_run nc_limbo_wipe(const struct nc_page *page)
{
	struct nc_limbo_run run = {
		.run = page->run,
		.slice_count = page->slice_count,
		.block_bytes = page->block_bytes,
		.block_count = (uint32_t)page->block_count,
		.extended = page->extended,
		.first = page->first,
		.step = page->step,
	};

	for (uint32_t k = 0; k < run.extended; k++) {
		uint8_t *block = block_at(&run, k);
		/* Others freed it and its owner never took it over, or vanished. */
		if (page->distrusted || nc_page_is_live(page, nc_page_index(page, block)))
			nc_wipe(block, run.block_bytes);
		else if (!nc_page_link_holds(page, block))
			nc_page_report_link(page, block);
		*(nc_word_t *)block = 0;
	}
	/* Larger blocks may never have been touched: to look would be to touch. */
	if (page->block_bytes > NC_WIPE_READ_BYTES && page->untouched)
		run.extended = 0;
	return run;
}

void nc_limbo_put(const struct nc_limbo_run *run)
{
	bool room;

	do {
		shrink_to(LIMBO_COUNT - 1,
		          (NC_LIMBO_BYTES >> NC_SLICE_SHIFT) - run->slice_count);
		nc_lock_take(&nc_core_lock);
		room = limbo.count < LIMBO_COUNT;
		if (room) {
			limbo.runs[(limbo.first + limbo.count) % LIMBO_COUNT] = *run;
			nc_signal_fence();
			limbo.count++;
			limbo.slices += run->slice_count;
		}
		nc_lock_give(&nc_core_lock);
	} while (!room);
}

void nc_limbo_trim(void)
{
	shrink_to(0, 0);
}

void nc_limbo_inspect(void)
{
	for (size_t i = 0; i < limbo.count; i++)
		check(&limbo.runs[(limbo.first + i) % LIMBO_COUNT], "at exit");
}

size_t nc_limbo_bytes_locked(void)
{
	return limbo.slices << NC_SLICE_SHIFT;
}
