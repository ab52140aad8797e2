/*
 * A guest's program that uses /dev/howlate_inject as nobody should, and as users do that are killed.
 *
 *   inject_user waits     a user is killed while its delays are far away
 *   inject_user storms    users are killed in the midst of delays of every kind
 *   inject_user counts    every delay of every kind is made, not before its time and not shorter than wanted
 *   inject_user refuses   what the module refuses, and with what error
 *
 * Exit code 0: as it should be; else a sentence on standard error.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <sys/ioctl.h>

#include "howlate_abi.h"
#include "module_user.h"

#define EACH 30 /* delays of each kind */
#define COUNT (EACH * HOWLATE_INJECT_KINDS)

static struct howlate_inject_delay delays[COUNT];

static int opened(void)
{
	const int fd = open(HOWLATE_INJECT_DEVICE, O_RDONLY | O_CLOEXEC);

	check(fd >= 0, "the device opens");
	return fd;
}

static long long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

/* Every kind in turn. */
static void plan(long long first_ns, long long every_ns, long long length_ns)
{
	for (int i = 0; i < COUNT; i++)
		delays[i] = (struct howlate_inject_delay){
			.begin_ns = first_ns + i * every_ns, .length_ns = length_ns, .kind = i % HOWLATE_INJECT_KINDS,
		};
}

static int load_as(int fd, unsigned int version, unsigned int count)
{
	struct howlate_inject_load load = {
		.version = version, .count = count, .delays = (uintptr_t)delays,
	};

	return ioctl(fd, HOWLATE_INJECT_LOAD, &load);
}

static int load_in_turns(int fd, long long round_ns)
{
	struct howlate_inject_load load = {
		.version = HOWLATE_ABI_VERSION, .count = COUNT, .delays = (uintptr_t)delays, .round_ns = round_ns,
	};

	return ioctl(fd, HOWLATE_INJECT_LOAD, &load);
}

static int start(int fd)
{
	long long origin = now_ns();

	return ioctl(fd, HOWLATE_INJECT_START, &origin);
}

/* A child whose delays have begun when the parent goes on. */
static pid_t user(void)
{
	const pid_t child = forked();

	if (child == 0) {
		const int fd = opened();

		check(load_as(fd, HOWLATE_ABI_VERSION, COUNT) == 0, "it loads");
		check(start(fd) == 0, "it starts");
		has_begun();
		for (;;)
			pause();
	}
	return child;
}

static void waits(void)
{
	pid_t child;

	plan(3600000000000LL, 1000000, 1000);
	child = user();
	rest(1000000);
	check(unloaded(HOWLATE_INJECT_MODULE) == EWOULDBLOCK, "a module with delays to come cannot be unloaded");
	check(open(HOWLATE_INJECT_DEVICE, O_RDONLY) < 0 && errno == EBUSY, "a second user is refused");
	end(child);
}

static void storms(void)
{
	for (int turn = 0; turn < 4; turn++) {
		pid_t child;

		plan(50000, 250000, 200000);
		child = user();
		rest(300000 + 190000 * turn);
		check(unloaded(HOWLATE_INJECT_MODULE) == EWOULDBLOCK, "a module in the midst of delays cannot be unloaded");
		end(child);
	}
}

static void counts(void)
{
	static struct howlate_inject_record records[COUNT];
	const int fd = opened();
	long long origin = now_ns();

	plan(100000, 400000, 50000);
	check(load_as(fd, HOWLATE_ABI_VERSION, COUNT) == 0, "it loads");
	check(ioctl(fd, HOWLATE_INJECT_START, &origin) == 0, "it starts");
	while (now_ns() < origin + delays[COUNT - 1].begin_ns + 1000000)
		rest(1000000);
	check(ioctl(fd, HOWLATE_INJECT_STOP) == 0 && ioctl(fd, HOWLATE_INJECT_STOP) == 0, "it stops, twice");
	check(read(fd, records, sizeof(records)) == sizeof(records), "there is a record for each delay");
	check(read(fd, records, sizeof(records)) == 0, "and no more");
	for (int i = 0; i < COUNT; i++) {
		const struct howlate_inject_record *record = &records[i];

		check(record->kind == delays[i].kind && record->cpu == 0, "records are in the order of the list");
		check(record->state == HOWLATE_INJECT_MADE, "every delay was made");
		check(record->begin_ns >= origin + delays[i].begin_ns, "none was before its time");
		check(record->end_ns - record->begin_ns >= record->wanted_ns, "none was too short");
		check(record->wanted_ns == delays[i].length_ns, "and it was as wanted");
		check((record->pid == 0) == (record->kind == HOWLATE_INJECT_HARD_IRQ ||
					     record->kind == HOWLATE_INJECT_SOFTIRQ ||
					     record->kind == HOWLATE_INJECT_IPI_STORM), "tasks have a number");
	}
	printf("made %d\n", COUNT);
	close(fd);
}

static void refused(int fd, const char *what)
{
	check(load_as(fd, HOWLATE_ABI_VERSION, COUNT) < 0 && errno == EINVAL, what);
	plan(1000000, 1000000, 1000);
}

static void refuses(void)
{
	struct howlate_inject_thread thread = {0};
	struct howlate_inject_record record;
	long long origin = -1;
	const int fd = opened();

	plan(1000000, 1000000, 1000);
	check(start(fd) < 0 && errno == ENODATA, "nothing starts before it is loaded");
	check(ioctl(fd, HOWLATE_INJECT_STOP) < 0 && errno == ENODATA, "and nothing stops");
	check(read(fd, &record, sizeof(record)) < 0 && errno == EBUSY, "nothing is read before it stops");
	check(load_as(fd, HOWLATE_ABI_VERSION + 1, COUNT) < 0 && errno == EPROTONOSUPPORT, "another version is refused");
	check(load_as(fd, HOWLATE_ABI_VERSION, 0) < 0 && errno == EINVAL, "an empty list is refused");
	check(load_in_turns(fd, -1) < 0 && errno == EINVAL, "a negative round is refused");
	check(load_in_turns(fd, HOWLATE_INJECT_ROUND_NS_MAX + 1) < 0 && errno == EINVAL, "too long a round is refused");
	check(load_as(fd, HOWLATE_ABI_VERSION, HOWLATE_INJECT_DELAYS_MAX + 1) < 0 && errno == EINVAL, "too many are refused");
	delays[1].kind = HOWLATE_INJECT_KINDS;
	refused(fd, "an unknown kind is refused");
	delays[2].cpu = 100000;
	refused(fd, "a CPU that is not there is refused");
	delays[3].length_ns = HOWLATE_INJECT_LENGTH_NS_MAX + 1;
	refused(fd, "too long a delay is refused");
	delays[4].begin_ns = 0;
	refused(fd, "a list without order is refused");
	check(ioctl(fd, HOWLATE_INJECT_FIND_THREAD, &thread) < 0 && errno == ENODATA, "there is no thread before that");
	check(load_as(fd, HOWLATE_ABI_VERSION, COUNT) == 0, "a good list is taken after that");
	check(ioctl(fd, HOWLATE_INJECT_FIND_THREAD, &thread) == 0 && thread.pid > 0, "the thread has a number");
	thread.cpu = 100000;
	check(ioctl(fd, HOWLATE_INJECT_FIND_THREAD, &thread) < 0 && errno == ENODATA, "on a CPU of the list");
	check(load_as(fd, HOWLATE_ABI_VERSION, COUNT) < 0 && errno == EBUSY, "a second is refused");
	check(ioctl(fd, HOWLATE_INJECT_START, &origin) < 0 && errno == EINVAL, "an origin before all time is refused");
	check(start(fd) == 0, "it starts");
	check(start(fd) < 0 && errno == EBUSY, "but not twice");
	check(ioctl(fd, 1) < 0 && errno == ENOTTY, "an unknown request is refused");
	check(ioctl(fd, HOWLATE_INJECT_STOP) == 0, "it stops");
	check(read(fd, &record, sizeof(record)) == sizeof(record) && record.state == 0, "a delay that was not made says so");
	close(fd);
	check(setuid(65534) == 0, "root can become somebody else");
	check(open(HOWLATE_INJECT_DEVICE, O_RDONLY) < 0, "who is not root cannot open it");
}

int main(int argc, char **argv)
{
	return run_part(argc == 2 ? argv[1] : "");
}
