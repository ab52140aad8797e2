/*
 * Gives real-time tasks 80 ms of each 100, in place of 950 of 1,000, which takes a twelfth of the spinning; then runs
 * its words as the probe.
 */

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static int put(const char *file, const char *value)
{
	return write(open(file, O_WRONLY), value, strlen(value)) == (ssize_t)strlen(value);
}

int main(int argc, char **argv)
{
	if (argc < 2 || !put("/proc/sys/kernel/sched_rt_runtime_us", "80000") ||
	    !put("/proc/sys/kernel/sched_rt_period_us", "100000"))
		return 1;
	execv("/proc/1/exe", argv + 1);
	return 127;
}
