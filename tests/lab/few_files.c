/*
 * A guest's program: runs the probe with these words, which may have so many open files:
 *
 *   few_files 60 howlate-probe cyclic --explain ...
 */
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct rlimit files;

	if (argc < 3)
		return 2;
	files.rlim_cur = files.rlim_max = strtoul(argv[1], NULL, 10);
	if (setrlimit(RLIMIT_NOFILE, &files) != 0)
		return 1;
	execv("/proc/1/exe", argv + 2);
	return 127;
}
