// SPDX-License-Identifier: GPL-2.0-only
/*
 * Turns interrupts off for `hold_us` on the CPU it runs on, again and again with a sleep of
 * `rest_us` in between: a delay of known length for tests of interrupt latency. Nothing runs once it
 * is unloaded.
 */
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/irqflags.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/module.h>

#include "sections.h"

static unsigned int hold_us = 1000;
module_param(hold_us, uint, 0444);
MODULE_PARM_DESC(hold_us, "how long interrupts are off");

static unsigned int rest_us = 10000;
module_param(rest_us, uint, 0444);
MODULE_PARM_DESC(rest_us, "how long they are on in between");

static struct task_struct *task;
static struct sections sections;

static noinline void irqs_off_hold(void)
{
	u64 began;

	local_irq_disable();
	began = ktime_get_ns();
	while (ktime_get_ns() < began + hold_us * (u64)NSEC_PER_USEC)
		cpu_relax();
	note_section(&sections, ktime_get_ns() - began);
	local_irq_enable();
}

static int irqs_off_run(void *unused)
{
	while (!kthread_should_stop()) {
		irqs_off_hold();
		usleep_range(rest_us, rest_us + 1);
	}
	return 0;
}

static int __init irqs_off_init(void)
{
	task = kthread_run(irqs_off_run, NULL, "irqs_off");
	return PTR_ERR_OR_ZERO(task);
}
module_init(irqs_off_init);

static void __exit irqs_off_exit(void)
{
	kthread_stop(task);
	tell_sections("irqs_off", &sections, hold_us);
}
module_exit(irqs_off_exit);

MODULE_DESCRIPTION("howlate's tests: interrupts off for a known time");
MODULE_LICENSE("GPL");
