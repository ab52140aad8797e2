// SPDX-License-Identifier: GPL-2.0-only
/*
 * Turns preemption off for `hold_us` of work at each multiple of `period_us` of CLOCK_MONOTONIC: a
 * long section of known length at known instants. If `handler_us` is not 0, an interrupt comes in
 * the midst of each section, by a timer with an absolute instant, and takes so long; the section
 * is longer by that. Work is counted in instructions (turns.h), of which a guest in virtual time
 * executes one a nanosecond. Nothing runs once it is unloaded.
 */
#include <linux/err.h>
#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/sched.h>

#include "sections.h"

static unsigned int hold_us = 500;
module_param(hold_us, uint, 0444);
MODULE_PARM_DESC(hold_us, "how long preemption is off");

static unsigned int period_us = 2500;
module_param(period_us, uint, 0444);
MODULE_PARM_DESC(period_us, "from one section to the next");

static unsigned int handler_us;
module_param(handler_us, uint, 0444);
MODULE_PARM_DESC(handler_us, "how long the interrupt in the midst of a section takes; 0: there is none");

static struct task_struct *task;
static struct hrtimer timer;
static struct sections sections, handlers;

static noinline void preempt_off_hold(void)
{
	u64 began;

	preempt_disable();
	began = ktime_get_ns();
	work_for_us(hold_us);
	note_section(&sections, ktime_get_ns() - began);
	preempt_enable();
}

static ktime_t next_section(void)
{
	u64 period = period_us * (u64)NSEC_PER_USEC;

	return ns_to_ktime((div64_u64(ktime_get_ns(), period) + 1) * period);
}

static int preempt_off_run(void *unused)
{
	ktime_t at;

	while (!kthread_should_stop()) {
		at = next_section();
		set_current_state(TASK_INTERRUPTIBLE);
		schedule_hrtimeout(&at, HRTIMER_MODE_ABS);
		preempt_off_hold();
	}
	return 0;
}

static enum hrtimer_restart preempt_off_interrupt(struct hrtimer *self)
{
	const u64 began = ktime_get_ns();

	work_for_us(handler_us);
	note_section(&handlers, ktime_get_ns() - began);
	hrtimer_forward_now(self, ns_to_ktime(period_us * (u64)NSEC_PER_USEC));
	return HRTIMER_RESTART;
}

static int __init preempt_off_init(void)
{
#ifdef HAS_HRTIMER_SETUP
	hrtimer_setup(&timer, preempt_off_interrupt, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_PINNED_HARD);
#else
	hrtimer_init(&timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_PINNED_HARD);
	timer.function = preempt_off_interrupt;
#endif
	task = kthread_run(preempt_off_run, NULL, "preempt_off");
	if (IS_ERR(task))
		return PTR_ERR(task);
	sched_set_fifo_low(task);
	if (handler_us)
		hrtimer_start(&timer, ktime_add_us(next_section(), hold_us / 2),
			      HRTIMER_MODE_ABS_PINNED_HARD);
	return 0;
}
module_init(preempt_off_init);

static void __exit preempt_off_exit(void)
{
	hrtimer_cancel(&timer);
	kthread_stop(task);
	tell_sections("preempt_off", &sections, hold_us);
	if (handler_us)
		tell_sections("preempt_off's interrupt", &handlers, handler_us);
}
module_exit(preempt_off_exit);

MODULE_DESCRIPTION("howlate's tests: preemption off for a known time");
MODULE_LICENSE("GPL");
