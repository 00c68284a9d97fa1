/* Runs one command and prints what it used, as a line of JSON on descriptor FD (3):
 *
 *     measure [-f FD] [-l SECONDS] [-p LIBRARY] COMMAND [ARGUMENT ...]
 *
 *     {"status": 0, "signal": 0, "timed_out": false, "user_us": 1, "system_us": 1,
 *      "wall_us": 1, "peak_kib": 1, "minor_faults": 1, "major_faults": 0,
 *      "voluntary_switches": 1, "involuntary_switches": 0}
 *
 * -p preloads a library into the command only; after -l seconds the command and what
 * it started are killed. Children that the command waited for are counted in, but the
 * peak resident size is that of the largest single process. SIGINT and SIGTERM are handed
 * on, so a server is measured by ending its measure. Exit status 0 when measured.
 *
 * A small C program does this because a child's peak resident size starts at its
 * parent's: run from Python, nothing would be below 10 MB. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
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

static void run(char **command, const char *library, const sigset_t *signals)
{
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigprocmask(SIG_UNBLOCK, signals, NULL);
	if (library && *library)
		setenv("LD_PRELOAD", library, 1);
	execvp(*command, command);
	perror(*command);
	_exit(127);
}

/* Waits until the child ends or the time is over; true if it had to be killed. */
static int wait_for(pid_t child, long limit_s, const sigset_t *signals)
{
	long long end = microseconds() + limit_s * 1000000LL;

	for (;;) {
		long long left = limit_s ? end - microseconds() : 3600 * 1000000LL;
		struct timespec time = { left / 1000000, left % 1000000 * 1000 };
		siginfo_t info = { 0 };
		int got;

		/* The signal may have come for a child that is merely stopped. */
		if (waitid(P_PID, (id_t)child, &info, WEXITED | WNOHANG | WNOWAIT) ||
		    info.si_pid)
			return 0;
		if (left <= 0)
			return 1;
		got = sigtimedwait(signals, NULL, &time);
		if (got == SIGINT || got == SIGTERM)
			kill(child, got);
	}
}

int main(int argc, char **argv)
{
	const char *library = NULL;
	long limit_s = 0;
	int results = 3;
	sigset_t signals;
	struct rusage used;
	int option, status, timed_out;

	while ((option = getopt(argc, argv, "+f:l:p:")) != -1) {
		if (option == 'p')
			library = optarg;
		else if (option == 'l')
			limit_s = atol(optarg);
		else if (option == 'f')
			results = atoi(optarg);
		else
			return 2;
	}
	if (optind == argc)
		return 2;
	fcntl(results, F_SETFD, FD_CLOEXEC);
	prctl(PR_SET_PDEATHSIG, SIGTERM); /* no run outlives the runner */
	sigemptyset(&signals);
	sigaddset(&signals, SIGCHLD);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigprocmask(SIG_BLOCK, &signals, NULL);

	long long start = microseconds();
	pid_t child = fork();

	if (child == 0)
		run(argv + optind, library, &signals);
	if (child < 0) {
		perror("fork");
		return 2;
	}
	setpgid(child, child); /* both do, whoever is first */
	timed_out = wait_for(child, limit_s, &signals);
	kill(-child, SIGKILL); /* what it left behind, or all of it */
	if (wait4(child, &status, 0, &used) != child)
		return 2;
	dprintf(results,
	        "{\"status\": %d, \"signal\": %d, \"timed_out\": %s, \"user_us\": %lld, "
	        "\"system_us\": %lld, \"wall_us\": %lld, \"peak_kib\": %ld, \"minor_faults\": %ld, "
	        "\"major_faults\": %ld, \"voluntary_switches\": %ld, "
	        "\"involuntary_switches\": %ld}\n",
	        WIFEXITED(status) ? WEXITSTATUS(status) : 0,
	        WIFSIGNALED(status) ? WTERMSIG(status) : 0, timed_out ? "true" : "false",
	        used.ru_utime.tv_sec * 1000000LL + used.ru_utime.tv_usec,
	        used.ru_stime.tv_sec * 1000000LL + used.ru_stime.tv_usec,
	        microseconds() - start, used.ru_maxrss, used.ru_minflt, used.ru_majflt,
	        used.ru_nvcsw, used.ru_nivcsw);
	return 0;
}
