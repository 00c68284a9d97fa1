/* The first word of a freed block is written; the block is asked for again.
 * how= the damage, at byte= of the word; owner= and first= as in double_free.
 *
 * When another thread frees, the word is guarded from the collection of the
 * block on. So half of the herd is freed there, and the damage is done as soon
 * as one of that half comes back: then its page has been collected. */
#include "death.h"

static size_t size;
static bool freed[HERD_MAX];

static void free_half(void *argument)
{
	struct herd *herd = (struct herd *)argument;

	for (size_t i = 0; i < herd->count; i += 2) {
		free(herd->block[i]);
		freed[i] = true;
	}
}

/* `twin` is another freed block; copy_link without one does nothing. */
static void damage(unsigned char *block, const unsigned char *twin)
{
	const char *how = arg("how", "fill");
	size_t byte = arg_number("byte", 0);
	volatile unsigned char *word = block;

	if (innocent() || (!twin && !strcmp(how, "copy_link")))
		return;
	if (!strcmp(how, "fill"))
		for (size_t i = 0; i < sizeof(uint64_t); i++)
			word[i] = (unsigned char)~word[i];
	else if (!strcmp(how, "byte"))
		word[byte] = (unsigned char)~word[byte];
	else if (!strcmp(how, "bit"))
		word[byte] ^= (unsigned char)(1 << (byte % 8));
	else if (!strcmp(how, "zero"))
		memset(block, 0, sizeof(uint64_t));
	else if (!strcmp(how, "copy_link"))
		memcpy(block, twin, sizeof(uint64_t));
	else if (!strcmp(how, "self"))
		memcpy(block, &block, sizeof(void *));
	else
		_exit(4);
}

/* A freed block may wait before it is used again: its wait ends. */
static void churn(void)
{
	for (int i = 0; i < 3000; i++)
		free(must(malloc(size)));
}

/* Ask for blocks until `wanted` comes (NULL: until one of the freed half does). */
static void *search(struct herd *herd, const void *wanted)
{
	size_t limit = search_limit(size);

	for (size_t i = 0; i < limit; i++) {
		void *block = must(malloc(size));

		if (block == wanted)
			return block;
		for (size_t k = 0; !wanted && k < herd->count; k++)
			if (freed[k] && herd->block[k] == block) {
				freed[k] = false;
				return block;
			}
	}
	return NULL;
}

static int freed_by_another(struct herd *herd)
{
	unsigned char *last = NULL;

	run_by("other", free_half, herd);
	if (!search(herd, NULL))
		return EXIT_UNNOTICED;
	for (size_t i = 0; i < herd->count; i++)
		if (freed[i]) {
			say_pointer('P', herd->block[i]);
			damage(herd->block[i], last);
			last = herd->block[i];
		}
	for (size_t i = 0; i < herd->count; i++)
		if (!search(herd, NULL))
			break;
	return innocent() ? 0 : EXIT_UNNOTICED;
}

int main(int argc, char **argv)
{
	struct herd herd = { 0 };

	death_start(argc, argv);
	size = herd.size = arg_number("size", 48);
	run_by(arg("owner", "main"), herd_make, &herd);
	say_number('U', malloc_usable_size(herd.victim));
	if (!arg_is("first", "") && !arg_is("first", "main"))
		return freed_by_another(&herd);

	say_pointer('P', herd.victim);
	free(herd.victim);
	if (arg_is("how", "copy_link"))
		free(herd.spare);
	damage(herd.victim, herd.spare);
	churn();
	search(&herd, herd.victim);
	return innocent() ? 0 : EXIT_UNNOTICED;
}
