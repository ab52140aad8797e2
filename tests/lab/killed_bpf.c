/*
 * A guest's program: runs the probe with these words, kills it a second later, and says how many BPF programs and maps
 * the kernel has before, while it runs, and after, and how many trace instances:
 *
 *   killed_bpf howlate-probe cyclic --explain ...
 *   before 0 0 0
 */
#include <dirent.h>
#include <linux/bpf.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int count(int next)
{
	union bpf_attr attr;
	int number = 0;

	memset(&attr, 0, sizeof(attr));
	while (syscall(SYS_bpf, next, &attr, sizeof(attr)) == 0) {
		attr.start_id = attr.next_id;
		number++;
	}
	return number;
}

static int instances(void)
{
	DIR *folder = opendir("/sys/kernel/tracing/instances");
	int number = 0;

	while (folder && readdir(folder))
		number++;
	if (folder)
		closedir(folder);
	return number > 2 ? number - 2 : 0;
}

static void say(const char *when)
{
	printf("%s %d %d %d\n", when, count(BPF_PROG_GET_NEXT_ID), count(BPF_MAP_GET_NEXT_ID), instances());
	fflush(stdout);
}

int main(int argc, char **argv)
{
	const struct timespec second = { .tv_sec = 1 };
	pid_t child;

	if (argc < 2)
		return 2;
	say("before");
	child = fork();
	if (child == 0) {
		execv("/proc/1/exe", argv + 1);
		_exit(127);
	}
	nanosleep(&second, NULL);
	say("while");
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	nanosleep(&second, NULL); /* maps go after a grace period */
	say("after");
	return 0;
}
