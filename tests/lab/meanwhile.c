/*
 * A guest's program: writes texts into files of the kernel's while a command of the probe runs, and waits for that.
 *
 *   meanwhile MS FILE TEXT [MS FILE TEXT...] -- howlate-probe WORDS...
 *
 * MS is how long it waits before it writes. It ends as the probe did; 3 if a text could not be written.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void sleep_ms(long ms)
{
	struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

	while (clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, &pause))
		;
}

static int put(const char *file, const char *text)
{
	const int fd = open(file, O_WRONLY);

	if (fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text)) {
		close(fd);
		return 0;
	}
	perror(file);
	return 1;
}

int main(int argc, char **argv)
{
	int at, how = 0, failed = 0, words = 1;
	pid_t child;

	while (words < argc && strcmp(argv[words], "--"))
		words++;
	if (words + 1 >= argc || words % 3 != 1)
		return 2;
	child = fork();
	if (child == 0) {
		execv("/proc/1/exe", argv + words + 1);
		_exit(127);
	}
	for (at = 1; at + 2 < words; at += 3) {
		sleep_ms(atol(argv[at]));
		failed |= put(argv[at + 1], argv[at + 2]);
	}
	while (waitpid(child, &how, 0) < 0)
		;
	return failed ? 3 : WIFEXITED(how) ? WEXITSTATUS(how) : 1;
}
