/*
 * A guest's program that uses /dev/howlate_irq or /dev/howlate_hpet as nobody should, and as readers do that are killed.
 *
 *   irq_reader howlate_irq waits     a reader is killed while it waits for an interrupt that is far away
 *   irq_reader howlate_irq storms    readers are killed while interrupts come every 100 us
 *   irq_reader howlate_irq counts    every expiry is handled or missed, every record that is not lost is read, in order
 *   irq_reader howlate_irq refuses   what the module refuses, and with what error
 *
 * Exit code 0: as it should be; else a sentence on standard error.
 */
#define _GNU_SOURCE
#include <linux/hpet.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/ioctl.h>

#include "howlate_abi.h"
#include "module_user.h"

/* What differs between the modules. */
static int is_hpet;
static const char *module;
static long long shortest_ns, longest_ns;
static int readers; /* at once: comparators are few */

static int opened(void)
{
	const int fd = open(is_hpet ? HOWLATE_HPET_DEVICE : HOWLATE_IRQ_DEVICE, O_RDONLY | O_CLOEXEC);

	check(fd >= 0, "the device opens");
	return fd;
}

static int begin_hpet(int fd, unsigned int version, long long period_ns, unsigned int records)
{
	struct howlate_hpet_start start = {
		.version = version, .records = records, .period_ns = period_ns,
	};
	struct hpet_info info;
	int error;

	start.hpet = open("/dev/hpet", O_RDONLY | O_CLOEXEC);
	if (start.hpet < 0)
		return -1;
	check(ioctl(start.hpet, HPET_INFO, &info) == 0, "the HPET tells of itself");
	start.comparator = info.hi_timer;
	error = ioctl(fd, HOWLATE_HPET_START, &start) ? errno : 0;
	close(start.hpet); /* the module holds it */
	errno = error;
	return error ? -1 : 0;
}

static int begin_as(int fd, unsigned int version, long long period_ns, unsigned int records)
{
	struct howlate_irq_start start = {
		.version = version, .records = records, .period_ns = period_ns,
	};

	return is_hpet ? begin_hpet(fd, version, period_ns, records) : ioctl(fd, HOWLATE_IRQ_START, &start);
}

static int begin(int fd, long long period_ns, unsigned int records)
{
	return begin_as(fd, HOWLATE_ABI_VERSION, period_ns, records);
}

/* A child that reads for ever; it is waiting, or just about to, when the parent goes on. */
static pid_t reader(long long period_ns)
{
	const pid_t child = forked();

	if (child == 0) {
		struct howlate_irq_record records[16];
		const int fd = opened();

		check(begin(fd, period_ns, 64) == 0, "it starts");
		has_begun();
		for (;;)
			check(read(fd, records, sizeof(records)) > 0, "records come");
	}
	return child;
}

static void waits(void)
{
	const pid_t child = reader(longest_ns);

	rest(2000000);
	check(unloaded(module) == EWOULDBLOCK, "a module that is read from cannot be unloaded");
	end(child);
}

static void storms(void)
{
	pid_t children[3];

	for (int turn = 0; turn < 3; turn++) {
		for (int i = 0; i < readers; i++)
			children[i] = reader(100000 + 7000 * i);
		rest(1000000 + 137000 * turn);
		check(unloaded(module) == EWOULDBLOCK, "a module whose timer runs cannot be unloaded");
		for (int i = 0; i < readers; i++)
			end(children[i]);
	}
}

static void counts(void)
{
	struct howlate_irq_record records[8];
	struct howlate_irq_account account;
	unsigned long long had = 0, next = 0, lost = 0;
	long long worst = -1;
	const int fd = opened();
	ssize_t got;

	check(begin(fd, shortest_ns, 8) == 0, "it starts");
	for (int turn = 0; turn < 200; turn++) {
		got = read(fd, records, turn % 3 ? sizeof(records) : sizeof(records[0]));
		check(got > 0 && got % sizeof(records[0]) == 0, "whole records come");
		for (size_t i = 0; i < got / sizeof(records[0]); i++, had++) {
			check(records[i].index >= next, "they come in order");
			check(records[i].handled >= records[i].due, "no handler is early");
			check(records[i].lost >= lost, "what is lost stays lost");
			next = records[i].index + 1;
			lost = records[i].lost;
			if (records[i].handled - records[i].due > worst)
				worst = records[i].handled - records[i].due;
		}
		if (turn == 100)
			rest(60 * shortest_ns); /* 60 expiries, and room for 8 */
	}
	check(ioctl(fd, HOWLATE_IRQ_STOP) == 0, "it stops");
	while ((got = read(fd, records, sizeof(records))) > 0)
		had += got / sizeof(records[0]);
	check(got == 0, "at its end it reads 0 bytes");
	check(ioctl(fd, HOWLATE_IRQ_ACCOUNT, &account) == 0, "it gives an account");
	check(account.handled == had + account.lost, "what was handled was read or lost");
	check(account.lost >= 40, "what had no room was counted");
	check(account.latency_max >= worst, "the maximum is of all");
	printf("handled %llu missed %llu lost %llu\n", (unsigned long long)account.handled,
	       (unsigned long long)account.missed, (unsigned long long)account.lost);
	close(fd);
}

static void refuses(void)
{
	struct howlate_irq_record record;
	const int fd = opened();

	check(read(fd, &record, sizeof(record)) < 0 && errno == ENODATA, "nothing is read before it starts");
	check(begin_as(fd, HOWLATE_ABI_VERSION + 1, longest_ns, 8) < 0 && errno == EPROTONOSUPPORT, "another version is refused");
	check(begin(fd, 1, 8) < 0 && errno == EINVAL, "a period of 1 ns is refused");
	check(begin(fd, longest_ns * 2, 8) < 0 && errno == EINVAL, "too long a period is refused");
	check(begin(fd, 1000000, HOWLATE_IRQ_RECORDS_MAX + 1) < 0 && errno == EINVAL, "too many records are refused");
	check(begin(fd, 1000000, 0) == 0, "no more than two records are fine");
	check(begin(fd, 1000000, 8) < 0 && errno == EBUSY, "a second start is refused");
	check(read(fd, &record, sizeof(record) - 1) < 0 && errno == EINVAL, "part of a record is refused");
	check(syscall(SYS_read, fd, 8L, sizeof(record)) < 0 && errno == EFAULT, "a wrong address is refused");
	check(read(fd, &record, sizeof(record)) == sizeof(record) && record.index == 0, "and loses no record");
	check(ioctl(fd, 1) < 0 && errno == ENOTTY, "an unknown request is refused");
	check(ioctl(fd, HOWLATE_IRQ_STOP) == 0 && ioctl(fd, HOWLATE_IRQ_STOP) == 0, "it stops, twice");
	close(fd);
}

int main(int argc, char **argv)
{
	const char *what = argc == 3 ? argv[2] : "";

	module = argc == 3 ? argv[1] : "";
	is_hpet = !strcmp(module, HOWLATE_HPET_MODULE);
	shortest_ns = is_hpet ? HOWLATE_HPET_PERIOD_NS_MIN : 50000;
	longest_ns = is_hpet ? HOWLATE_HPET_PERIOD_NS_MAX : HOWLATE_IRQ_PERIOD_NS_MAX;
	readers = is_hpet ? 1 : 3;
	return run_part(what);
}
