/*
 * A guest's program: runs the probe with the words after the first, a tracer of the kernel's, kills it while that
 * traces, and waits until its guardian has undone what it left. Then the same with the guardian killed before it: it
 * lets another probe try, and has what the first one left undone. It says the tracers' settings before, after the
 * guardian, as they were left without it, and after:
 *
 *   killed timerlat howlate-probe irq --source=timerlat ... -- howlate-probe irq --source=timerlat ...
 *   before osnoise/timerlat_period_us 1000
 */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TRACING "/sys/kernel/tracing/"
#define OWN "instances/howlate/current_tracer"

static const char *const settings[] = {
	"osnoise/timerlat_period_us", "osnoise/cpus",         "hwlat_detector/width",
	"hwlat_detector/window",      "hwlat_detector/mode",  "tracing_thresh",
	"tracing_cpumask",            "current_tracer",       "tracing_on",
};

/* Without the newline; "none" where there is no such file. */
static const char *now(const char *file)
{
	static char text[256];
	char path[256];
	ssize_t got = -1;
	int fd;

	snprintf(path, sizeof(path), TRACING "%s", file);
	fd = open(path, O_RDONLY);
	if (fd >= 0) {
		got = read(fd, text, sizeof(text) - 1);
		close(fd);
	}
	if (got < 0)
		return "none";
	text[got] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return text;
}

static void say(const char *when)
{
	for (unsigned int i = 0; i < sizeof(settings) / sizeof(*settings); i++)
		printf("%s %s %s\n", when, settings[i], now(settings[i]));
	printf("%s %s %s\n", when, OWN, now(OWN));
	fflush(stdout);
}

static pid_t probe(char **argv)
{
	const pid_t child = fork();

	if (child == 0) {
		execv("/proc/1/exe", argv);
		_exit(127);
	}
	return child;
}

/* The only one in the guest; 0 if there is none. */
static pid_t guardian(void)
{
	DIR *const folder = opendir("/proc");
	const struct dirent *entry;
	char path[300], name[32];
	pid_t found = 0;
	FILE *file;

	while (folder && !found && (entry = readdir(folder))) {
		if (atoi(entry->d_name) <= 0)
			continue;
		snprintf(path, sizeof(path), "/proc/%s/comm", entry->d_name);
		file = fopen(path, "r");
		if (!file)
			continue;
		if (fgets(name, sizeof(name), file) && !strcmp(name, "knob-guardian\n"))
			found = atoi(entry->d_name);
		fclose(file);
	}
	if (folder)
		closedir(folder);
	return found;
}

static void turn(void)
{
	const struct timespec pause = {0, 1000 * 1000};

	nanosleep(&pause, NULL);
}

/* A probe that traces; 0 if it ended by itself. */
static pid_t tracing(char **argv, const char *tracer)
{
	const pid_t child = probe(argv);

	while (strcmp(now(OWN), tracer)) {
		if (waitpid(child, NULL, WNOHANG))
			return 0;
		turn();
	}
	return child;
}

int main(int argc, char **argv)
{
	char *restore[] = {"howlate-probe", "restore", NULL};
	int how = 0, second = 2;
	pid_t child;

	while (second < argc && strcmp(argv[second], "--"))
		second++;
	if (second + 1 >= argc)
		return 2;
	argv[second] = NULL;
	say("before");
	child = tracing(argv + 2, argv[1]);
	if (!child || !guardian())
		return 3;
	kill(child, SIGKILL);
	waitpid(child, &how, 0);
	while (guardian())
		turn();
	say("guarded");
	child = tracing(argv + 2, argv[1]);
	if (!child || !guardian())
		return 3;
	kill(guardian(), SIGKILL);
	kill(child, SIGKILL);
	waitpid(child, &how, 0);
	say("left");
	child = probe(argv + second + 1);
	waitpid(child, &how, 0);
	printf("another probe %d\n", WIFEXITED(how) ? WEXITSTATUS(how) : -1);
	fflush(stdout);
	child = probe(restore);
	waitpid(child, &how, 0);
	say("after");
	return WIFEXITED(how) ? WEXITSTATUS(how) : 1;
}
