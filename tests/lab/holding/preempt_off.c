// SPDX-License-Identifier: GPL-2.0-only
/*
 * Turns preemption off for `hold_us` of work at each multiple of `period_us` of CLOCK_MONOTONIC: a
 * long section of known length at known instants. If `handler_us` is not 0, an interrupt comes in
 * the midst of each section, by a timer with an absolute instant, and takes so long; the section
 * is longer by that. Work is counted in instructions, of which a guest in virtual time executes one
 * a nanosecond. Nothing runs once it is unloaded.
 */
#include <linux/err.h>
#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/sched.h>

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

static noinline void preempt_off_work(unsigned int us)
{
	unsigned long turns = us * 500UL; /* of two instructions */

	while (turns--)
		barrier();
}

static noinline void preempt_off_hold(void)
{
	preempt_disable();
	preempt_off_work(hold_us);
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
	preempt_off_work(handler_us);
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
}
module_exit(preempt_off_exit);

MODULE_DESCRIPTION("howlate's tests: preemption off for a known time");
MODULE_LICENSE("GPL");
