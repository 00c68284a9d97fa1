/* Runs one command and prints what it used:
 *
 *     measure PRELOAD COMMAND [ARGUMENT ...]
 *     => user and system CPU in microseconds, peak resident KiB, wall microseconds
 *
 * PRELOAD may be empty. The line goes to descriptor 3; the command's output goes
 * nowhere. A small C program does this because a child's peak resident size
 * starts at its parent's: run from Python, nothing would be below 10 MB. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long long microseconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000LL + now.tv_nsec / 1000;
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;

	long long start = microseconds();
	pid_t child = fork();

	if (child == 0) {
		int nowhere = open("/dev/null", O_RDWR);

		dup2(nowhere, 0);
		dup2(nowhere, 1);
		close(nowhere);
		close(3);
		alarm(600); /* survives exec: a hanging run ends as a failed one */
		if (*argv[1])
			setenv("LD_PRELOAD", argv[1], 1);
		execvp(argv[2], argv + 2);
		perror(argv[2]);
		_exit(127);
	}

	struct rusage used;
	int status;

	if (child < 0 || wait4(child, &status, 0, &used) != child)
		return 2;
	dprintf(3, "%lld %lld %ld %lld\n", used.ru_utime.tv_sec * 1000000LL + used.ru_utime.tv_usec,
		used.ru_stime.tv_sec * 1000000LL + used.ru_stime.tv_usec, used.ru_maxrss,
		microseconds() - start);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
