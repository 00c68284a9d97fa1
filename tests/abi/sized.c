/* C23's free_sized, free_aligned_sized and memalignment, used correctly. */
#include "../testing.h"

int main(void)
{
	void (*sized)(void *, size_t) =
		(void (*)(void *, size_t))dlsym(RTLD_DEFAULT, "free_sized");
	void (*aligned)(void *, size_t, size_t) = (void (*)(void *, size_t, size_t))dlsym(
		RTLD_DEFAULT, "free_aligned_sized");
	size_t (*alignment)(const void *) =
		(size_t(*)(const void *))dlsym(RTLD_DEFAULT, "memalignment");

	if (!sized || !aligned || !alignment) {
		CHECK(!test_is_nacre());
		return 77;
	}
	for (size_t n = 0, size; (size = test_size(n)) != 0; n++) {
		void *block = malloc(size);

		test_fill(block, malloc_usable_size(block), 3);
		sized(block, size);
		sized(calloc(1, size), size);
		sized(realloc(malloc(size / 2 + 1), size), size);
		sized(realloc(malloc(size * 2 + 1), size), size);
		for (size_t align = 1; align <= 64 * KIB; align *= 4)
			aligned(aligned_alloc(align, size), align, size);
	}
	sized(malloc(0), 0);
	sized(NULL, 0);
	sized(NULL, 100);
	aligned(NULL, 64, 100);
	aligned(aligned_alloc(4096, 0), 4096, 0);

	CHECK(alignment(NULL) == 0);
	CHECK(alignment((void *)(uintptr_t)1) == 1);
	CHECK(alignment((void *)(uintptr_t)0x1230) == 16);
	CHECK(alignment((void *)(uintptr_t)0x4000) == 0x4000);
	return 0;
}
