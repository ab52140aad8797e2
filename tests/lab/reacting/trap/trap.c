// SPDX-License-Identifier: GPL-2.0-only
/*
 * A load that reacts to a task that waits: a timer expires 4/3 ms after each multiple of 5 ms of
 * CLOCK_MONOTONIC, and keeps the CPU for 300 us where the task that it interrupted is to be
 * preempted and it is itself 800 to 999 ns late, as a release just before it makes it.
 */
#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/sched.h>

#define PERIOD_NS (5 * NSEC_PER_MSEC)
#define OFFSET_NS 1333333
#define LATE_NS 800
#define LATER_NS 1000
#define HOLD_NS (300 * NSEC_PER_USEC)

static struct hrtimer timer;

static enum hrtimer_restart trap_expired(struct hrtimer *self)
{
	const s64 began = ktime_get_ns();
	const s64 late = began - ktime_to_ns(hrtimer_get_expires(self));

	if (test_tsk_need_resched(current) && late >= LATE_NS && late < LATER_NS)
		while ((s64)ktime_get_ns() < began + HOLD_NS)
			cpu_relax();
	hrtimer_forward_now(self, ns_to_ktime(PERIOD_NS));
	return HRTIMER_RESTART;
}

static int __init trap_init(void)
{
	const u64 first = (div64_u64(ktime_get_ns(), PERIOD_NS) + 1) * PERIOD_NS + OFFSET_NS;

#ifdef HAS_HRTIMER_SETUP
	hrtimer_setup(&timer, trap_expired, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_PINNED_HARD);
#else
	hrtimer_init(&timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_PINNED_HARD);
	timer.function = trap_expired;
#endif
	hrtimer_start(&timer, ns_to_ktime(first), HRTIMER_MODE_ABS_PINNED_HARD);
	return 0;
}
module_init(trap_init);

static void __exit trap_exit(void)
{
	hrtimer_cancel(&timer);
}
module_exit(trap_exit);

MODULE_DESCRIPTION("howlate's tests: a load that reacts to a task that waits");
MODULE_LICENSE("GPL");
