/* launch: start one program for tests/real/run, and say what it cost.
 *
 *     launch FD [NAME=VALUE]... -- PROGRAM [ARGUMENT]...
 *
 * Sets the variables for the program alone, so that nothing else (not this process
 * either) is preloaded. Writes the program's pid on FD at its start, and at its end
 *
 *     STATUS  CPU_US  PEAK_KIB
 *
 * STATUS as a shell has it (128 + N for signal N), CPU time and peak resident memory
 * of the program and of the children it waited for.
 *
 * Why not fork from python: a process that execs keeps the peak of the memory it gave
 * up, so a program started from a 20 MiB interpreter never shows a peak below 20 MiB.
 *
 * Nothing outlives it: it adopts whatever the program left running and kills it when
 * the program ends, when it gets SIGTERM, and when the process that started it dies.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <fcntl.h>

static volatile sig_atomic_t program;

static void on_term(int sig)
{
	(void)sig;
	if (program > 0)
		kill(program, SIGKILL);
}

/* Every child that is left is an orphan of the program's. Killing one may hand us its
 * children, hence the loop until there is none. */
static void kill_orphans(void)
{
	char path[64], list[65536];

	snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
	do {
		int fd = open(path, O_RDONLY | O_CLOEXEC);
		ssize_t len = fd < 0 ? -1 : read(fd, list, sizeof list - 1);
		if (fd >= 0)
			close(fd);
		list[len > 0 ? len : 0] = 0;
		for (char *at = list; *at;) {
			long pid = strtol(at, &at, 10);
			if (pid <= 0)
				break;
			kill((pid_t)pid, SIGKILL);
		}
	} while (waitpid(-1, NULL, 0) > 0 || errno == EINTR);
}

static long long microseconds(struct timeval t)
{
	return t.tv_sec * 1000000LL + t.tv_usec;
}

static void run_program(char **argv)
{
	for (; *argv && strcmp(*argv, "--"); argv++)
		putenv(*argv);
	if (*argv && argv[1]) {
		signal(SIGTERM, SIG_DFL);
		execvp(argv[1], argv + 1);
		perror(argv[1]);
	}
	_exit(127);
}

int main(int argc, char **argv)
{
	int status = 0, fd = argc > 1 ? atoi(argv[1]) : -1;
	struct rusage use;

	if (argc < 4 || fcntl(fd, F_SETFD, FD_CLOEXEC)) {
		fprintf(stderr, "usage: launch FD [NAME=VALUE]... -- PROGRAM [ARGUMENT]...\n");
		return 2;
	}
	signal(SIGTERM, on_term);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	prctl(PR_SET_CHILD_SUBREAPER, 1);

	pid_t pid = fork();
	if (pid == 0)
		run_program(argv + 2);
	program = pid;
	dprintf(fd, "%d\n", (int)pid);
	while (wait4(pid, &status, 0, &use) < 0)
		if (errno != EINTR)
			return 2;
	kill_orphans();
	dprintf(fd, "%d %lld %ld\n",
		WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status),
		microseconds(use.ru_utime) + microseconds(use.ru_stime), use.ru_maxrss);
	return 0;
}
