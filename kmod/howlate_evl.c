// SPDX-License-Identifier: GPL-2.0-only
/*
 * howlate_evl: how late a kernel thread of EVL's (Xenomai 4) answers, or the handler of one of its
 * timers.
 *
 * From: the release, for which the core programmed its timer, ahead by its gravity. To: the first
 * statement of the handler, or of the thread after its sleep, both out of band: Linux's interrupts
 * and locks do not hold them back. Included: the timer device's delay, what the core itself runs
 * with interrupts off, and for the thread the switch to it. An activation takes a time stamp and
 * stores 16 bytes.
 *
 * The file holds the module: it can be unloaded once nobody has it open.
 */
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/smp.h>

#include <evl/clock.h>
#include <evl/sched.h>
#include <evl/thread.h>
#include <evl/timer.h>

#include "schedule.h"

struct howlate_evl {
	struct howlate_schedule schedule;
	struct evl_kthread thread;
	struct evl_timer timer;
};

static void howlate_evl_thread(void *of)
{
	struct howlate_evl *evl = of;
	s64 release_ns;

	while (!evl_kthread_should_stop() && howlate_schedule_due(&evl->schedule, &release_ns)) {
		if (evl_sleep_until(ns_to_ktime(release_ns)))
			break; /* it is to stop */
		howlate_schedule_serve(&evl->schedule,
				       ktime_to_ns(evl_read_clock(&evl_mono_clock)));
	}
	howlate_schedule_end(&evl->schedule);
}

static void howlate_evl_expired(struct evl_timer *timer)
{
	const s64 now_ns = ktime_to_ns(evl_read_clock(&evl_mono_clock));
	struct howlate_evl *evl = container_of(timer, struct howlate_evl, timer);
	s64 release_ns;

	howlate_schedule_serve(&evl->schedule, now_ns);
	if (howlate_schedule_due(&evl->schedule, &release_ns))
		evl_start_timer(timer, ns_to_ktime(release_ns), EVL_INFINITE);
}

static int howlate_evl_run(struct howlate_schedule *schedule)
{
	struct howlate_evl *evl = container_of(schedule, struct howlate_evl, schedule);
	int cpu = raw_smp_processor_id();
	s64 release_ns;

	if (schedule->context == HOWLATE_CORE_THREAD)
		return evl_run_kthread_on_cpu(&evl->thread, cpu, howlate_evl_thread, evl,
					      schedule->priority, EVL_CLONE_PRIVATE,
					      HOWLATE_EVL_MODULE ":%d", cpu);
	howlate_schedule_due(schedule, &release_ns);
	evl_init_timer_on_cpu(&evl->timer, cpu, howlate_evl_expired);
	evl_start_timer(&evl->timer, ns_to_ktime(release_ns), EVL_INFINITE);
	return 0;
}

static void howlate_evl_stop(struct howlate_schedule *schedule)
{
	struct howlate_evl *evl = container_of(schedule, struct howlate_evl, schedule);

	if (schedule->context == HOWLATE_CORE_HANDLER)
		evl_destroy_timer(&evl->timer);
	else
		evl_stop_kthread(&evl->thread);
}

static const struct howlate_core_operations howlate_evl_core = {
	.size = sizeof(struct howlate_evl),
	.run = howlate_evl_run,
	.stop = howlate_evl_stop,
};

static int howlate_evl_open(struct inode *inode, struct file *file)
{
	return howlate_schedule_open(file, &howlate_evl_core);
}

static const struct file_operations howlate_evl_operations = {
	.owner = THIS_MODULE,
	.open = howlate_evl_open,
	.unlocked_ioctl = howlate_schedule_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.mmap = howlate_schedule_map,
	.release = howlate_schedule_close,
};

static struct miscdevice howlate_evl_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = HOWLATE_EVL_MODULE,
	.fops = &howlate_evl_operations,
	.mode = 0600,
};
module_misc_device(howlate_evl_device);

MODULE_DESCRIPTION("howlate: how late a kernel thread or a timer's handler of EVL's runs");
MODULE_VERSION("1");
MODULE_LICENSE("GPL");
