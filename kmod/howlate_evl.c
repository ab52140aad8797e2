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
#include <linux/smp.h>

#include <evl/clock.h>
#include <evl/control.h>
#include <evl/sched.h>
#include <evl/thread.h>
#include <evl/timer.h>

#include "schedule.h"

#define HOWLATE_CORE_MODULE HOWLATE_EVL_MODULE

struct howlate_core {
	struct howlate_schedule schedule;
	struct evl_kthread thread;
	struct evl_timer timer;
};

static inline s64 howlate_core_now_ns(void)
{
	return ktime_to_ns(evl_read_clock(&evl_mono_clock));
}

static inline int howlate_core_sleep_until(s64 release_ns)
{
	return evl_sleep_until(ns_to_ktime(release_ns));
}

static inline bool howlate_core_should_stop(struct howlate_core *core)
{
	return evl_kthread_should_stop();
}

static inline s64 howlate_core_switches(struct howlate_core *core)
{
	if (!IS_ENABLED(CONFIG_EVL_RUNSTATS))
		return -1;
	return evl_get_counter(&core->thread.thread.stat.isw);
}

static inline void howlate_core_leave(void)
{
	evl_switch_inband(EVL_HMDIAG_NONE);
	evl_switch_oob();
}

/* A release that has passed expires at once. */
static inline int howlate_core_arm(struct howlate_core *core, s64 release_ns)
{
	evl_start_timer(&core->timer, ns_to_ktime(release_ns), EVL_INFINITE);
	return 0;
}

#include "core_module.h"

static void howlate_evl_expired(struct evl_timer *timer)
{
	const s64 now_ns = howlate_core_now_ns();

	howlate_core_expired(container_of(timer, struct howlate_core, timer), now_ns);
}

static int howlate_evl_start_thread(struct howlate_core *core)
{
	int cpu = raw_smp_processor_id();

	return evl_run_kthread_on_cpu(&core->thread, cpu, howlate_core_thread, core,
				      core->schedule.priority, EVL_CLONE_PRIVATE,
				      HOWLATE_EVL_MODULE ":%d", cpu);
}

static int howlate_evl_start_timer(struct howlate_core *core)
{
	s64 release_ns;

	howlate_schedule_due(&core->schedule, &release_ns);
	evl_init_timer_on_cpu(&core->timer, raw_smp_processor_id(), howlate_evl_expired);
	return howlate_core_arm(core, release_ns);
}

static int howlate_evl_run(struct howlate_schedule *schedule)
{
	struct howlate_core *core = container_of(schedule, struct howlate_core, schedule);

	if (!evl_is_running())
		return -ENODEV;
	return schedule->context == HOWLATE_CORE_HANDLER ? howlate_evl_start_timer(core) :
							   howlate_evl_start_thread(core);
}

/*
 * On the timer's CPU, where no tick is under way: the core uses a timer after its handler has
 * returned, with the base unlocked in between, and evl_destroy_timer() waits for neither.
 */
static void howlate_evl_destroy_timer(void *of)
{
	struct howlate_core *core = of;

	evl_destroy_timer(&core->timer);
}

static void howlate_evl_stop_timer(struct howlate_core *core)
{
	int cpu = evl_rq_cpu(evl_get_timer_rq(&core->timer));

	if (smp_call_function_single(cpu, howlate_evl_destroy_timer, core, true))
		howlate_evl_destroy_timer(core); /* a CPU that is offline has no tick */
}

static void howlate_evl_stop(struct howlate_schedule *schedule)
{
	struct howlate_core *core = container_of(schedule, struct howlate_core, schedule);

	if (schedule->context == HOWLATE_CORE_HANDLER)
		howlate_evl_stop_timer(core);
	else
		evl_stop_kthread(&core->thread);
}

static const struct howlate_core_operations howlate_core_operations = {
	.size = sizeof(struct howlate_core),
	.run = howlate_evl_run,
	.stop = howlate_evl_stop,
};

MODULE_DESCRIPTION("howlate: how late a kernel thread or a timer's handler of EVL's runs");
MODULE_VERSION("1");
MODULE_LICENSE("GPL");
