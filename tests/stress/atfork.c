/* Other libraries' fork handlers allocate and free: some registered before the
 * allocator's own, in a constructor before the first malloc, some after; while
 * threads allocate. And children of a raw clone, for which no handler runs. */
#include "../testing.h"

#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static void *kept[2][3];
static int stop;

static void churn_here(int who, int when)
{
	free(kept[who][when]);
	kept[who][when] = malloc((size_t)(100 + 5000 * who + 100000 * when));
	free(malloc(40));
	free(calloc(1, 200000));
	free(realloc(malloc(10), 10000));
}

static void early_prepare(void)
{
	churn_here(0, 0);
}
static void early_parent(void)
{
	churn_here(0, 1);
}
static void early_child(void)
{
	churn_here(0, 2);
}
static void late_prepare(void)
{
	churn_here(1, 0);
}
static void late_parent(void)
{
	churn_here(1, 1);
}
static void late_child(void)
{
	churn_here(1, 2);
}

static void register_early(void)
{
	pthread_atfork(early_prepare, early_parent, early_child);
}

__attribute__((section(".preinit_array"),
               used)) static void (*preinit)(void) = register_early;

static void *churn(void *unused)
{
	void *blocks[64] = { NULL };

	(void)unused;
	for (size_t i = 0; !__atomic_load_n(&stop, __ATOMIC_RELAXED); i++) {
		free(blocks[i % 64]);
		blocks[i % 64] = malloc(i % 500 == 0 ? 300 * KIB : i * 37 % 5000);
	}
	for (size_t i = 0; i < 64; i++)
		free(blocks[i]);
	return NULL;
}

static void wait_for(pid_t pid)
{
	int status = -1;

	CHECK(pid > 0);
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void use_heap(void)
{
	void *blocks[500];

	for (size_t i = 0; i < 500; i++)
		blocks[i] = malloc(i * 13);
	for (size_t i = 0; i < 500; i++)
		free(blocks[i]);
	free(kept[1][0]);
	kept[1][0] = NULL;
}

int main(void)
{
	pthread_t threads[2];
	void *block = malloc(500);

	pthread_atfork(late_prepare, late_parent, late_child);
	for (int i = 0; i < 100; i++) {
		pid_t pid;

		if (i == 50)
			for (int t = 0; t < 2; t++)
				CHECK(!pthread_create(&threads[t], NULL, churn, NULL));
		pid = fork();
		if (!pid) {
			use_heap();
			free(block);
			exit(0);
		}
		wait_for(pid);
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	for (int t = 0; t < 2; t++)
		CHECK(!pthread_join(threads[t], NULL));

	/* One thread is left, so no lock can be held; no handler runs. */
	for (int i = 0; i < 20; i++) {
		pid_t pid = (pid_t)syscall(SYS_clone, (long)SIGCHLD, 0L, 0L, 0L, 0L);

		if (!pid) {
			use_heap();
			free(block);
			_exit(0);
		}
		wait_for(pid);
	}
	free(block);
	return 0;
}
