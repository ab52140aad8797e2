// SPDX-License-Identifier: GPL-2.0-only
/*
 * A load that looks ahead: a timer expires 4/3 ms after each multiple of 5 ms of CLOCK_MONOTONIC.
 * If another one of its clock is due 300.0 to 300.2 us after it, it keeps the CPU until 40 us
 * after that, so what is before a release depends on when that is.
 */
#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/timerqueue.h>

#define PERIOD_NS (5 * NSEC_PER_MSEC)
#define OFFSET_NS 1333333
#define AHEAD_NS (300 * NSEC_PER_USEC)
#define WIDE_NS 200
#define BEHIND_NS (40 * NSEC_PER_USEC)

static struct hrtimer timer;

static bool is_ahead(s64 due)
{
	const struct timerqueue_node *next = timerqueue_getnext(&timer.base->active);

	return next && next->expires >= due + AHEAD_NS && next->expires < due + AHEAD_NS + WIDE_NS;
}

static enum hrtimer_restart ahead_expired(struct hrtimer *self)
{
	const s64 began = ktime_get_ns();

	if (is_ahead(ktime_to_ns(hrtimer_get_expires(self))))
		while ((s64)ktime_get_ns() < began + (s64)(AHEAD_NS + BEHIND_NS))
			cpu_relax();
	hrtimer_forward_now(self, ns_to_ktime(PERIOD_NS));
	return HRTIMER_RESTART;
}

static int __init ahead_init(void)
{
	const u64 first = (div64_u64(ktime_get_ns(), PERIOD_NS) + 1) * PERIOD_NS + OFFSET_NS;

#ifdef HAS_HRTIMER_SETUP
	hrtimer_setup(&timer, ahead_expired, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_PINNED_HARD);
#else
	hrtimer_init(&timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_PINNED_HARD);
	timer.function = ahead_expired;
#endif
	hrtimer_start(&timer, ns_to_ktime(first), HRTIMER_MODE_ABS_PINNED_HARD);
	return 0;
}
module_init(ahead_init);

static void __exit ahead_exit(void)
{
	hrtimer_cancel(&timer);
}
module_exit(ahead_exit);

MODULE_DESCRIPTION("howlate's tests: a load that looks at the next timer");
MODULE_LICENSE("GPL");
