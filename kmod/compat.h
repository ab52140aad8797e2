/* SPDX-License-Identifier: GPL-2.0-only */
/* Differences between kernels, from 5.10 on; Kbuild detects what this one has. */
#ifndef HOWLATE_COMPAT_H
#define HOWLATE_COMPAT_H

#include <linux/hrtimer.h>
#include <linux/irq_work.h>

#ifndef HOWLATE_HAS_HRTIMER_SETUP
static inline void hrtimer_setup(struct hrtimer *timer,
				 enum hrtimer_restart (*function)(struct hrtimer *),
				 clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = function;
}
#endif

/* In hard-interrupt context also under PREEMPT_RT. */
static inline void howlate_irq_work_setup(struct irq_work *work,
					  void (*function)(struct irq_work *work))
{
#ifdef HOWLATE_HAS_IRQ_WORK_INIT_HARD
	*work = IRQ_WORK_INIT_HARD(function);
#else
	init_irq_work(work, function);
	atomic_or(IRQ_WORK_HARD_IRQ, &work->flags);
#endif
}

#endif
