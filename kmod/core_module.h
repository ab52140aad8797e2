/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The two activations of howlate_cobalt and howlate_evl, thread and handler, and their device. The
 * module that includes it has defined what they do in its core:
 *
 *   HOWLATE_CORE_MODULE            the name of module and device
 *   struct howlate_core            its first member is a struct howlate_schedule
 *   howlate_core_now_ns()          CLOCK_MONOTONIC
 *   howlate_core_sleep_until()     of the thread; an error if the thread is to stop
 *   howlate_core_should_stop()     of the thread
 *   howlate_core_switches()        how often the thread has left the core's stage; -1: not counted
 *   howlate_core_leave()           the thread goes to Linux's stage and back
 *   howlate_core_arm()             of the handler, for the next release; an error if it has passed
 *
 * and defines howlate_core_operations. They are no pointers but for start and stop, so that nothing
 * is called through one in an activation.
 */
#ifndef HOWLATE_CORE_MODULE_H
#define HOWLATE_CORE_MODULE_H

#include <linux/miscdevice.h>
#include <linux/module.h>

#include "schedule.h"

static ulong leave_before;
module_param(leave_before, ulong, 0444);
MODULE_PARM_DESC(leave_before, "for tests: a thread leaves the core's stage before this release; 0: never");

static void howlate_core_thread(void *of)
{
	struct howlate_core *core = of;
	struct howlate_core_page *page = core->schedule.page;
	s64 before = howlate_core_switches(core);
	s64 release_ns;

	while (!howlate_core_should_stop(core) &&
	       howlate_schedule_due(&core->schedule, &release_ns)) {
		if (unlikely(leave_before) && core->schedule.next == leave_before)
			howlate_core_leave();
		if (howlate_core_sleep_until(release_ns))
			break; /* it is to stop */
		howlate_schedule_serve(&core->schedule, howlate_core_now_ns());
	}
	if (before >= 0)
		WRITE_ONCE(page->switches, howlate_core_switches(core) - before);
	howlate_schedule_end(&core->schedule);
}

/* The core's handler has taken the time stamp as its first statement. */
static inline void howlate_core_expired(struct howlate_core *core, s64 now_ns)
{
	s64 release_ns;

	for (;;) {
		howlate_schedule_serve(&core->schedule, now_ns);
		if (!howlate_schedule_due(&core->schedule, &release_ns) ||
		    !howlate_core_arm(core, release_ns))
			return;
		now_ns = howlate_core_now_ns(); /* it has passed */
	}
}

static const struct howlate_core_operations howlate_core_operations;

static int howlate_core_open(struct inode *inode, struct file *file)
{
	return howlate_schedule_open(file, &howlate_core_operations);
}

static const struct file_operations howlate_core_files = {
	.owner = THIS_MODULE,
	.open = howlate_core_open,
	.unlocked_ioctl = howlate_schedule_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.mmap = howlate_schedule_map,
	.release = howlate_schedule_close,
};

static struct miscdevice howlate_core_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = HOWLATE_CORE_MODULE,
	.fops = &howlate_core_files,
	.mode = 0600,
};
module_misc_device(howlate_core_device);

#endif
