/* Sets the quantum of round robin to the first word, in ms, then runs the rest as the probe. */

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	const int to = open("/proc/sys/kernel/sched_rr_timeslice_ms", O_WRONLY);

	if (argc < 3 || write(to, argv[1], strlen(argv[1])) != (ssize_t)strlen(argv[1]))
		return 1;
	execv("/proc/1/exe", argv + 2);
	return 127;
}
