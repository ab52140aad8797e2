/*
 * A guest's program that uses /dev/howlate_cobalt or /dev/howlate_evl as nobody should, and as users do that are killed.
 *
 *   core_user howlate_evl waits     a user is killed while its thread, then its handler, waits for a release an hour away
 *   core_user howlate_evl storms    users are killed while they are served every 100 us
 *   core_user howlate_evl counts    every release is served, in a thread and in a handler; a stop leaves the rest out
 *   core_user howlate_evl refuses   what the module refuses, and with what error
 *   core_user howlate_evl stops     stops and closes from the first CPU while the handler runs on the last one
 *
 * Exit code 0: as it should be; else a sentence on standard error.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "howlate_abi.h"
#include "module_user.h"

#define HOUR_NS 3600000000000LL

static const char *module;

struct user {
	int fd;
	unsigned int releases;
	volatile struct howlate_core_page *page;
	volatile struct howlate_activation *activations;
};

static long long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void on_cpu(int cpu)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	check(sched_setaffinity(0, sizeof(cpus), &cpus) == 0, "there is such a CPU");
}

static int opened(void)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/dev/%s", module);
	fd = open(path, O_RDWR | O_CLOEXEC);
	check(fd >= 0, "the device opens");
	return fd;
}

static int make_as(int fd, unsigned int version, unsigned int releases)
{
	const struct howlate_core_make make = {.version = version, .releases = releases};

	return ioctl(fd, HOWLATE_CORE_MAKE, &make);
}

static struct user made(unsigned int releases)
{
	struct user user = {.fd = opened(), .releases = releases};
	const size_t bytes = HOWLATE_CORE_AT + releases * sizeof(struct howlate_activation);
	void *at;

	check(make_as(user.fd, HOWLATE_ABI_VERSION, releases) == 0, "it gives memory");
	at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, user.fd, 0);
	check(at != MAP_FAILED, "the memory is mapped");
	user.page = at;
	user.activations = (void *)((char *)at + HOWLATE_CORE_AT);
	return user;
}

static int run(const struct user *user, unsigned int context, unsigned int backlog)
{
	const struct howlate_core_run how = {.context = context, .priority = 80, .backlog = backlog};

	return ioctl(user->fd, HOWLATE_CORE_RUN, &how);
}

/* With releases from `first_ns` from now on. */
static struct user begun_with(unsigned int releases, long long first_ns, long long period_ns,
			      unsigned int context, unsigned int backlog)
{
	const struct user user = made(releases);

	first_ns += now_ns();
	for (unsigned int i = 0; i < releases; i++)
		user.activations[i].release_ns = first_ns + i * period_ns;
	check(run(&user, context, backlog) == 0, "it runs");
	return user;
}

static void closed(const struct user *user)
{
	munmap((void *)user->page, HOWLATE_CORE_AT + user->releases * sizeof(struct howlate_activation));
	close(user->fd);
}

static void wait_for(const struct user *user, unsigned long long done)
{
	while (user->page->done < done && !user->page->ended)
		rest(100000);
	check(user->page->done >= done, "so many releases are over");
}

/* A child that is served, and has been `done` times when the parent goes on. */
static void killed_after(unsigned int done, long long first_ns, unsigned int context)
{
	const pid_t child = forked();

	if (child == 0) {
		const struct user user = begun_with(100000, first_ns, 100000, context, 0);

		wait_for(&user, done);
		has_begun();
		for (;;)
			pause();
	}
	check(unloaded(module) == EWOULDBLOCK, "a module that is used cannot be unloaded");
	end(child);
}

static void waits(void)
{
	killed_after(0, HOUR_NS, HOWLATE_CORE_THREAD);
	killed_after(0, HOUR_NS, HOWLATE_CORE_HANDLER);
}

static void storms(void)
{
	for (int turn = 0; turn < 4; turn++)
		killed_after(5 + turn, 20000000, turn % 2 ? HOWLATE_CORE_HANDLER : HOWLATE_CORE_THREAD);
}

static void served(unsigned int context)
{
	struct user user = begun_with(50, 5000000, 100000, context, 1);

	while (!user.page->ended)
		rest(100000);
	check(user.page->done == 50, "each release is over");
	for (int i = 0; i < 50; i++)
		check(user.activations[i].started_ns != 0, "each release is served");
	check(user.page->switches == (context == HOWLATE_CORE_HANDLER ? -1 : 0), "no thread left its stage");
	check(ioctl(user.fd, HOWLATE_CORE_STOP) == 0 && ioctl(user.fd, HOWLATE_CORE_STOP) == 0, "it stops twice");
	closed(&user);

	user = begun_with(1000, 5000000, 100000, context, 1);
	wait_for(&user, 20);
	check(ioctl(user.fd, HOWLATE_CORE_STOP) == 0, "it stops in the midst");
	const unsigned long long done = user.page->done;

	rest(2000000);
	check(done < 1000 && user.page->done == done, "nothing is served after a stop");
	check(user.activations[done].started_ns == 0, "nothing is served after a stop");
	check(user.page->switches == (context == HOWLATE_CORE_HANDLER ? -1 : 0), "a stop is no switch");
	closed(&user);
}

static void counts(void)
{
	served(HOWLATE_CORE_THREAD);
	served(HOWLATE_CORE_HANDLER);
}

static void refuses(void)
{
	struct user user;
	const int fd = opened();

	check(make_as(fd, HOWLATE_ABI_VERSION + 1, 8) < 0 && errno == EPROTONOSUPPORT, "another version is refused");
	check(make_as(fd, HOWLATE_ABI_VERSION, 0) < 0 && errno == EINVAL, "no release is refused");
	check(make_as(fd, HOWLATE_ABI_VERSION, HOWLATE_CORE_RELEASES_MAX + 1) < 0 && errno == EINVAL, "too many are refused");
	user = (struct user){.fd = fd};
	check(run(&user, HOWLATE_CORE_THREAD, 0) < 0 && errno == EBUSY, "a run without releases is refused");
	close(fd);
	user = made(8);
	check(run(&user, HOWLATE_CORE_HANDLER + 1, 0) < 0 && errno == EINVAL, "another context is refused");
	check(run(&user, HOWLATE_CORE_THREAD, 2) < 0 && errno == EINVAL, "another policy is refused");
	check(run(&user, HOWLATE_CORE_THREAD, 0) < 0 && errno == ETIMEDOUT, "a release that has passed is refused");
	check(make_as(user.fd, HOWLATE_ABI_VERSION, 8) < 0 && errno == EBUSY, "a second schedule is refused");
	closed(&user);
	user = begun_with(8, HOUR_NS, 1000, HOWLATE_CORE_THREAD, 0);
	check(run(&user, HOWLATE_CORE_THREAD, 0) < 0 && errno == EBUSY, "a second run is refused");
	closed(&user);
}

/*
 * All releases pass while the first is served, so with a backlog the last CPU is in the handler from the first one to the last, and so
 * it is when the first CPU stops it. Cobalt keeps its lock meanwhile, so there the stop may have to wait for all of them.
 */
static void stops(void)
{
	const unsigned int releases = 1000000;
	struct user user;

	on_cpu(sysconf(_SC_NPROCESSORS_ONLN) - 1);
	user = begun_with(releases, 60000000, 1, HOWLATE_CORE_HANDLER, 1);
	on_cpu(0);
	while (user.page->done == 0)
		;
	check(ioctl(user.fd, HOWLATE_CORE_STOP) == 0, "it stops");
	const unsigned long long done = user.page->done;

	if (strcmp(module, HOWLATE_COBALT_MODULE))
		check(done < releases, "the handler was stopped in the midst");
	rest(2000000);
	check(user.page->done == done, "nothing is served after a stop");
	closed(&user);
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	module = argv[1];
	if (!strcmp(argv[2], "stops")) {
		stops();
		return 0;
	}
	return run_part(argv[2]);
}
