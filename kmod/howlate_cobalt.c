// SPDX-License-Identifier: GPL-2.0-only
/*
 * howlate_cobalt: how late a kernel thread of Cobalt's (Xenomai 3) answers, or the handler of one
 * of its timers.
 *
 * From: the release, for which the core programmed its timer, ahead by its gravity. To: the first
 * statement of the handler, or of the thread after its sleep, both on the core's stage, which
 * Linux's interrupts and locks do not hold back. Included: the timer device's delay, what the core
 * itself runs with interrupts off, and for the thread the switch to it. An activation takes a time
 * stamp and stores 16 bytes.
 *
 * The file holds the module: it can be unloaded once nobody has it open.
 */
#include <linux/smp.h>

#include <rtdm/driver.h>

#include "schedule.h"

#define HOWLATE_CORE_MODULE HOWLATE_COBALT_MODULE

struct howlate_core {
	struct howlate_schedule schedule;
	rtdm_task_t task;
	rtdm_timer_t timer;
};

static inline s64 howlate_core_now_ns(void)
{
	return rtdm_clock_read_monotonic();
}

static inline int howlate_core_sleep_until(s64 release_ns)
{
	return rtdm_task_sleep_abs(release_ns, RTDM_TIMERMODE_ABSOLUTE);
}

static inline bool howlate_core_should_stop(struct howlate_core *core)
{
	return rtdm_task_should_stop();
}

static inline s64 howlate_core_switches(struct howlate_core *core)
{
	if (!IS_ENABLED(CONFIG_XENO_OPT_STATS))
		return -1;
	return xnstat_counter_get(&core->task.stat.ssw);
}

static inline void howlate_core_leave(void)
{
	xnthread_relax(0, 0);
	xnthread_harden();
}

static inline int howlate_core_arm(struct howlate_core *core, s64 release_ns)
{
	return rtdm_timer_start_in_handler(&core->timer, release_ns, 0, RTDM_TIMERMODE_ABSOLUTE);
}

#include "core_module.h"

static void howlate_cobalt_expired(rtdm_timer_t *timer)
{
	s64 now_ns = howlate_core_now_ns();

	howlate_core_expired(container_of(timer, struct howlate_core, timer), now_ns);
}

/* rtdm_task_init() would let the thread run on any CPU. */
static int howlate_cobalt_start_thread(struct howlate_core *core)
{
	const union xnsched_policy_param priority = { .rt.prio = core->schedule.priority };
	struct xnthread_start_attr start = {
		.entry = howlate_core_thread,
		.cookie = core,
	};
	struct xnthread_init_attr attributes = {
		.name = HOWLATE_COBALT_MODULE,
		.personality = &xenomai_personality,
		.affinity = *cpumask_of(raw_smp_processor_id()),
	};
	int error;

	error = xnthread_init(&core->task, &attributes, &xnsched_class_rt, &priority);
	if (error)
		return error;
	error = xnthread_start(&core->task, &start);
	if (error)
		rtdm_task_destroy(&core->task);
	return error;
}

static int howlate_cobalt_start_timer(struct howlate_core *core)
{
	s64 release_ns;
	spl_t state;
	int error;

	howlate_schedule_due(&core->schedule, &release_ns);
	rtdm_timer_init(&core->timer, howlate_cobalt_expired, HOWLATE_COBALT_MODULE);
	cobalt_atomic_enter(state);
	error = rtdm_timer_start(&core->timer, release_ns, 0, RTDM_TIMERMODE_ABSOLUTE);
	cobalt_atomic_leave(state);
	if (error)
		rtdm_timer_destroy(&core->timer);
	return error;
}

static int howlate_cobalt_run(struct howlate_schedule *schedule)
{
	struct howlate_core *core = container_of(schedule, struct howlate_core, schedule);

	if (!realtime_core_running())
		return -ENODEV;
	return schedule->context == HOWLATE_CORE_HANDLER ? howlate_cobalt_start_timer(core) :
							   howlate_cobalt_start_thread(core);
}

static void howlate_cobalt_stop(struct howlate_schedule *schedule)
{
	struct howlate_core *core = container_of(schedule, struct howlate_core, schedule);

	if (schedule->context == HOWLATE_CORE_HANDLER)
		rtdm_timer_destroy(&core->timer);
	else
		rtdm_task_destroy(&core->task);
}

static const struct howlate_core_operations howlate_core_operations = {
	.size = sizeof(struct howlate_core),
	.run = howlate_cobalt_run,
	.stop = howlate_cobalt_stop,
};

MODULE_DESCRIPTION("howlate: how late a kernel thread or a timer's handler of Cobalt's runs");
MODULE_VERSION("1");
MODULE_LICENSE("GPL");
