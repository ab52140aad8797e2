/*
 * A guest's program: runs another one (the words after the first), and has the firmware take the CPU from it for
 * times that are known, once for each of `loops`, whoever has the CPU and whether its interrupts are off or not.
 *
 *   long_smi howlate-probe hardware-gap ...
 *
 * What runs in system management mode is a loop of two instructions, put in place of the firmware's handler (the
 * chipset, QEMU's q35, has its memory unlocked). The interrupt is a message of QEMU's PCI device `edu`, which comes
 * by itself 100 ms of the guest's time after a transfer was asked for; its way of delivery is that of an SMI.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PCI "/sys/bus/pci/devices/"

enum { SMRAM = 0x9d, SMRAM_OPEN = 0x40, SMRAM_LOCKED = 0x10 }; /* of the host bridge */
enum { COMMAND = 0x04, BAR0 = 0x10, CAPABILITIES = 0x34, CAPABILITY_MSI = 0x05 };
enum { EDU_ACKNOWLEDGE = 0x64, EDU_FROM = 0x80, EDU_TO = 0x88, EDU_COUNT = 0x90, EDU_START = 0x98 };

static const uint32_t loops[] = {25000, 40000, 60000, 100000}; /* of two instructions */

static void die(const char *what)
{
	fprintf(stderr, "long_smi: %s: %s\n", what, strerror(errno));
	exit(1);
}

static int opened(const char *device, const char *file, int flags)
{
	char path[512];
	int fd;

	snprintf(path, sizeof(path), PCI "%s/%s", device, file);
	fd = open(path, flags);
	if (fd < 0)
		die(path);
	return fd;
}

static uint64_t told(const char *device, const char *file)
{
	char text[32] = "";
	const int fd = opened(device, file, O_RDONLY);

	if (read(fd, text, sizeof(text) - 1) < 0)
		die(file);
	close(fd);
	return strtoull(text, NULL, 0);
}

static void find_edu(char *name, size_t size)
{
	DIR *all = opendir(PCI);
	struct dirent *one;

	while (all && (one = readdir(all)))
		if (one->d_name[0] != '.' && told(one->d_name, "vendor") == 0x1234 &&
		    told(one->d_name, "device") == 0x11e8) {
			snprintf(name, size, "%s", one->d_name);
			closedir(all);
			return;
		}
	die("no edu");
}

static uint8_t get(int config, int at)
{
	uint8_t value = 0;

	if (pread(config, &value, 1, at) != 1)
		die("config");
	return value;
}

static void put(int config, int at, uint32_t value, int bytes)
{
	if (pwrite(config, &value, bytes, at) != bytes)
		die("config");
}

/* The SMI's handler: mov $loops, %ecx; 1: dec %ecx; jnz 1b; rsm, as the CPU begins there with 16 bits. */
static void have_it_last(int bridge, volatile uint8_t *handler, uint32_t turns)
{
	const uint8_t code[] = {0x66, 0xb9, turns, turns >> 8, turns >> 16, turns >> 24,
				0x66, 0x49, 0x75, 0xfc, 0x0f, 0xaa};
	const uint8_t before = get(bridge, SMRAM);

	if (before & SMRAM_LOCKED) {
		fprintf(stderr, "long_smi: the firmware locked its memory\n");
		exit(3); /* not possible here */
	}
	put(bridge, SMRAM, before | SMRAM_OPEN, 1);
	for (unsigned int i = 0; i < sizeof(code); i++)
		handler[i] = code[i];
	put(bridge, SMRAM, before, 1);
}

/* Its interrupt is one message to the CPU's local APIC (0xfee00000), delivered as an SMI (2 in bits 8 to 10). */
static volatile uint8_t *set_up_edu(void)
{
	char name[256] = "";
	volatile uint8_t *registers;
	int config, at;

	find_edu(name, sizeof(name));
	config = opened(name, "config", O_RDWR);
	put(config, BAR0, (uint32_t)told(name, "resource"), 4); /* QEMU does not save the state of an edu */
	put(config, COMMAND, 6, 2);
	for (at = get(config, CAPABILITIES); at && get(config, at) != CAPABILITY_MSI;)
		at = get(config, at + 1);
	if (!at)
		die("no messages");
	put(config, at + 4, 0xfee00000, 4);
	put(config, at + 8, 0, 4);
	put(config, at + 12, 2 << 8, 2);
	put(config, at + 2, get(config, at + 2) | 1, 1);
	registers = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, opened(name, "resource0", O_RDWR), 0);
	if (registers == MAP_FAILED)
		die("resource0");
	return registers;
}

static void word(volatile uint8_t *at, uint32_t value)
{
	*(volatile uint32_t *)at = value;
}

static void two_words(volatile uint8_t *at, uint64_t value)
{
	*(volatile uint64_t *)at = value;
}

static void ask(volatile uint8_t *edu)
{
	word(edu + EDU_ACKNOWLEDGE, 0x100);
	two_words(edu + EDU_FROM, 0x1000);
	two_words(edu + EDU_TO, 0x40000);
	two_words(edu + EDU_COUNT, 4);
	two_words(edu + EDU_START, 1 | 4); /* to the device, with an interrupt at its end */
}

int main(int argc, char **argv)
{
	const struct sched_param param = {90};
	const int memory = open("/dev/mem", O_RDWR | O_SYNC), bridge = opened("0000:00:00.0", "config", O_RDWR);
	volatile uint8_t *handler = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0xa8000);
	volatile uint8_t *edu = set_up_edu();
	int how = 0;
	pid_t child;

	if (argc < 2 || handler == MAP_FAILED || sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &param))
		die("/dev/mem or priority");
	child = fork();
	if (child == 0) {
		execv("/proc/1/exe", argv + 1);
		_exit(127);
	}
	for (unsigned int i = 0; i < sizeof(loops) / sizeof(*loops); i++) {
		const struct timespec next = {0, 120 * 1000 * 1000};

		have_it_last(bridge, handler, loops[i]);
		ask(edu);
		nanosleep(&next, NULL); /* with hwlat: to the end of the window in which it falls */
	}
	waitpid(child, &how, 0);
	return WIFEXITED(how) ? WEXITSTATUS(how) : 1;
}
