/*
 * A guest's program: runs another one (the words after the first), and raises three SMIs meanwhile through
 * the port of the chipset's power management: on the CPU whose number comes before the words, if one does.
 *
 *   smi howlate-probe hardware-gap --duration 1s ...
 *   smi 1 howlate-probe cyclic --cpus 0-1 ...
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <sched.h>
#include <sys/io.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	const struct sched_param param = {90};
	int how = 0, cpu = -1;
	pid_t child;

	if (argc > 2 && isdigit(argv[1][0])) {
		cpu = atoi(argv[1]);
		argv++;
	}
	if (argc < 2 || ioperm(0xb2, 1, 1) || sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &param)) {
		perror("smi");
		return 1;
	}
	child = fork();
	if (child == 0) {
		execv("/proc/1/exe", argv + 1);
		_exit(127);
	}
	if (cpu >= 0) {
		cpu_set_t cpus;

		CPU_ZERO(&cpus);
		CPU_SET(cpu, &cpus);
		sched_setaffinity(0, sizeof(cpus), &cpus);
	}
	for (int i = 0; i < 3; i++) {
		const struct timespec next = {0, 200 * 1000 * 1000};

		nanosleep(&next, NULL);
		outb(0, 0xb2);
	}
	waitpid(child, &how, 0);
	return WIFEXITED(how) ? WEXITSTATUS(how) : 1;
}
