/* A media catalogue is read in an asynchronous runtime. Three loaders (threads) each
 * expand a packed file into one buffer that realloc doubles, parse it, and build a
 * B-tree of title number to the list of its records, five small strings each; they free
 * nothing but the buffer. When all have loaded, each tree goes to a worker thread, which
 * walks it in key order, makes some 18 blocks a record and keeps 2 of them as the
 * result. Then the worker drops the loader's tree in key order, and at the end the main
 * thread drops all results. Threads that are done wait for the end, as those of a
 * runtime's pool do; so a loader's heap is there while another thread frees into it.
 *
 *     deserialise [PERCENT [stats]]
 *                 25
 *
 * PERCENT (1 to 100, may have a fraction) of the full load, which is of 43 million
 * blocks and 1.4 GB; the word stats has what is asked for counted and printed: sizes,
 * lives, and who frees. That is slower.
 * Operations: blocks asked for, a realloc being a new one.
 *
 * Strings, lists and tree ask for what Rust's String, Vec and BTreeMap do: copies
 * without spare room; growth by doubling, from 8 bytes or 4 elements; nodes of up to 11
 * keys. Texts are checked against the packed file, records in the tree and the strings
 * kept against what was parsed and made.
 *
 * Source: our own, made to match the measured figures of such a program (in brackets
 * what stats says at 100): 43 million blocks (43.0), 11.6 million live at the peak
 * (11.2, varies with the scheduling), 1.4 GB (1.07 asked for, 1.39 resident with glibc);
 * 31 % of frees by another thread (30.3); sizes of 1-4 bytes 30 % (30.7), 5-8 17 %
 * (16.7), 9-16 9 % (9.4), 17-32 4 % (3.7), 33-64 14 % (13.0), 65-128 17 % (17.0),
 * 129-256 9 % (8.6), above 0.7 % (0.8); lives of less than 16 allocations 64 % (65.1),
 * very long ones 26 % (25.9 from 2^24). */
#include <stdbool.h>
#include <stddef.h>

#include "bench.h"

#define LOADERS 3
#define THREADS (2 * LOADERS)
#define ROWS_AT_FULL_SCALE 1856000

/* Of so many parts of the rows, those in each loader's file. */
#define PARTS 13
static const unsigned file_parts[LOADERS] = { 1, 4, 8 };

/* -- What is asked for, counted ------------------------------------------------------ */

#define SIZE_BUCKETS 8
#define LIFE_BUCKETS 33 /* by the bits of a life's length */
#define SHORT_LIFE 16   /* allocations */

static bool counting; /* set before the threads start */

/* Of one thread: what it asked for and freed. Added up at the end. */
struct tally {
	uint64_t requests;
	uint64_t sizes[SIZE_BUCKETS];
	uint64_t frees, cross_frees, short_lives;
	uint64_t lives[LIFE_BUCKETS];
};

/* Before each block while counting. */
struct birth {
	const struct tally *owner;
	uint32_t size;      /* bytes */
	uint32_t at_global; /* requests of all threads before it */
	uint64_t at_owner;  /* requests of its thread before it */
	uint64_t unused;    /* keeps blocks aligned to 16 bytes */
};

static __thread struct tally tally;

struct gauge {
	uint64_t x_now, x_peak;
};

/* While counting only; all relaxed, for they are counts. */
static uint32_t x_requests;
static struct gauge live_blocks, live_bytes;
static pthread_mutex_t total_lock = PTHREAD_MUTEX_INITIALIZER;
static struct tally total; /* of the threads that have ended */

/* Adds to a gauge and keeps its peak. */
static void count_up(struct gauge *gauge, uint64_t more)
{
	uint64_t now = __atomic_add_fetch(&gauge->x_now, more, __ATOMIC_RELAXED);
	uint64_t peak = __atomic_load_n(&gauge->x_peak, __ATOMIC_RELAXED);

	while (now > peak &&
	       !__atomic_compare_exchange_n(&gauge->x_peak, &peak, now, true,
	                                    __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
	}
}

static void *count_request(size_t size)
{
	struct birth *birth = bench_need(malloc(sizeof *birth + size));
	int bucket = 0;

	birth->owner = &tally;
	birth->size = (uint32_t)size;
	birth->at_owner = tally.requests++;
	birth->at_global = __atomic_fetch_add(&x_requests, 1, __ATOMIC_RELAXED);
	for (size_t limit = 4; bucket < SIZE_BUCKETS - 1 && size > limit; limit *= 2)
		bucket++;
	tally.sizes[bucket]++;
	count_up(&live_blocks, 1);
	count_up(&live_bytes, size);
	return birth + 1;
}

/* A life is counted in its thread's allocations where that thread ends it, otherwise in
 * those of all threads. */
static void count_free(void *block)
{
	struct birth *birth = (struct birth *)block - 1;
	uint64_t life;
	int bits = 0;

	if (birth->owner == &tally) {
		life = tally.requests - birth->at_owner - 1;
	} else {
		life = __atomic_load_n(&x_requests, __ATOMIC_RELAXED) - birth->at_global;
		tally.cross_frees++;
	}
	tally.frees++;
	tally.short_lives += life < SHORT_LIFE;
	while (bits < LIFE_BUCKETS - 1 && life >> bits)
		bits++;
	tally.lives[bits]++;
	__atomic_fetch_sub(&live_blocks.x_now, 1, __ATOMIC_RELAXED);
	__atomic_fetch_sub(&live_bytes.x_now, birth->size, __ATOMIC_RELAXED);
	free(birth);
}

static void *count_resize(void *block, size_t old_size, size_t size)
{
	void *fresh = count_request(size);

	memcpy(fresh, block, old_size < size ? old_size : size);
	count_free(block);
	return fresh;
}

/* At a thread's end. */
static void tally_finish(void)
{
	pthread_mutex_lock(&total_lock);
	total.requests += tally.requests;
	total.frees += tally.frees;
	total.cross_frees += tally.cross_frees;
	total.short_lives += tally.short_lives;
	for (int i = 0; i < SIZE_BUCKETS; i++)
		total.sizes[i] += tally.sizes[i];
	for (int i = 0; i < LIFE_BUCKETS; i++)
		total.lives[i] += tally.lives[i];
	pthread_mutex_unlock(&total_lock);
}

static void tally_print(void)
{
	static const char *const names[SIZE_BUCKETS] = { "1-4",     "5-8",   "9-16",
		                                         "17-32",   "33-64", "65-128",
		                                         "129-256", "above" };
	double all = (double)total.requests / 100, frees = (double)total.frees / 100;
	uint64_t longer = total.frees;

	printf("blocks %llu, live at the peak %llu (%.1f %%), of %llu bytes\n",
	       (unsigned long long)total.requests, (unsigned long long)live_blocks.x_peak,
	       (double)live_blocks.x_peak / all, (unsigned long long)live_bytes.x_peak);
	printf("freed by another thread %.1f %%\n", (double)total.cross_frees / frees);
	for (int i = 0; i < SIZE_BUCKETS; i++)
		printf("size %-8s %5.1f %%\n", names[i], (double)total.sizes[i] / all);
	printf("life below %d %5.1f %%\n", SHORT_LIFE, (double)total.short_lives / frees);
	for (int i = 0; i < LIFE_BUCKETS && longer; i++) {
		longer -= total.lives[i];
		if (i >= 4 && (i < 6 || i % 4 == 0 || i > 19))
			printf("life from 2^%-2d %5.1f %%\n", i, (double)longer / frees);
	}
}

static inline void *get(size_t size)
{
	if (counting)
		return count_request(size);
	tally.requests++;
	return bench_need(malloc(size));
}

static inline void give(void *block)
{
	if (counting && block)
		count_free(block);
	else
		free(block);
}

static inline void *resize(void *block, size_t old_size, size_t size)
{
	if (!block)
		return get(size);
	if (counting)
		return count_resize(block, old_size, size);
	tally.requests++;
	return bench_need(realloc(block, size));
}

/* -- Strings and lists of them ------------------------------------------------------- */

/* length <= room; room == 0 exactly when there is no block. */
struct text {
	char *bytes;
	size_t length, room;
};

struct texts {
	struct text *items;
	size_t count, room;
};

/* How far a string or list grows that needs so many elements and has room for fewer. */
static size_t grown(size_t room, size_t needed, size_t least)
{
	if (needed < 2 * room)
		needed = 2 * room;
	return needed < least ? least : needed;
}

static void text_reserve(struct text *text, size_t needed)
{
	if (needed > text->room) {
		size_t room = grown(text->room, needed, 8);

		text->bytes = resize(text->bytes, text->room, room);
		text->room = room;
	}
}

static void text_push(struct text *text, const char *bytes, size_t length)
{
	if (length == 0)
		return;
	text_reserve(text, text->length + length);
	memcpy(text->bytes + text->length, bytes, length);
	text->length += length;
}

static void text_push_text(struct text *text, const struct text *other)
{
	text_push(text, other->bytes, other->length);
}

static void text_push_number(struct text *text, uint32_t number)
{
	char digits[10];
	size_t at = sizeof digits;

	do {
		digits[--at] = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	text_push(text, digits + at, sizeof digits - at);
}

/* Empty, with a block of that many bytes. */
static struct text text_with_room(size_t room)
{
	return (struct text){ get(room), 0, room };
}

/* A copy without spare room. */
static struct text text_copy(const char *bytes, size_t length)
{
	if (length == 0)
		return (struct text){ NULL, 0, 0 };

	struct text text = text_with_room(length);

	memcpy(text.bytes, bytes, length);
	text.length = length;
	return text;
}

static char to_upper(char c)
{
	return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

static struct text text_upper(const struct text *text)
{
	struct text upper = text_copy(text->bytes, text->length);

	for (size_t i = 0; i < upper.length; i++)
		upper.bytes[i] = to_upper(upper.bytes[i]);
	return upper;
}

static void texts_push(struct texts *texts, struct text text)
{
	if (texts->count == texts->room) {
		size_t room = grown(texts->room, texts->count + 1, 4);

		texts->items = resize(texts->items, texts->room * sizeof text,
		                      room * sizeof text);
		texts->room = room;
	}
	texts->items[texts->count++] = text;
}

static void texts_join(const struct texts *texts, struct text *into)
{
	for (size_t i = 0; i < texts->count; i++) {
		if (i > 0)
			text_push(into, ", ", 2);
		text_push_text(into, &texts->items[i]);
	}
}

/* With the strings. */
static void texts_drop(struct texts *texts)
{
	for (size_t i = 0; i < texts->count; i++)
		give(texts->items[i].bytes);
	give(texts->items);
}

/* A word of a sum over strings. */
static uint64_t hash_bytes(const char *bytes, size_t length, uint64_t seed)
{
	uint64_t hash = seed ^ length, word = 0;

	for (; length > 8; length -= 8, bytes += 8) {
		memcpy(&word, bytes, 8);
		hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
		hash ^= hash >> 29;
	}
	word = 0;
	if (length > 0)
		memcpy(&word, bytes, length);
	hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
	return hash ^ hash >> 32;
}

/* -- The packed file ----------------------------------------------------------------- */

/* A row of text is the title's number, ordering and year, and FIELDS strings: title,
 * region, language, kind, remark; a tab between two, a newline at the end.
 *
 * Packed it is a series of a literal (its length less 1, then its bytes), a word of the
 * table below (WORD + its index), and a repetition (REPEAT + its length, then in two
 * bytes how far back in the text it lies). What would come from a disk is made here,
 * row by row; it always is the same. */
enum { WORD = 128, REPEAT = 192 };

enum { PACKED_CHUNK = 4096, PACKED_ROW_MAX = 256, ROW_MAX = 256 };

#define WORDS 64

static const char *const words[WORDS] = {
	"the",    "of",     "a",      "last",   "night",    "river",    "house",
	"man",    "silver", "winter", "and",    "in",       "garden",   "lost",
	"king",   "sea",    "my",     "little", "city",     "blue",     "road",
	"return", "love",   "to",     "island", "mountain", "stranger", "letters",
	"for",    "summer", "child",  "war",    "le",       "la",       "der",
	"il",     "no",     "secret", "dance",  "moon",     "red",      "station",
	"half",   "golden", "long",   "way",    "home",     "brother",  "shadow",
	"glass",  "paper",  "bird",   "fire",   "without",  "end",      "under",
	"day",    "one",    "two",    "seven",  "forest",   "voices",   "iron",
	"dust",
};

static const char regions[16][4] = { "gbr", "usa", "fra", "deu", "esp", "ita",
	                             "jpn", "ind", "bra", "rus", "swe", "pol",
	                             "prt", "grc", "tur", "kor" };
static const char languages[8][4] = { "eng", "fra", "deu", "spa",
	                              "ita", "jpn", "hin", "por" };
static const char *const kinds[8] = {
	"original", "alternative", "working", "festival",
	"tv",       "imprint",     "video",   "distribution"
};
static const char *const remarks[8] = { "reissue title",    "literal title",
	                                "dubbed version",   "short version",
	                                "transliterated",   "restored",
	                                "censored version", "new translation" };

struct file {
	uint64_t random;
	uint32_t rows_left;
	uint32_t title_number, left_of_title; /* rows with that number */
	uint32_t ordering;
	size_t title_length, row_length; /* of the text last made */
	size_t back_to_title;            /* from the end of that row */
	char title[ROW_MAX], row[ROW_MAX];
	uint64_t checksum; /* the sum of the hashes of all rows so far */
	size_t packed_length;
	unsigned char packed[PACKED_CHUNK];
};

static void put_literal(struct file *file, const char *bytes, size_t length)
{
	memcpy(file->row + file->row_length, bytes, length);
	file->row_length += length;
	file->packed[file->packed_length++] = (unsigned char)(length - 1);
	memcpy(file->packed + file->packed_length, bytes, length);
	file->packed_length += length;
}

static void put_word(struct file *file, size_t word)
{
	size_t length = strlen(words[word]);

	memcpy(file->row + file->row_length, words[word], length);
	file->row_length += length;
	file->packed[file->packed_length++] = (unsigned char)(WORD + word);
}

/* The last title once more. */
static void put_title_again(struct file *file)
{
	size_t back = file->back_to_title + file->row_length, length = file->title_length;

	memcpy(file->row + file->row_length, file->title, length);
	file->row_length += length;
	file->packed[file->packed_length++] = (unsigned char)(REPEAT + length);
	file->packed[file->packed_length++] = (unsigned char)(back & 0xff);
	file->packed[file->packed_length++] = (unsigned char)(back >> 8);
}

static void put_new_title(struct file *file)
{
	size_t word_count = bench_between(&file->random, 1, 5), start = file->row_length;

	for (size_t i = 0; i < word_count; i++) {
		if (i > 0)
			put_literal(file, " ", 1);
		put_word(file, bench_between(&file->random, 0, WORDS - 1));
	}
	file->title_length = file->row_length - start;
	memcpy(file->title, file->row + start, file->title_length);
}

/* The strings of a row after its title. */
static void put_details(struct file *file)
{
	uint64_t *random = &file->random;
	char text[ROW_MAX];
	int length = snprintf(text, sizeof text, "\t%s\t%s\t%s\t%s\n",
	                      regions[bench_between(random, 0, 15)],
	                      bench_between(random, 0, 24)
	                              ? languages[bench_between(random, 0, 7)]
	                              : "",
	                      kinds[bench_between(random, 0, 7)],
	                      bench_between(random, 0, 7)
	                              ? "no"
	                              : remarks[bench_between(random, 0, 7)]);

	put_literal(file, text, (size_t)length);
}

static void pack_row(struct file *file)
{
	char text[32];
	size_t title_at;

	if (file->left_of_title == 0) {
		file->title_number += 1 + (uint32_t)bench_between(&file->random, 0, 4);
		file->left_of_title = (uint32_t)bench_between(&file->random, 1, 41);
		file->ordering = 0;
	}
	file->left_of_title--;
	file->rows_left--;
	file->row_length = 0;

	int length = snprintf(text, sizeof text, "%u\t%u\t%u\t",
	                      (unsigned)file->title_number, (unsigned)++file->ordering,
	                      (unsigned)bench_between(&file->random, 1895, 2024));

	put_literal(file, text, (size_t)length);
	title_at = file->row_length;
	if (file->ordering > 1 && bench_between(&file->random, 0, 3) == 0)
		put_title_again(file);
	else
		put_new_title(file);
	put_details(file);
	file->back_to_title = file->row_length - title_at;
	file->checksum += hash_bytes(file->row, file->row_length, 0);
}

/* The next chunk of the file; false at its end. */
static bool file_read(struct file *file)
{
	file->packed_length = 0;
	while (file->rows_left && file->packed_length + PACKED_ROW_MAX <= PACKED_CHUNK)
		pack_row(file);
	return file->packed_length > 0;
}

/* Appends what the chunk stands for. */
static void expand(const struct file *file, struct text *text)
{
	const unsigned char *next = file->packed, *end = next + file->packed_length;

	while (next < end) {
		unsigned char code = *next++;

		if (code >= REPEAT) {
			size_t back = next[0] + 256u * next[1], length = code - REPEAT;

			text_reserve(text, text->length + length);
			memcpy(text->bytes + text->length,
			       text->bytes + text->length - back, length);
			text->length += length;
			next += 2;
		} else if (code >= WORD) {
			text_push(text, words[code - WORD], strlen(words[code - WORD]));
		} else {
			text_push(text, (const char *)next, code + 1u);
			next += code + 1;
		}
	}
}

/* -- The catalogue ------------------------------------------------------------------- */

enum { DAYS = 32 };

enum field { TITLE, REGION, LANGUAGE, KIND, REMARK, FIELDS };

struct record {
	struct text fields[FIELDS];
	uint32_t ordering, year;
	uint32_t votes[DAYS];
};

struct records {
	struct record *items;
	size_t count, room;
};

/* A node of the B-tree has 5 to 11 keys (the root 1 to 11), and if it is an inner one a
 * child before, between and after its keys. All leaves are at the same depth. */
enum { KEYS = 11 };

struct node {
	uint32_t keys[KEYS]; /* title numbers, ascending */
	uint32_t count;
	struct records lists[KEYS];
};

struct inner_node {
	struct node node; /* the first, so that a pointer to either is one to both */
	struct node *children[KEYS + 1];
};

struct tree {
	struct node *root;
	unsigned height; /* 0 when the root is a leaf */
};

/* A key with its list, and at an inner node the child after it. */
struct entry {
	uint32_t key;
	struct records list;
	struct node *right;
};

static struct node **node_children(struct node *node)
{
	return ((struct inner_node *)node)->children;
}

static struct node *node_make(unsigned height)
{
	struct node *node = get(height ? sizeof(struct inner_node) : sizeof(struct node));

	node->count = 0;
	return node;
}

/* The first index whose key is not below this one. */
static unsigned node_search(const struct node *node, uint32_t key)
{
	unsigned i = 0;

	while (i < node->count && node->keys[i] < key)
		i++;
	return i;
}

/* There is room. */
static void node_put(struct node *node, unsigned height, unsigned i,
                     const struct entry *entry)
{
	unsigned after = node->count++ - i;

	memmove(&node->keys[i + 1], &node->keys[i], after * sizeof *node->keys);
	memmove(&node->lists[i + 1], &node->lists[i], after * sizeof *node->lists);
	node->keys[i] = entry->key;
	node->lists[i] = entry->list;
	if (height > 0) {
		struct node **children = node_children(node);

		memmove(&children[i + 2], &children[i + 1], after * sizeof *children);
		children[i + 1] = entry->right;
	}
}

/* Moves what is behind the middle of a full node to a new one and puts the entry at
 * what was index i; entry becomes the middle, with the new node. */
static void node_split(struct node *node, unsigned height, unsigned i,
                       struct entry *entry)
{
	unsigned middle = i < 5 ? 4 : i < 7 ? 5 : 6;
	unsigned moved = KEYS - middle - 1;
	struct entry up = { node->keys[middle], node->lists[middle], node_make(height) };

	memcpy(up.right->keys, &node->keys[middle + 1], moved * sizeof *node->keys);
	memcpy(up.right->lists, &node->lists[middle + 1], moved * sizeof *node->lists);
	if (height > 0)
		memcpy(node_children(up.right), &node_children(node)[middle + 1],
		       (moved + 1) * sizeof *node_children(node));
	node->count = middle;
	up.right->count = moved;
	if (i <= middle)
		node_put(node, height, i, entry);
	else
		node_put(up.right, height, i - middle - 1, entry);
	*entry = up;
}

/* True if the node was split: then entry is what goes up. */
static bool node_insert(struct node *node, unsigned height, struct entry *entry)
{
	unsigned i = node_search(node, entry->key);

	if (height > 0 && !node_insert(node_children(node)[i], height - 1, entry))
		return false;
	if (node->count < KEYS) {
		node_put(node, height, i, entry);
		return false;
	}
	node_split(node, height, i, entry);
	return true;
}

static struct records *tree_find(const struct tree *tree, uint32_t key)
{
	struct node *node = tree->root;
	unsigned height = tree->height;

	for (;; height--) {
		unsigned i = node_search(node, key);

		if (i < node->count && node->keys[i] == key)
			return &node->lists[i];
		if (height == 0)
			return NULL;
		node = node_children(node)[i];
	}
}

/* An empty list under a key that is not there yet. */
static void tree_insert(struct tree *tree, uint32_t key)
{
	struct entry entry = { .key = key };

	if (node_insert(tree->root, tree->height, &entry)) {
		struct node *root = node_make(++tree->height);

		node_children(root)[0] = tree->root;
		tree->root = root;
		node_put(root, tree->height, 0, &entry);
	}
}

static void records_push(struct records *records, const struct record *record)
{
	if (records->count == records->room) {
		size_t room = grown(records->room, records->count + 1, 4);

		records->items = resize(records->items, records->room * sizeof *record,
		                        room * sizeof *record);
		records->room = room;
	}
	records->items[records->count++] = *record;
}

static void records_drop(struct records *records)
{
	for (size_t i = 0; i < records->count; i++) {
		for (int field = 0; field < FIELDS; field++)
			give(records->items[i].fields[field].bytes);
	}
	give(records->items);
}

/* All below a node, in the order of keys. */
static void node_drop(struct node *node, unsigned height)
{
	for (unsigned i = 0; i < node->count; i++) {
		if (height > 0)
			node_drop(node_children(node)[i], height - 1);
		records_drop(&node->lists[i]);
	}
	if (height > 0)
		node_drop(node_children(node)[node->count], height - 1);
	give(node);
}

static uint64_t record_hash(uint32_t key, const struct record *record)
{
	uint64_t hash = key + ((uint64_t)record->ordering << 32) + record->year;

	for (int day = 0; day < DAYS; day++)
		hash += record->votes[day];
	for (int field = 0; field < FIELDS; field++)
		hash = hash_bytes(record->fields[field].bytes,
		                  record->fields[field].length, hash);
	return hash;
}

/* -- Threads ------------------------------------------------------------------------- */

/* A loader's tree, and of its rows their number and the sum of their hashes. */
struct catalogue {
	struct tree tree;
	uint64_t rows, sum;
};

/* What a worker keeps of a record. */
struct kept {
	struct text line, heading;
};

/* A worker's result, and the sum of the hashes of all that it kept. */
struct result {
	struct kept *items;
	size_t count, room;
	uint64_t sum;
};

/* Things on their way from one thread to another; the lock guards all of it. */
struct channel {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	void *things[THREADS];
	unsigned sent, taken;
};

static struct channel loaded = { .lock = PTHREAD_MUTEX_INITIALIZER,
	                         .changed = PTHREAD_COND_INITIALIZER };
static struct channel catalogues = { .lock = PTHREAD_MUTEX_INITIALIZER,
	                             .changed = PTHREAD_COND_INITIALIZER };
static struct channel results = { .lock = PTHREAD_MUTEX_INITIALIZER,
	                          .changed = PTHREAD_COND_INITIALIZER };
static struct channel ends = { .lock = PTHREAD_MUTEX_INITIALIZER,
	                       .changed = PTHREAD_COND_INITIALIZER };

static void channel_send(struct channel *channel, void *thing)
{
	pthread_mutex_lock(&channel->lock);
	channel->things[channel->sent++] = thing;
	pthread_cond_signal(&channel->changed);
	pthread_mutex_unlock(&channel->lock);
}

static void *channel_take(struct channel *channel)
{
	void *thing;

	pthread_mutex_lock(&channel->lock);
	while (channel->taken == channel->sent)
		pthread_cond_wait(&channel->changed, &channel->lock);
	thing = channel->things[channel->taken++];
	pthread_mutex_unlock(&channel->lock);
	return thing;
}

/* The number at the start of a field, which a tab ends. */
static const char *parse_number(const char *next, uint32_t *number)
{
	for (*number = 0; *next != '\t'; next++)
		*number = *number * 10 + (uint32_t)(*next - '0');
	return next + 1;
}

static const char *parse_string(const char *next, struct text *text)
{
	const char *start = next;

	while (*next != '\t' && *next != '\n')
		next++;
	*text = text_copy(start, (size_t)(next - start));
	return next + 1;
}

static const char *parse_row(const char *next, struct catalogue *catalogue)
{
	struct record record;
	struct records *list;
	uint32_t key;

	next = parse_number(next, &key);
	next = parse_number(next, &record.ordering);
	next = parse_number(next, &record.year);
	for (int field = 0; field < FIELDS; field++)
		next = parse_string(next, &record.fields[field]);
	for (uint32_t day = 0; day < DAYS; day++)
		record.votes[day] = key + day * record.ordering;
	catalogue->rows++;
	catalogue->sum += record_hash(key, &record);
	list = tree_find(&catalogue->tree, key);
	if (!list) {
		tree_insert(&catalogue->tree, key);
		list = tree_find(&catalogue->tree, key);
	}
	records_push(list, &record);
	return next;
}

static void *load(void *argument)
{
	struct file *file = argument;
	struct catalogue *catalogue = get(sizeof *catalogue);
	struct text text = { NULL, 0, 0 };
	uint64_t checksum = 0;

	*catalogue = (struct catalogue){ { node_make(0), 0 }, 0, 0 };
	while (file_read(file))
		expand(file, &text);
	for (const char *row = text.bytes, *end = row + text.length; row < end;) {
		const char *next = parse_row(row, catalogue);

		checksum += hash_bytes(row, (size_t)(next - row), 0);
		row = next;
	}
	bench_check(checksum == file->checksum);
	give(text.bytes);
	channel_send(&loaded, catalogue);
	channel_take(&ends);
	tally_finish();
	return NULL;
}

/* The strings for a record's line. */
static struct texts describe(uint32_t key, const struct records *list,
                             const struct record *record)
{
	struct texts texts = { NULL, 0, 0 };
	struct text year = { NULL, 0, 0 }, kind = year, label;

	texts_push(&texts, text_upper(&record->fields[REGION]));
	texts_push(&texts, text_upper(&record->fields[LANGUAGE]));
	text_push_number(&year, record->year);
	texts_push(&texts, year);
	text_push_text(&kind, &record->fields[KIND]);
	texts_push(&texts, kind);
	label = text_with_room(44);
	text_push(&label, "no. ", 4);
	text_push_number(&label, key);
	text_push(&label, ", entry ", 8);
	text_push_number(&label, record->ordering);
	text_push(&label, " of ", 4);
	text_push_number(&label, (uint32_t)list->count);
	texts_push(&texts, label);
	return texts;
}

/* The first two words of a title. */
static struct text first_words(const struct text *title)
{
	size_t length = 0, spaces = 0;

	while (length < title->length && (title->bytes[length] != ' ' || ++spaces < 2))
		length++;
	return text_copy(title->bytes, length);
}

/* What is kept of a record: a line of what describes it, and the title in capitals with
 * the same. */
static struct kept present(uint32_t key, const struct records *list,
                           const struct record *record)
{
	struct text title = { NULL, 0, 0 }, start = first_words(&record->fields[TITLE]);
	struct texts texts, moved = { NULL, 0, 0 };
	struct kept kept;

	for (size_t i = 0; i < record->fields[TITLE].length; i++) {
		char c = to_upper(record->fields[TITLE].bytes[i]);

		text_push(&title, &c, 1);
	}
	texts = describe(key, list, record);
	kept.line = text_with_room(44);
	texts_join(&texts, &kept.line);

	texts_push(&moved, text_upper(&record->fields[REGION]));
	texts_push(&moved, text_upper(&record->fields[LANGUAGE]));
	for (size_t i = 2; i < texts.count; i++)
		texts_push(&moved, texts.items[i]);
	texts.count = 2;
	texts_drop(&texts);
	kept.heading = text_with_room(44);
	text_push_text(&kept.heading, &title);
	text_push(&kept.heading, start.length < title.length ? "; " : ": ", 2);
	texts_join(&moved, &kept.heading);
	texts_drop(&moved);
	give(start.bytes);
	give(title.bytes);
	return kept;
}

static uint64_t kept_hash(const struct kept *kept)
{
	uint64_t hash = hash_bytes(kept->line.bytes, kept->line.length, 0);

	return hash_bytes(kept->heading.bytes, kept->heading.length, hash);
}

static void result_push(struct result *result, struct kept kept)
{
	if (result->count == result->room) {
		size_t room = grown(result->room, result->count + 1, 4);

		result->items = resize(result->items, result->room * sizeof kept,
		                       room * sizeof kept);
		result->room = room;
	}
	result->items[result->count++] = kept;
	result->sum += kept_hash(&kept);
}

/* The sum of the hashes of the records seen. */
static uint64_t present_list(uint32_t key, const struct records *list,
                             struct result *result)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < list->count; i++) {
		sum += record_hash(key, &list->items[i]);
		result_push(result, present(key, list, &list->items[i]));
	}
	return sum;
}

/* The same for all below a node, in the order of keys. */
static uint64_t present_node(struct node *node, unsigned height, struct result *result)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < node->count; i++) {
		if (height > 0)
			sum += present_node(node_children(node)[i], height - 1, result);
		sum += present_list(node->keys[i], &node->lists[i], result);
	}
	if (height > 0)
		sum += present_node(node_children(node)[node->count], height - 1, result);
	return sum;
}

static void *work(void *argument)
{
	struct catalogue *catalogue = channel_take(&catalogues);
	struct result *result = get(sizeof *result);
	struct tree *tree = &catalogue->tree;

	(void)argument;
	*result = (struct result){ NULL, 0, 0, 0 };
	bench_check(present_node(tree->root, tree->height, result) == catalogue->sum);
	bench_check(result->count == catalogue->rows);
	node_drop(tree->root, tree->height);
	give(catalogue);
	channel_send(&results, result);
	channel_take(&ends);
	tally_finish();
	return NULL;
}

static void result_drop(struct result *result)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < result->count; i++) {
		sum += kept_hash(&result->items[i]);
		give(result->items[i].line.bytes);
		give(result->items[i].heading.bytes);
	}
	bench_check(sum == result->sum);
	give(result->items);
	give(result);
}

/* Starts all threads, drops the results when all are there, lets the threads end. */
static void run_all(struct file *files)
{
	pthread_t threads[THREADS];
	void *catalogue[LOADERS], *done[LOADERS];

	for (int i = 0; i < THREADS; i++) {
		int error = i < LOADERS
		                    ? pthread_create(&threads[i], NULL, load, &files[i])
		                    : pthread_create(&threads[i], NULL, work, NULL);

		if (error) {
			fprintf(stderr, "cannot start a thread\n");
			exit(1);
		}
	}
	for (int i = 0; i < LOADERS; i++)
		catalogue[i] = channel_take(&loaded);
	for (int i = 0; i < LOADERS; i++)
		channel_send(&catalogues, catalogue[i]);
	for (int i = 0; i < LOADERS; i++)
		done[i] = channel_take(&results);
	for (int i = 0; i < LOADERS; i++)
		result_drop(done[i]);
	for (int i = 0; i < THREADS; i++)
		channel_send(&ends, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	tally_finish();
}

int main(int argc, char **argv)
{
	static struct file files[LOADERS];
	double percent = bench_arg_real(argc, argv, 1, 25);

	if (percent <= 0 || percent > 100)
		return 2;
	counting = argc > 2 && !strcmp(argv[2], "stats");
	for (int i = 0; i < LOADERS; i++) {
		files[i].random = bench_seed((uint64_t)i);
		files[i].rows_left = (uint32_t)(percent / 100 * ROWS_AT_FULL_SCALE *
		                                file_parts[i] / PARTS) +
		                     1;
	}

	double start = bench_seconds();

	run_all(files);
	if (counting)
		tally_print();
	bench_result("deserialise", total.requests, bench_seconds() - start);
	return 0;
}
