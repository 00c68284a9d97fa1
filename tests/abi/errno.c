/* free keeps errno, whatever it does with the memory; a malloc that succeeds
 * does not set it either. */
#include "../testing.h"

#include <pthread.h>

static void *free_there(void *block)
{
	errno = 1234;
	free(block);
	CHECK(errno == 1234);
	return NULL;
}

int main(void)
{
	void (*free_sized_of_host)(void *, size_t) =
		(void (*)(void *, size_t))dlsym(RTLD_DEFAULT, "free_sized");

	for (size_t n = 0, size; (size = test_size(n)) != 0; n += n < 1100 ? 7 : 1) {
		void *blocks[40];
		pthread_t thread;

		for (size_t i = 0; i < 40; i++) {
			errno = 1234;
			blocks[i] = malloc(size);
			CHECK(blocks[i]);
			CHECK(errno == 1234);
			*(volatile char *)blocks[i] = 1;
		}
		for (size_t i = 0; i < 39; i++) {
			errno = 1234;
			if (i % 4 == 3 && free_sized_of_host)
				free_sized_of_host(blocks[i], size);
			else
				free(blocks[i]);
			CHECK(errno == 1234);
		}
		if (size > 100 * KIB || n % 70 == 0) {
			CHECK(!pthread_create(&thread, NULL, free_there, blocks[39]));
			CHECK(!pthread_join(thread, NULL));
		} else
			free(blocks[39]);
		errno = 1234;
		free(NULL);
		CHECK(errno == 1234);
	}
	return 0;
}
