// SPDX-License-Identifier: GPL-2.0-only
/*
 * Turns the CPU's own interrupts off for `hold_us` of work at each multiple of `period_us` of
 * CLOCK_MONOTONIC. On a Dovetail kernel that holds back a real-time core beside Linux as well, as
 * local_irq_save() does not. Work is counted in instructions (turns.h), of which a guest in virtual
 * time executes one a nanosecond. Nothing runs once it is unloaded.
 */
#include <linux/err.h>
#include <linux/irqflags.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/sched.h>

#include "sections.h"

static unsigned int hold_us = 2500;
module_param(hold_us, uint, 0444);
MODULE_PARM_DESC(hold_us, "how long the interrupts are off");

static unsigned int period_us = 10000;
module_param(period_us, uint, 0444);
MODULE_PARM_DESC(period_us, "from one section to the next");

static struct task_struct *task;
static struct sections sections;

static noinline void core_off_hold(void)
{
	const unsigned long flags = hard_local_irq_save();
	const u64 began = ktime_get_ns();

	work_for_us(hold_us);
	note_section(&sections, ktime_get_ns() - began);
	hard_local_irq_restore(flags);
}

static int core_off_run(void *unused)
{
	u64 period = period_us * (u64)NSEC_PER_USEC;
	ktime_t at;

	while (!kthread_should_stop()) {
		at = ns_to_ktime((div64_u64(ktime_get_ns(), period) + 1) * period);
		set_current_state(TASK_INTERRUPTIBLE);
		schedule_hrtimeout(&at, HRTIMER_MODE_ABS);
		core_off_hold();
	}
	return 0;
}

static int __init core_off_init(void)
{
	task = kthread_run(core_off_run, NULL, "core_off");
	if (IS_ERR(task))
		return PTR_ERR(task);
	sched_set_fifo_low(task);
	return 0;
}
module_init(core_off_init);

static void __exit core_off_exit(void)
{
	kthread_stop(task);
	tell_sections("core_off", &sections, hold_us);
}
module_exit(core_off_exit);

MODULE_DESCRIPTION("howlate's tests: the CPU's interrupts off for a known time");
MODULE_LICENSE("GPL");
