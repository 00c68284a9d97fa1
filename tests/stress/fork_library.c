/* A library registers fork handlers in its constructor, before the program's and
 * perhaps the allocator's own: they wait for a mutex that another thread holds
 * while it allocates. Compiled twice: as the library, and as the program. */
#include "../testing.h"

#include <pthread.h>
#include <sys/wait.h>

void *library_get(size_t bytes);
void library_put(void *block);

#ifdef FORK_LIBRARY
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void lock(void)
{
	pthread_mutex_lock(&mutex);
}

static void unlock(void)
{
	pthread_mutex_unlock(&mutex);
}

__attribute__((constructor)) static void start(void)
{
	pthread_atfork(lock, unlock, unlock);
}

void *library_get(size_t bytes)
{
	lock();
	void *block = malloc(bytes);
	unlock();
	return block;
}

void library_put(void *block)
{
	lock();
	free(block);
	unlock();
}
#else
static void *work(void *unused)
{
	(void)unused;
	for (size_t i = 0;; i++)
		library_put(library_get(i % 4 ? i * 97 % 100000 : 3 << 20));
	return NULL;
}

int main(void)
{
	pthread_t thread;

	CHECK(!pthread_create(&thread, NULL, work, NULL));
	for (int i = 0; i < 500; i++) {
		int status = -1;
		pid_t pid = fork();

		if (!pid) {
			free(malloc(100));
			_exit(0);
		}
		CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	}
	return 0;
}
#endif
