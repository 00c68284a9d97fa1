// Destructors at a thread's end allocate and free, round after round: keys that
// set themselves again for all rounds of POSIX, C++ thread_local objects, and
// blocks of a dead thread freed by another.
#include "../testing.h"

#include <limits.h>
#include <pthread.h>
#include <string>

static pthread_key_t first_key, last_key;
static int rounds_seen;
static void *x_left[8];

static void again(pthread_key_t key, void *value)
{
	size_t *round = static_cast<size_t *>(value);
	void *blocks[50];

	for (size_t i = 0; i < 50; i++)
		blocks[i] = malloc(i * *round * 40);
	free(__atomic_exchange_n(&x_left[*round % 8], blocks[49], __ATOMIC_ACQ_REL));
	for (size_t i = 0; i < 49; i++)
		free(blocks[i]);
	free(malloc(200000));
	__atomic_add_fetch(&rounds_seen, 1, __ATOMIC_RELAXED);
	if (++*round <= PTHREAD_DESTRUCTOR_ITERATIONS)
		pthread_setspecific(key, value);
	else
		free(value);
}

static void first_again(void *value)
{
	again(first_key, value);
}

static void last_again(void *value)
{
	again(last_key, value);
}

// Made before the allocator's own key, if it has one.
__attribute__((constructor)) static void make_first()
{
	CHECK(!pthread_key_create(&first_key, first_again));
}

struct Late {
	std::string text = std::string(3000, 'a');
	~Late()
	{
		std::string more = text + text;
		CHECK(more.size() == 6000);
		free(realloc(malloc(10), 100000));
	}
};

static thread_local Late late;

static void set_one(pthread_key_t key)
{
	size_t *round = static_cast<size_t *>(malloc(sizeof *round));

	*round = 1;
	CHECK(!pthread_setspecific(key, round));
}

static void *work(void *)
{
	set_one(first_key);
	set_one(last_key);
	late.text += "b";
	late.text.resize(3000);
	return nullptr;
}

int main()
{
	const int threads = 200;

	free(malloc(1));
	CHECK(!pthread_key_create(&last_key, last_again));
	for (int i = 0; i < threads; i += 2) {
		pthread_t two[2];

		for (auto &thread : two)
			CHECK(!pthread_create(&thread, nullptr, work, nullptr));
		for (auto &thread : two)
			CHECK(!pthread_join(thread, nullptr));
	}
	CHECK(rounds_seen == threads * 2 * PTHREAD_DESTRUCTOR_ITERATIONS);
	for (auto &block : x_left)
		free(block);
	return 0;
}
