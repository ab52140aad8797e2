/*
 * A guest's program that uses the devices of howlate_uio as nobody should, and as readers do that are killed.
 *
 *   uio_reader NAME waits     a reader is killed while it waits for an interrupt that is an hour away
 *   uio_reader NAME storms    a reader is killed while interrupts come every 100 us
 *   uio_reader NAME counts    every interrupt that was due is handled or missed, every record comes, in order
 *   uio_reader NAME refuses   what the module refuses, and with what error
 *
 * NAME: howlate_hrtimer, howlate_edu. Exit code 0: as it should be; else a sentence on standard error.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "howlate_abi.h"
#include "module_user.h"

#define BYTES (HOWLATE_UIO_RECORDS_AT + HOWLATE_UIO_RECORDS * sizeof(struct howlate_uio_record))

static const char *name;
static volatile struct howlate_uio_page *page;

/* Its number in /dev. */
static int found(void)
{
	char path[64], text[64];

	for (int number = 0; number < 16; number++) {
		FILE *file;

		snprintf(path, sizeof(path), "/sys/class/uio/uio%d/name", number);
		file = fopen(path, "r");
		if (!file)
			continue;
		check(fgets(text, sizeof(text), file) != NULL, "it has a name");
		fclose(file);
		text[strcspn(text, "\n")] = 0;
		if (!strcmp(text, name))
			return number;
	}
	check(0, "there is such a device");
	return -1;
}

static int attempt(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/dev/uio%d", found());
	return open(path, O_RDWR | O_CLOEXEC);
}

static int opened(void)
{
	const int fd = attempt();

	check(fd >= 0, "the device opens");
	page = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	check(page != MAP_FAILED, "it can be mapped");
	return fd;
}

static int control(int fd, int on)
{
	return write(fd, &on, sizeof(on)) == sizeof(on) ? 0 : -1;
}

static int begin(int fd, long long period_ns)
{
	page->version = HOWLATE_ABI_VERSION;
	page->period_ns = period_ns;
	return control(fd, 1);
}

/* A child that reads for ever; it is waiting, or just about to, when the parent goes on. */
static pid_t reader(long long period_ns)
{
	const pid_t child = forked();

	if (child == 0) {
		const int fd = opened();
		int count;

		check(begin(fd, period_ns) == 0, "it starts");
		has_begun();
		for (;;)
			check(read(fd, &count, sizeof(count)) == sizeof(count), "interrupts come");
	}
	return child;
}

static void waits(void)
{
	const pid_t child = reader(HOWLATE_IRQ_PERIOD_NS_MAX);

	rest(2000000);
	check(unloaded(HOWLATE_UIO_MODULE) == EWOULDBLOCK, "a module that is read from cannot be unloaded");
	check(attempt() < 0 && errno == EBUSY, "who comes second is refused");
	end(child);
}

static void storms(void)
{
	for (int turn = 0; turn < 3; turn++) {
		const pid_t child = reader(100000 + 7000 * turn);

		rest(1000000 + 137000 * turn);
		check(unloaded(HOWLATE_UIO_MODULE) == EWOULDBLOCK, "a module whose timer runs cannot be unloaded");
		end(child);
	}
}

static void counts(void)
{
	volatile struct howlate_uio_record *records;
	unsigned int taken = 0;
	unsigned long long next = 0;
	struct pollfd waited;
	const int fd = opened();
	int count;

	records = (volatile void *)((char *)page + HOWLATE_UIO_RECORDS_AT);
	waited.fd = fd;
	waited.events = POLLIN;
	for (int again = 0; again < 2; again++) {
		check(begin(fd, 50000) == 0, "it starts");
		for (taken = 0, next = 0; taken < 300;) {
			if (taken % 2)
				check(poll(&waited, 1, -1) == 1 && waited.revents == POLLIN, "an interrupt is polled for");
			check(read(fd, &count, sizeof(count)) == sizeof(count), "an interrupt is read");
			for (; taken != page->written; taken++) {
				const volatile struct howlate_uio_record *record = &records[taken % HOWLATE_UIO_RECORDS];

				check(record->index >= next, "they come in order");
				check(record->raised_ns >= record->due_ns, "no interrupt is early");
				check(record->handler_ns >= record->raised_ns, "no handler is early");
				next = record->index + 1;
			}
			if (taken > 150 && taken < 160)
				rest(3000000);
		}
		check(control(fd, 0) == 0, "it stops");
		taken = page->written;
		check(page->due >= taken && page->due < 10 * taken, "what was due is told");
		check(page->due >= next, "and holds what came");
		rest(1000000);
		check(page->written == taken, "after a stop none comes");
	}
	printf("due %llu handled %u\n", (unsigned long long)page->due, taken);
	close(fd);
}

static void refuses(void)
{
	const int fd = opened();

	page->version = HOWLATE_ABI_VERSION + 1;
	page->period_ns = 1000000;
	check(control(fd, 1) < 0 && errno == EPROTONOSUPPORT, "another version is refused");
	check(begin(fd, 1) < 0 && errno == EINVAL, "a period of 1 ns is refused");
	check(begin(fd, HOWLATE_IRQ_PERIOD_NS_MAX * 2) < 0 && errno == EINVAL, "a period of two hours is refused");
	check(begin(fd, HOWLATE_IRQ_PERIOD_NS_MAX) == 0, "an hour is fine");
	check(begin(fd, 1000000) < 0 && errno == EBUSY, "a second start is refused");
	check(attempt() < 0 && errno == EBUSY, "a second file is refused");
	check(mmap(NULL, BYTES + (1 << 20), PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED, "no more is mapped than there is");
	check(control(fd, 0) == 0 && control(fd, 0) == 0, "it stops, twice");
	close(fd);
}

int main(int argc, char **argv)
{
	const char *what = argc == 3 ? argv[2] : "";

	name = argc == 3 ? argv[1] : "";
	return run_part(what);
}
