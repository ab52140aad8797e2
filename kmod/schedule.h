/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The releases of howlate_cobalt and howlate_evl, in memory that is shared with the user, and the
 * operations of their files. A core's module gives struct howlate_core_operations.
 */
#ifndef HOWLATE_SCHEDULE_H
#define HOWLATE_SCHEDULE_H

#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "howlate_abi.h"

struct howlate_schedule {
	struct howlate_core_page *page;
	struct howlate_activation *activations;
	u64 count;
	u64 next; /* the first release that is not over; of the activations alone */
	bool backlog;
	bool running;
	bool stopping; /* no further activation is to begin */
	u32 context;
	u32 priority;
	struct mutex configuring; /* make, run, stop, map */
	const struct howlate_core_operations *core;
};

/* What differs between the cores. The schedule is the first member of the module's own struct. */
struct howlate_core_operations {
	size_t size; /* of the module's own struct */
	int (*run)(struct howlate_schedule *schedule); /* begins on this CPU, or -ENODEV */
	void (*stop)(struct howlate_schedule *schedule); /* no activation runs after it */
};

/* No activation comes any more. */
static inline void howlate_schedule_end(struct howlate_schedule *schedule)
{
	smp_store_release(&schedule->page->ended, 1); /* after the last `done` */
}

/* Whether there is a release to wait for; marks the end otherwise. */
static inline bool howlate_schedule_due(struct howlate_schedule *schedule, s64 *release_ns)
{
	if (schedule->next >= schedule->count || READ_ONCE(schedule->stopping)) {
		howlate_schedule_end(schedule);
		return false;
	}
	*release_ns = READ_ONCE(schedule->activations[schedule->next].release_ns);
	return true;
}

/* The activation of the oldest release, with its first time stamp. */
static inline void howlate_schedule_serve(struct howlate_schedule *schedule, s64 now_ns)
{
	struct howlate_activation *activations = schedule->activations;

	WRITE_ONCE(activations[schedule->next++].started_ns, now_ns);
	while (!schedule->backlog && schedule->next < schedule->count &&
	       READ_ONCE(activations[schedule->next].release_ns) <= now_ns)
		schedule->next++;
	smp_store_release(&schedule->page->done, schedule->next); /* after the time stamps */
}

static inline int howlate_schedule_make(struct howlate_schedule *schedule, void __user *from)
{
	struct howlate_core_make make;

	if (copy_from_user(&make, from, sizeof(make)))
		return -EFAULT;
	if (make.version != HOWLATE_ABI_VERSION)
		return -EPROTONOSUPPORT;
	if (!make.releases || make.releases > HOWLATE_CORE_RELEASES_MAX)
		return -EINVAL;
	if (schedule->page)
		return -EBUSY; /* once for each open file */
	schedule->page = vmalloc_user(HOWLATE_CORE_AT +
				      make.releases * sizeof(struct howlate_activation));
	if (!schedule->page)
		return -ENOMEM;
	schedule->activations = (void *)schedule->page + HOWLATE_CORE_AT;
	schedule->count = make.releases;
	return 0;
}

static inline int howlate_schedule_run(struct howlate_schedule *schedule, void __user *from)
{
	struct howlate_core_run run;
	int error;

	if (copy_from_user(&run, from, sizeof(run)))
		return -EFAULT;
	if (run.context > HOWLATE_CORE_HANDLER || !run.priority || run.priority > 99 ||
	    run.backlog > 1 || run.reserved)
		return -EINVAL;
	if (!schedule->page || schedule->running || schedule->next)
		return -EBUSY; /* once for each open file */
	if (schedule->activations->release_ns <= ktime_get_ns())
		return -ETIMEDOUT; /* it would be late before anything of the core's was */
	schedule->context = run.context;
	schedule->priority = run.priority;
	schedule->backlog = run.backlog;
	schedule->page->switches = -1;
	error = schedule->core->run(schedule);
	schedule->running = !error;
	return error;
}

static inline void howlate_schedule_stop(struct howlate_schedule *schedule)
{
	WRITE_ONCE(schedule->stopping, true);
	if (schedule->running)
		schedule->core->stop(schedule);
	schedule->running = false;
}

static inline long howlate_schedule_ioctl(struct file *file, unsigned int request,
					  unsigned long argument)
{
	struct howlate_schedule *schedule = file->private_data;
	long error = 0;

	mutex_lock(&schedule->configuring);
	switch (request) {
	case HOWLATE_CORE_MAKE:
		error = howlate_schedule_make(schedule, (void __user *)argument);
		break;
	case HOWLATE_CORE_RUN:
		error = howlate_schedule_run(schedule, (void __user *)argument);
		break;
	case HOWLATE_CORE_STOP:
		howlate_schedule_stop(schedule);
		break;
	default:
		error = -ENOTTY;
	}
	mutex_unlock(&schedule->configuring);
	return error;
}

static inline int howlate_schedule_map(struct file *file, struct vm_area_struct *area)
{
	struct howlate_schedule *schedule = file->private_data;
	int error = -EINVAL;

	mutex_lock(&schedule->configuring);
	if (schedule->page)
		error = remap_vmalloc_range(area, schedule->page, area->vm_pgoff);
	mutex_unlock(&schedule->configuring);
	return error;
}

static inline int howlate_schedule_open(struct file *file,
					const struct howlate_core_operations *core)
{
	struct howlate_schedule *schedule;

	if (!capable(CAP_SYS_RAWIO))
		return -EPERM; /* a short period takes a CPU from everybody */
	schedule = kzalloc(core->size, GFP_KERNEL);
	if (!schedule)
		return -ENOMEM;
	schedule->core = core;
	mutex_init(&schedule->configuring);
	file->private_data = schedule;
	return 0;
}

static inline int howlate_schedule_close(struct inode *inode, struct file *file)
{
	struct howlate_schedule *schedule = file->private_data;

	howlate_schedule_stop(schedule);
	vfree(schedule->page);
	kfree(schedule);
	return 0;
}

#endif
