/* Runs a program many times, one after another: spawn COUNT PROGRAM [ARGUMENT]...
 * Prints the CPU time and the wall time a run, in microseconds. */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

extern char **environ;

int main(int argc, char **argv)
{
	struct timespec from, to;
	struct rusage used;
	long count = argc > 2 ? atol(argv[1]) : 0;

	if (count < 1)
		return 2;
	clock_gettime(CLOCK_MONOTONIC, &from);
	for (long i = 0; i < count; i++) {
		int status = -1;
		pid_t pid;

		if (posix_spawn(&pid, argv[2], NULL, NULL, argv + 2, environ) ||
		    waitpid(pid, &status, 0) != pid || status)
			return 1;
	}
	clock_gettime(CLOCK_MONOTONIC, &to);
	getrusage(RUSAGE_CHILDREN, &used);
	double cpu = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e6 +
	             (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
	double wall = (double)(to.tv_sec - from.tv_sec) * 1e6 +
	              (double)(to.tv_nsec - from.tv_nsec) / 1e3;
	printf("%.1f %.1f\n", cpu / (double)count, wall / (double)count);
	return 0;
}
