/*
 * What the guest's programs share that use a module as nobody should, and as users do that are killed. Each has four parts:
 * waits, storms, counts and refuses. Exit code 0: as it should be; else a sentence on standard error.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void check(int holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "%s: not so: %s (errno: %s)\n", program_invocation_short_name, what, strerror(errno));
	_exit(1);
}

static void rest(long ns)
{
	const struct timespec time = {0, ns};

	nanosleep(&time, NULL);
}

static int begun[2]; /* a pipe: the child tells its parent */

/* 0 in the child. The parent goes on when the child calls has_begun(). */
static pid_t forked(void)
{
	char byte;
	pid_t child;

	check(pipe(begun) == 0, "there is a pipe");
	child = fork();
	check(child >= 0, "there is a child");
	if (child == 0)
		return 0;
	close(begun[1]);
	check(read(begun[0], &byte, 1) == 1, "the child has started");
	close(begun[0]);
	return child;
}

static void has_begun(void)
{
	check(write(begun[1], "b", 1) == 1, "the parent hears of it");
}

static void end(pid_t child)
{
	int how = 0;

	check(kill(child, SIGKILL) == 0, "it can be killed");
	check(waitpid(child, &how, 0) == child && WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL, "it was killed");
}

/* The error with which the kernel refuses to unload the module, or 0. */
static int unloaded(const char *module)
{
	return syscall(SYS_delete_module, module, O_NONBLOCK) == 0 ? 0 : errno;
}

static void waits(void);
static void storms(void);
static void counts(void);
static void refuses(void);

static int run_part(const char *what)
{
	if (!strcmp(what, "waits"))
		waits();
	else if (!strcmp(what, "storms"))
		storms();
	else if (!strcmp(what, "counts"))
		counts();
	else if (!strcmp(what, "refuses"))
		refuses();
	else
		return 2;
	return 0;
}
