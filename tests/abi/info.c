/* mallinfo, mallinfo2, malloc_info, mallopt, malloc_trim and malloc_stats tell
 * the truth, roughly, about 100 MB of small, medium and large blocks. */
#include "../testing.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

#define TOTAL (100 * MIB)

struct batch {
	void **blocks;
	size_t count;
	size_t size;
};

static size_t (*used_bytes)(void);

static size_t used_by_mallinfo2(void)
{
	typedef struct mallinfo2 get_info(void);
	struct mallinfo2 info = ((get_info *)dlsym(RTLD_DEFAULT, "mallinfo2"))();

	return info.uordblks + info.hblkhd;
}

static size_t used_by_mallinfo(void)
{
	struct mallinfo info = mallinfo();

	return (size_t)(unsigned)info.uordblks + (size_t)(unsigned)info.hblkhd;
}

static void take(struct batch *batch, size_t size)
{
	batch->size = size;
	batch->count = TOTAL / size;
	batch->blocks = malloc(batch->count * sizeof *batch->blocks);
	for (size_t i = 0; i < batch->count; i++) {
		batch->blocks[i] = malloc(size);
		CHECK(batch->blocks[i]);
	}
}

static void give(struct batch *batch)
{
	for (size_t i = 0; i < batch->count; i++)
		free(batch->blocks[i]);
	free(batch->blocks);
}

static void check_used(size_t size)
{
	struct batch batch;
	size_t before = used_bytes(), full, after;

	take(&batch, size);
	full = used_bytes();
	CHECK(full >= before + TOTAL * 9 / 10);
	CHECK(full <= before + TOTAL * 2 + MIB);
	give(&batch);
	after = used_bytes();
	CHECK(after <= before + TOTAL / 10);
}

static void check_malloc_info(void)
{
	char text[65536];
	FILE *file = tmpfile();
	size_t length;

	CHECK(file);
	errno = 0;
	CHECK(malloc_info(1, file) != 0);
	CHECK(malloc_info(0, file) == 0);
	CHECK(fflush(file) == 0);
	rewind(file);
	length = fread(text, 1, sizeof text - 1, file);
	text[length] = 0;
	CHECK(strstr(text, "<malloc version=") == text);
	CHECK(strstr(text, "</malloc>"));
	fclose(file);
}

/* malloc_stats writes to standard error: into a pipe here. */
static void check_malloc_stats(void)
{
	char text[4096] = "";
	int ends[2], saved = dup(STDERR_FILENO);

	CHECK(pipe(ends) == 0);
	dup2(ends[1], STDERR_FILENO);
	malloc_stats();
	fflush(stderr);
	dup2(saved, STDERR_FILENO);
	close(ends[1]);
	CHECK(read(ends[0], text, sizeof text - 1) > 10);
	close(ends[0]);
	close(saved);
}

static void check_trim(void)
{
	struct batch batch;
	size_t before = test_resident_bytes(), peak;

	take(&batch, 1000);
	for (size_t i = 0; i < batch.count; i++)
		memset(batch.blocks[i], 1, batch.size);
	peak = test_resident_bytes();
	give(&batch);
	malloc_trim(0);
	if (before && peak > before + TOTAL / 2)
		CHECK(test_resident_bytes() <= before + (peak - before) / 20);
	malloc_trim(MIB);
	CHECK(malloc_trim(SIZE_MAX) >= 0);
}

int main(void)
{
	used_bytes = used_by_mallinfo;
	check_used(48);
	check_used(3 * MIB);
	if (dlsym(RTLD_DEFAULT, "mallinfo2")) {
		used_bytes = used_by_mallinfo2;
		check_used(1000);
		check_used(50000);
		check_used(200 * KIB);
	}
	check_malloc_info();
	check_malloc_stats();
	check_trim();
	CHECK(mallopt(M_MMAP_THRESHOLD, 1 << 20) == 1 ||
	      !mallopt(M_MMAP_THRESHOLD, 1 << 20));
	CHECK(mallopt(M_ARENA_MAX, 1) >= 0 && mallopt(-12345, 1) >= 0);
	free(malloc(100));
	return 0;
}
