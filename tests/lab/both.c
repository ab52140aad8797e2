/*
 * A guest's program: runs two commands of the probe at once and waits for both.
 *
 *   both howlate-probe WORDS... -- howlate-probe WORDS...
 */
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t start(char **argv)
{
	const pid_t child = fork();

	if (child == 0) {
		execv("/proc/1/exe", argv);
		_exit(127);
	}
	return child;
}

int main(int argc, char **argv)
{
	int second = 1, worst = 0, how = 0;

	while (second < argc && strcmp(argv[second], "--"))
		second++;
	if (second + 1 >= argc)
		return 2;
	argv[second] = NULL;
	start(argv + 1);
	start(argv + second + 1);
	while (wait(&how) > 0)
		if (!WIFEXITED(how) || WEXITSTATUS(how))
			worst = 1;
	return worst;
}
