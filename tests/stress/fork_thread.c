/* fork from a thread that is not main, while other threads allocate: the child
 * allocates, frees what it inherited, makes threads, forks again, and returns
 * through exit. */
#include "../testing.h"

#include <pthread.h>
#include <sys/wait.h>

#define BLOCKS 300
#define FORKS 40

static int stop;

static void *churn(void *unused)
{
	void *blocks[64] = { NULL };

	(void)unused;
	for (size_t i = 0; !__atomic_load_n(&stop, __ATOMIC_RELAXED); i++) {
		free(blocks[i % 64]);
		blocks[i % 64] = malloc(i % 1000 == 0 ? 300 * KIB : i * 37 % 5000);
		CHECK(blocks[i % 64]);
	}
	for (size_t i = 0; i < 64; i++)
		free(blocks[i]);
	return NULL;
}

static void *allocate_a_bit(void *unused)
{
	(void)unused;
	for (size_t i = 0; i < 1000; i++)
		free(malloc(i * 3));
	return malloc(100);
}

static void wait_for(pid_t pid)
{
	int status = -1;

	CHECK(pid > 0);
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* In the child: the only thread is the one that forked. */
static void child(void **blocks, int generation)
{
	pthread_t thread;
	void *block;
	pid_t pid;

	for (size_t i = 0; i < BLOCKS; i++) {
		CHECK(test_holds(blocks[i], i * 11, i * 11, (unsigned)i));
		if (i % 3 == 0)
			blocks[i] = realloc(blocks[i], i * 20 + 1);
		else if (i % 3 == 1) {
			free(blocks[i]);
			blocks[i] = calloc(1, i * 11);
		}
	}
	CHECK(!pthread_create(&thread, NULL, allocate_a_bit, NULL));
	CHECK(!pthread_join(thread, &block));
	free(block);
	if (generation == 0) {
		pid = fork();
		if (!pid) {
			for (size_t i = 0; i < BLOCKS; i++)
				free(blocks[i]);
			exit(0);
		}
		wait_for(pid);
	}
	exit(0);
}

static void *forker(void *unused)
{
	void *blocks[BLOCKS];

	(void)unused;
	for (size_t i = 0; i < BLOCKS; i++) {
		blocks[i] = malloc(i * 11);
		test_fill(blocks[i], i * 11, (unsigned)i);
	}
	for (int n = 0; n < FORKS; n++) {
		pid_t pid = fork();

		if (!pid)
			child(blocks, n % 2);
		wait_for(pid);
	}
	for (size_t i = 0; i < BLOCKS; i++) {
		CHECK(test_holds(blocks[i], i * 11, i * 11, (unsigned)i));
		free(blocks[i]);
	}
	return NULL;
}

static void at_exit(void)
{
	free(malloc(1000));
}

int main(void)
{
	pthread_t churners[2], forkers[2];

	atexit(at_exit);
	for (int i = 0; i < 2; i++) {
		CHECK(!pthread_create(&churners[i], NULL, churn, NULL));
		CHECK(!pthread_create(&forkers[i], NULL, forker, NULL));
	}
	for (int i = 0; i < 2; i++)
		CHECK(!pthread_join(forkers[i], NULL));
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < 2; i++)
		CHECK(!pthread_join(churners[i], NULL));
	return 0;
}
