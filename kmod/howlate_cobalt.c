// SPDX-License-Identifier: GPL-2.0-only
/*
 * howlate_cobalt: how late a kernel thread of Cobalt's (Xenomai 3) answers, or the handler of one of
 * its timers.
 *
 * From: the release, for which the core programmed its timer, ahead by its gravity. To: the first
 * statement of the handler, or of the thread after its sleep, both on the core's stage, which
 * Linux's interrupts and locks do not hold back. Included: the timer device's delay, what the core
 * itself runs with interrupts off, and for the thread the switch to it. An activation takes a time
 * stamp and stores 16 bytes.
 *
 * The file holds the module: it can be unloaded once nobody has it open.
 */
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/smp.h>

#include <rtdm/driver.h>

#include "schedule.h"

struct howlate_cobalt {
	struct howlate_schedule schedule;
	rtdm_task_t task;
	rtdm_timer_t timer;
};

static void howlate_cobalt_thread(void *of)
{
	struct howlate_cobalt *cobalt = of;
	s64 release_ns;

	while (!rtdm_task_should_stop() && howlate_schedule_due(&cobalt->schedule, &release_ns)) {
		if (rtdm_task_sleep_abs(release_ns, RTDM_TIMERMODE_ABSOLUTE))
			break; /* it is to stop */
		howlate_schedule_serve(&cobalt->schedule, rtdm_clock_read_monotonic());
	}
	howlate_schedule_end(&cobalt->schedule);
}

static void howlate_cobalt_expired(rtdm_timer_t *timer)
{
	s64 now_ns = rtdm_clock_read_monotonic();
	struct howlate_cobalt *cobalt = container_of(timer, struct howlate_cobalt, timer);
	s64 release_ns;

	for (;;) {
		howlate_schedule_serve(&cobalt->schedule, now_ns);
		if (!howlate_schedule_due(&cobalt->schedule, &release_ns) ||
		    !rtdm_timer_start_in_handler(timer, release_ns, 0, RTDM_TIMERMODE_ABSOLUTE))
			return;
		now_ns = rtdm_clock_read_monotonic(); /* it has passed */
	}
}

/* rtdm_task_init() would let the thread run on any CPU. */
static int howlate_cobalt_start_thread(struct howlate_cobalt *cobalt)
{
	const union xnsched_policy_param priority = { .rt.prio = cobalt->schedule.priority };
	struct xnthread_start_attr start = {
		.entry = howlate_cobalt_thread,
		.cookie = cobalt,
	};
	struct xnthread_init_attr attributes = {
		.name = HOWLATE_COBALT_MODULE,
		.personality = &xenomai_personality,
		.affinity = *cpumask_of(raw_smp_processor_id()),
	};
	int error;

	error = xnthread_init(&cobalt->task, &attributes, &xnsched_class_rt, &priority);
	if (error)
		return error;
	error = xnthread_start(&cobalt->task, &start);
	if (error)
		rtdm_task_destroy(&cobalt->task);
	return error;
}

static int howlate_cobalt_start_timer(struct howlate_cobalt *cobalt)
{
	s64 release_ns;
	spl_t state;
	int error;

	howlate_schedule_due(&cobalt->schedule, &release_ns);
	rtdm_timer_init(&cobalt->timer, howlate_cobalt_expired, HOWLATE_COBALT_MODULE);
	cobalt_atomic_enter(state);
	error = rtdm_timer_start(&cobalt->timer, release_ns, 0, RTDM_TIMERMODE_ABSOLUTE);
	cobalt_atomic_leave(state);
	if (error)
		rtdm_timer_destroy(&cobalt->timer);
	return error;
}

static int howlate_cobalt_run(struct howlate_schedule *schedule)
{
	struct howlate_cobalt *cobalt = container_of(schedule, struct howlate_cobalt, schedule);

	if (!realtime_core_enabled())
		return -ENOSYS;
	return schedule->context == HOWLATE_CORE_HANDLER ? howlate_cobalt_start_timer(cobalt) :
							   howlate_cobalt_start_thread(cobalt);
}

static void howlate_cobalt_stop(struct howlate_schedule *schedule)
{
	struct howlate_cobalt *cobalt = container_of(schedule, struct howlate_cobalt, schedule);

	if (schedule->context == HOWLATE_CORE_HANDLER)
		rtdm_timer_destroy(&cobalt->timer);
	else
		rtdm_task_destroy(&cobalt->task);
}

static const struct howlate_core_operations howlate_cobalt_core = {
	.size = sizeof(struct howlate_cobalt),
	.run = howlate_cobalt_run,
	.stop = howlate_cobalt_stop,
};

static int howlate_cobalt_open(struct inode *inode, struct file *file)
{
	return howlate_schedule_open(file, &howlate_cobalt_core);
}

static const struct file_operations howlate_cobalt_operations = {
	.owner = THIS_MODULE,
	.open = howlate_cobalt_open,
	.unlocked_ioctl = howlate_schedule_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.mmap = howlate_schedule_map,
	.release = howlate_schedule_close,
};

static struct miscdevice howlate_cobalt_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = HOWLATE_COBALT_MODULE,
	.fops = &howlate_cobalt_operations,
	.mode = 0600,
};
module_misc_device(howlate_cobalt_device);

MODULE_DESCRIPTION("howlate: how late a kernel thread or a timer's handler of Cobalt's runs");
MODULE_VERSION("1");
MODULE_LICENSE("GPL");
