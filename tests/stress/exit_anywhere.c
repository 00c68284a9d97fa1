/* A signal's handler ends the process, wherever in the allocator it meets it: a check at
 * exit must find nothing, and wait for nothing. exit_anywhere [CHILDREN] [SEED] */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BLOCKS = 400 };

static unsigned long state;

static unsigned draw(unsigned below)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(state >> 33) % below;
}

static void leave(int number)
{
	(void)number;
	exit(0);
}

static size_t any_size(void)
{
	static const unsigned most[] = { 1, 40, 40, 200, 1000, 5000, 70000, 300000 };

	return draw(most[draw(draw(20) ? 5 : 8)]);
}

static void work(void)
{
	static char *blocks[BLOCKS];
	static size_t sizes[BLOCKS];

	for (;;) {
		unsigned i = draw(BLOCKS);
		if (!blocks[i] || draw(3)) {
			free(blocks[i]);
			sizes[i] = any_size();
			blocks[i] = draw(2) ? malloc(sizes[i]) : calloc(1, sizes[i]);
		} else {
			size_t fresh = draw(2) ? any_size() : sizes[i] + draw(9);
			blocks[i] = realloc(blocks[i], fresh + 1);
			sizes[i] = fresh + 1;
		}
		if (!blocks[i])
			_exit(5);
		memset(blocks[i], 'A', sizes[i]);
	}
}

int main(int argc, char **argv)
{
	int children = argc > 1 ? atoi(argv[1]) : 300, bad = 0;
	unsigned long seed = argc > 2 ? strtoul(argv[2], NULL, 10) : (unsigned long)getpid();

	printf("seed %lu\n", seed);
	fflush(stdout);
	for (int i = 0; i < children; i++) {
		int status = 0;
		pid_t child = fork();
		if (child == 0) {
			state = seed + (unsigned long)i;
			draw(2);
			struct itimerval soon = { { 0, 0 },
				                  { 0, 50 + (int)draw(i % 2 ? 500 : 8000) } };
			signal(SIGALRM, leave);
			setitimer(ITIMER_REAL, &soon, NULL);
			work();
		}
		if (child < 0 || waitpid(child, &status, 0) != child)
			return 2;
		if (status) {
			printf("child %d: status %#x\n", i, (unsigned)status);
			bad++;
		}
	}
	printf("%d of %d children ended badly\n", bad, children);
	return bad != 0;
}
