/* A double free under circumstances that could hide it: the report must come
 * and the process must end by SIGABRT all the same. */
#include "death.h"

#include <sys/resource.h>
#include <sys/wait.h>

static void *victim, *again;

static void make_it(void)
{
	struct herd herd = { 0 };

	herd.size = arg_number("size", 48);
	herd_make(&herd);
	victim = herd.victim;
	again = innocent() ? herd.spare : herd.victim;
	say_pointer('P', victim);
	say_number('U', malloc_usable_size(victim));
}

static void mistake(void)
{
	free(victim);
	free(again);
	if (!innocent())
		_exit(EXIT_UNNOTICED);
}

static void mistake_thread(void *unused)
{
	(void)unused;
	make_it();
	mistake();
}

static void mistake_key(void *unused)
{
	(void)unused;
	mistake();
}

static void mistake_at_key_end(void *unused)
{
	static pthread_key_t key;

	(void)unused;
	pthread_key_create(&key, mistake_key);
	make_it();
	pthread_setspecific(key, victim);
}

static void on_user_signal(int signal_number)
{
	(void)signal_number;
	mistake();
}

/* The child dies of it, and the parent follows in the same way. */
static int in_child(bool freed_before)
{
	int status = 0;
	pid_t child;

	make_it();
	if (freed_before)
		free(victim);
	child = fork();
	if (child < 0)
		_exit(4);
	if (!child) {
		if (!freed_before)
			free(victim);
		free(again);
		exit(innocent() ? 0 : EXIT_UNNOTICED);
	}
	waitpid(child, &status, 0);
	signal(SIGABRT, SIG_DFL);
	if (WIFSIGNALED(status))
		raise(WTERMSIG(status));
	return WEXITSTATUS(status);
}

static void ignore_it(int signal_number)
{
	(void)signal_number;
}

int main(int argc, char **argv)
{
	const char *how;
	sigset_t all;

	death_start(argc, argv);
	how = arg("how", "abrt_default");
	if (!strcmp(how, "in_child"))
		return in_child(false);
	if (!strcmp(how, "freed_before_fork"))
		return in_child(true);
	if (!strcmp(how, "in_thread") || !strcmp(how, "in_key_destructor")) {
		run_by("other",
		       strcmp(how, "in_thread") ? mistake_at_key_end : mistake_thread,
		       NULL);
		return innocent() ? 0 : EXIT_UNNOTICED;
	}

	make_it();
	if (!strcmp(how, "abrt_default"))
		signal(SIGABRT, SIG_DFL);
	else if (!strcmp(how, "abrt_ignored"))
		signal(SIGABRT, SIG_IGN);
	else if (!strcmp(how, "abrt_handled"))
		signal(SIGABRT, ignore_it);
	else if (!strcmp(how, "abrt_blocked")) {
		sigfillset(&all);
		sigprocmask(SIG_BLOCK, &all, NULL);
	} else if (!strcmp(how, "stderr_closed"))
		close(STDERR_FILENO);
	else if (!strcmp(how, "no_descriptors")) {
		struct rlimit none = { 0, 0 };

		setrlimit(RLIMIT_NOFILE, &none);
	} else if (!strcmp(how, "in_atexit")) {
		atexit(mistake);
		exit(0);
	} else if (!strcmp(how, "in_handler")) {
		signal(SIGUSR1, on_user_signal);
		raise(SIGUSR1);
		return 0;
	} else
		_exit(4);
	mistake();
	return 0;
}
