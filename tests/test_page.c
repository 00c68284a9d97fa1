/* Pages of blocks: order, lists, live bits, claims. The page's user here is the
 * test itself, with an owner's word of its own. */
#include "unit.h"

#include "atomic.h"
#include "page.h"

#define OWNER ((uintptr_t)64)

static struct nc_random random_state;

static struct nc_page *make_page(size_t block_bytes)
{
	struct nc_page *page;

	nc_port_init();
	nc_random_init(&random_state);
	page = nc_page_make(nc_class_of(block_bytes), OWNER, &random_state);
	ck_assert_ptr_nonnull(page);
	page->left = (uint32_t)page->block_count + 1; /* as a current page: never empty */
	page->current = true;
	return page;
}

/* As the fast path does; NULL when the page is full. */
static uint8_t *hand_out(struct nc_page *page)
{
	uint8_t *block;
	uintptr_t next;

	if (page->head == (uint8_t *)&page->end_link && !nc_page_next_list(page) &&
	    !nc_page_refill(page, &random_state))
		return NULL;
	block = page->head;
	ck_assert_uint_eq(nc_page_index(page, block), page->head_idx);
	ck_assert(!NC_LIVE_BITMAP || nc_page_live_set(page, page->head_idx));
	next = nc_link_decode(&page->keys, block, *(nc_word_t *)block);
	if (nc_page_is_ref(page, next)) {
		page->head = nc_page_ref_block(page, next);
		page->head_idx = next;
	} else {
		ck_assert_uint_eq(next, NC_REF_END);
		nc_page_next_list(page);
	}
	return block;
}

static void take_back(struct nc_page *page, uint8_t *block)
{
	uintptr_t i = nc_page_index(page, block);

	ck_assert_uint_lt(i, page->block_count);
	ck_assert(!NC_LIVE_BITMAP || nc_page_live_clear(page, i));
	nc_page_push(page, block, i, nc_page_pick_list(page));
}

/* A claim of another thread, without the protocol around it. */
static void claim(struct nc_page *page, uint8_t *block)
{
	uintptr_t i = nc_page_index(page, block);

	page->x_claims[i >> NC_CLAIM_SHIFT] |= (uintptr_t)1 << (i & (NC_CLAIM_BITS - 1));
	page->x_owner = OWNER | NC_NOTED;
}

START_TEST(every_block_comes_once)
{
	for (unsigned c = 0; c < NC_CLASS_COUNT; c += 5) {
		struct nc_page *page = make_page(nc_class_bytes(c));
		size_t count = 0;

		while (hand_out(page))
			count++;
		ck_assert_uint_eq(count, page->block_count);
		ck_assert_uint_eq(nc_page_live_count(page), count);
		nc_page_check(page);
	}
}
END_TEST

START_TEST(blocks_lie_inside_and_apart)
{
	struct nc_page *page = make_page(48);
	size_t room = page->slice_count * NC_SLICE_BYTES - (NC_GUARD ? nc_os_page : 0);
	uint8_t *block;

	while ((block = hand_out(page))) {
		ck_assert(block >= page->run);
		ck_assert(block + page->block_bytes <= page->run + room);
		/* Behind the link, which may be any number. */
		for (size_t i = sizeof(nc_word_t); i < page->block_bytes; i++) {
			ck_assert_uint_ne(block[i], 0xcc);
			block[i] = 0xcc;
		}
	}
}
END_TEST

START_TEST(only_starts_have_an_index)
{
	for (unsigned c = 0; c < NC_CLASS_COUNT; c++) {
		struct nc_page *page = make_page(nc_class_bytes(c));

		for (uintptr_t i = 0; i < page->block_count; i++) {
			uint8_t *block = nc_page_block(page, i);

			ck_assert_uint_eq(nc_page_index(page, block), i);
			for (size_t k = 1; k < page->block_bytes; k += k < 64 ? 1 : 509)
				ck_assert_uint_ge(nc_page_index(page, block + k),
				                  page->block_count);
			/* The same address with other upper bits. */
			for (unsigned bit = NC_ADDR_BITS; bit < NC_WORD_BITS; bit++)
				ck_assert_uint_ge(
					nc_page_index(page,
				                      (void *)((uintptr_t)block ^
				                               (uintptr_t)1 << bit)),
					page->block_count);
		}
		ck_assert_uint_ge(nc_page_index(page, page->start - page->block_bytes),
		                  page->block_count);
		ck_assert_uint_ge(nc_page_index(page,
		                                nc_page_block(page, page->block_count)),
		                  page->block_count);
		nc_page_release(page, &random_state);
	}
}
END_TEST

START_TEST(freed_blocks_come_again)
{
	struct nc_page *page = make_page(100);
	static uint8_t *blocks[1000];
	size_t count = 0;

	while ((blocks[count] = hand_out(page)))
		count++;
	for (int round = 0; round < unit_rounds(200); round++) {
		size_t freed = (size_t)round * 13 % count;

		for (size_t i = 0; i <= freed; i++)
			take_back(page, blocks[i]);
		nc_page_check(page);
		for (size_t i = 0; i <= freed; i++) {
			blocks[i] = hand_out(page);
			ck_assert_ptr_nonnull(blocks[i]);
		}
		ck_assert_ptr_null(hand_out(page));
		nc_page_check(page);
	}
}
END_TEST

START_TEST(claims_are_collected_once)
{
	struct nc_page *page = make_page(48);
	static uint8_t *blocks[2000];
	size_t count = 0, freed = 0;

	unit_expect_reports();
	while ((blocks[count] = hand_out(page)))
		count++;
	for (size_t i = 0; i < count; i += 3, freed++)
		claim(page, blocks[i]);
	ck_assert_uint_eq(nc_page_claim_count(page), freed);
	ck_assert(!nc_page_all_claimed(page));
	ck_assert_uint_eq(nc_page_collect(page, &random_state), freed);
	ck_assert_uint_eq(nc_page_collect(page, &random_state), 0);
	ck_assert_uint_eq(page->x_owner, OWNER);
	ck_assert_uint_eq(nc_page_live_count(page), count - freed);
	nc_page_check(page);
	for (size_t i = 0; i < freed; i++)
		ck_assert_ptr_nonnull(hand_out(page));
	ck_assert_ptr_null(hand_out(page));
	ck_assert_uint_eq(unit_reports, 0);
}
END_TEST

/* The epoch of a claim word moves at every collection. */
START_TEST(collecting_moves_the_epoch)
{
	struct nc_page *page = make_page(48);
	uint8_t *block = hand_out(page);
	uintptr_t word = nc_page_index(page, block) >> NC_CLAIM_SHIFT;
	uintptr_t before = page->x_claims[word];

	claim(page, block);
	nc_page_collect(page, &random_state);
	ck_assert_uint_ne(page->x_claims[word], before);
	ck_assert_uint_eq(page->x_claims[word] & NC_CLAIM_MASK, 0);
}
END_TEST

/* The owner freed a block that is claimed as well: found when it collects. */
START_TEST(a_claim_on_a_freed_block_is_reported)
{
	struct nc_page *page = make_page(48);
	uint8_t *block = hand_out(page);

	unit_expect_reports();
	take_back(page, block);
	claim(page, block);
	ck_assert_uint_eq(nc_page_collect(page, &random_state), 0);
	unit_assert_reported("double-free");
}
END_TEST

START_TEST(all_claimed)
{
	struct nc_page *page = make_page(8192);
	uint8_t *one = hand_out(page), *two = hand_out(page);

	claim(page, one);
	ck_assert(!nc_page_all_claimed(page));
	claim(page, two);
	ck_assert(nc_page_all_claimed(page));
}
END_TEST

START_TEST(lists_are_rebuilt_from_live_bits)
{
	struct nc_page *page = make_page(48);
	static uint8_t *blocks[100];
	size_t usable = 0;

	for (size_t i = 0; i < 100; i++)
		blocks[i] = hand_out(page);
	for (size_t i = 0; i < 100; i += 2) {
		take_back(page, blocks[i]);
		*(nc_word_t *)blocks[i] = 0x4141414141414141u; /* links are lost */
	}
	nc_page_rebuild(page, &random_state);
	nc_page_check(page);
	while (hand_out(page))
		usable++;
	ck_assert_uint_eq(usable, page->block_count - 50);
}
END_TEST

START_TEST(the_walk_finds_damage)
{
	struct nc_page *page = make_page(48);
	uint8_t *block = hand_out(page), *other = hand_out(page);

	take_back(page, block);
	take_back(page, other);
	unit_expect_reports();
	nc_page_check(page);
	ck_assert_uint_eq(unit_reports, 0);
	page->extended--;
	nc_page_check(page);
	ck_assert_uint_gt(unit_reports, 0);
	ck_assert_str_eq(unit_kind, "internal");
}
END_TEST

START_TEST(a_released_page_is_known_as_freed)
{
	struct nc_page *page = make_page(48);
	uint8_t *block = hand_out(page);

	take_back(page, block);
	nc_page_release(page, &random_state);
	ck_assert_ptr_eq(nc_page_find(block), &nc_page_freed);
}
END_TEST

/* After freeing 64 blocks in a known order, the best guess of the next block
 * that is handed out is right at most once in 8 times. The guesses: each place
 * in the order of freeing, seen from its end. */
START_TEST(the_next_block_is_hard_to_guess)
{
	enum { TRIES = 4000, FREED = 64 };
	struct nc_page *page = make_page(48);
	static unsigned hits[FREED];
	static uint8_t *blocks[2000];
	size_t count = 0;

	if (!NC_RANDOM_ORDER || unit_rounds(TRIES) != TRIES)
		return;
	while ((blocks[count] = hand_out(page)))
		count++;
	for (int n = 0; n < TRIES; n++) {
		for (size_t i = 0; i < FREED; i++)
			take_back(page, blocks[i]);
		for (size_t i = 0; i < FREED; i++) {
			uint8_t *next = hand_out(page);

			for (size_t k = 0; i == 0 && k < FREED; k++)
				hits[k] += next == blocks[k];
			blocks[FREED + i] = next;
		}
		memmove(blocks, blocks + FREED, FREED * sizeof *blocks);
	}
	for (size_t k = 0; k < FREED; k++)
		ck_assert_msg(hits[k] <= TRIES / 8 + TRIES / 40,
		              "block %zu of 64: %u of %d", k, hits[k], TRIES);
}
END_TEST

static void unit_fill(Suite *suite)
{
	UNIT_ADD(suite, every_block_comes_once);
	UNIT_ADD(suite, blocks_lie_inside_and_apart);
	UNIT_ADD(suite, only_starts_have_an_index);
	UNIT_ADD(suite, freed_blocks_come_again);
	UNIT_ADD(suite, claims_are_collected_once);
	UNIT_ADD(suite, collecting_moves_the_epoch);
	UNIT_ADD(suite, a_claim_on_a_freed_block_is_reported);
	UNIT_ADD(suite, all_claimed);
	UNIT_ADD(suite, lists_are_rebuilt_from_live_bits);
	UNIT_ADD(suite, the_walk_finds_damage);
	UNIT_ADD(suite, a_released_page_is_known_as_freed);
	UNIT_ADD(suite, the_next_block_is_hard_to_guess);
}
