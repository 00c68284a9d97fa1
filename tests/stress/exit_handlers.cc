// exit while another thread allocates; static destructors, atexit handlers and
// thread-local destructors allocate and free, also what another thread made.
#include "../testing.h"

#include <pthread.h>
#include <string>
#include <vector>

struct Holder {
	std::vector<std::string> strings;
	void *block = nullptr;
	Holder() : strings(100, std::string(200, 'x')), block(malloc(1000))
	{
	}
	~Holder()
	{
		strings.push_back(std::string(5000, 'y'));
		free(block);
		free(malloc(300000));
	}
};

static Holder global;
static thread_local Holder local;
static void *x_shared[64];
static int started;
static bool main_ends; // as a thread; the process ends by the other's exit

static void *churn(void *)
{
	local.strings.emplace_back("in the thread");
	for (size_t i = 0;; i++) {
		void *old = __atomic_exchange_n(&x_shared[i % 64], malloc(i * 31 % 3000),
		                                __ATOMIC_ACQ_REL);

		free(old);
		__atomic_store_n(&started, 1, __ATOMIC_RELAXED);
		if (main_ends && i == 20000)
			exit(0);
	}
	return nullptr;
}

static void at_exit()
{
	for (size_t i = 0; i < 5000; i++)
		free(__atomic_exchange_n(&x_shared[i % 64], malloc(i * 17 % 3000),
		                         __ATOMIC_ACQ_REL));
}

int main(int argc, char **)
{
	pthread_t thread;

	main_ends = argc > 1;
	local.strings.emplace_back("in main");
	for (int i = 0; i < 5; i++)
		CHECK(!atexit(at_exit));
	CHECK(!pthread_create(&thread, nullptr, churn, nullptr));
	while (!__atomic_load_n(&started, __ATOMIC_RELAXED))
		usleep(100);
	if (main_ends)
		pthread_exit(nullptr);
	exit(0);
}
