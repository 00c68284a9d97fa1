/* User-space threads that hop between kernel threads: each context allocates on
 * one kernel thread and frees on another. The thread pointer must be read afresh
 * after every switch. */
#include "../testing.h"

#include <pthread.h>
#include <ucontext.h>

#define CONTEXTS 16
#define THREADS 4
#define SWITCHES 2000
#define STACK (64 * KIB)

static ucontext_t contexts[CONTEXTS];
static ucontext_t *x_waiting[CONTEXTS]; /* contexts that no thread runs */
static __thread ucontext_t here;
static __thread unsigned char *place; /* differs a thread */
static int finished;

/* The thread-local address, looked up anew at each call. */
__attribute__((noinline)) static ucontext_t *home(void)
{
	__asm__ volatile("" ::: "memory");
	return &here;
}

static void run(int number)
{
	void *blocks[20] = { NULL };

	for (int n = 0; n < SWITCHES; n++) {
		size_t i = (size_t)n % 20;

		free(blocks[i]);
		blocks[i] = malloc((size_t)(n * 7 + number * 100) % 3000);
		CHECK(blocks[i]);
		test_fill(blocks[i], malloc_usable_size(blocks[i]), (unsigned)n);
		CHECK(!swapcontext(&contexts[number], home()));
	}
	for (size_t i = 0; i < 20; i++)
		free(blocks[i]);
	__atomic_add_fetch(&finished, 1, __ATOMIC_RELEASE);
	for (;;)
		swapcontext(&contexts[number], home());
}

static void *carry(void *argument)
{
	size_t slot = (size_t)(uintptr_t)argument;

	place = malloc(10);
	while (__atomic_load_n(&finished, __ATOMIC_ACQUIRE) < CONTEXTS) {
		ucontext_t *context;

		slot = (slot + 1) % CONTEXTS;
		context = __atomic_exchange_n(&x_waiting[slot], NULL, __ATOMIC_ACQ_REL);
		if (!context)
			continue;
		CHECK(!swapcontext(home(), context));
		__atomic_store_n(&x_waiting[slot], context, __ATOMIC_RELEASE);
	}
	free(place);
	return NULL;
}

int main(void)
{
	static unsigned char stacks[CONTEXTS][STACK] __attribute__((aligned(16)));
	pthread_t threads[THREADS];

	for (int i = 0; i < CONTEXTS; i++) {
		CHECK(!getcontext(&contexts[i]));
		contexts[i].uc_stack.ss_sp = stacks[i];
		contexts[i].uc_stack.ss_size = STACK;
		makecontext(&contexts[i], (void (*)(void))run, 1, i);
		x_waiting[i] = &contexts[i];
	}
	for (size_t i = 0; i < THREADS; i++)
		CHECK(!pthread_create(&threads[i], NULL, carry,
		                      (void *)(uintptr_t)(i * 5)));
	for (size_t i = 0; i < THREADS; i++)
		CHECK(!pthread_join(threads[i], NULL));
	return 0;
}
