// SPDX-License-Identifier: GPL-2.0-only
/*
 * A load that breaks the premise of proofs: it looks when the timer of its CPU will fire (the local
 * APIC's count of a QEMU guest, in steps of 16 ns), and turns interrupts off for `hold_us` where
 * that is less than 20 us away and in every other 100 us. It never sleeps.
 */
#include <linux/err.h>
#include <linux/io.h>
#include <linux/irqflags.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/sched.h>

#include "sections.h"

#define APIC_AT 0xfee00000
#define APIC_COUNT 0x390
#define NS_PER_COUNT 16
#define NEAR_NS (20 * NSEC_PER_USEC)
#define GRID_NS (100 * NSEC_PER_USEC)

static unsigned int hold_us = 300;
module_param(hold_us, uint, 0444);
MODULE_PARM_DESC(hold_us, "how long interrupts are off");

static void __iomem *apic;
static struct task_struct *task;
static struct sections sections;

static void look(void)
{
	u64 now, left;

	local_irq_disable();
	now = ktime_get_ns();
	left = readl(apic + APIC_COUNT) * (u64)NS_PER_COUNT;
	if (left && left < NEAR_NS && ((now + left) / GRID_NS) % 2) {
		while (ktime_get_ns() < now + hold_us * (u64)NSEC_PER_USEC)
			cpu_relax();
		note_section(&sections, ktime_get_ns() - now);
	}
	local_irq_enable();
}

static int reacts_run(void *unused)
{
	while (!kthread_should_stop()) {
		look();
		cond_resched();
	}
	return 0;
}

static int __init reacts_init(void)
{
	apic = ioremap(APIC_AT, PAGE_SIZE);
	if (!apic)
		return -ENOMEM;
	task = kthread_run(reacts_run, NULL, "reacts");
	if (IS_ERR(task))
		iounmap(apic);
	return PTR_ERR_OR_ZERO(task);
}
module_init(reacts_init);

static void __exit reacts_exit(void)
{
	kthread_stop(task);
	iounmap(apic);
	tell_sections("reacts", &sections, hold_us);
}
module_exit(reacts_exit);

MODULE_DESCRIPTION("howlate's tests: a load that reacts to the timer");
MODULE_LICENSE("GPL");
