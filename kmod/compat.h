/* SPDX-License-Identifier: GPL-2.0-only */
/* Differences between kernels, from 5.10 on; Kbuild detects what this one has. */
#ifndef HOWLATE_COMPAT_H
#define HOWLATE_COMPAT_H

#include <linux/hrtimer.h>

#ifndef HOWLATE_HAS_HRTIMER_SETUP
static inline void hrtimer_setup(struct hrtimer *timer,
				 enum hrtimer_restart (*function)(struct hrtimer *),
				 clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = function;
}
#endif

#endif
