// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hangs `after_ms` after it was loaded, in one of four ways (`how`): "irqs_off" loops with interrupts
 * off, "loop" with preemption off and interrupts on, "asleep" halts with interrupts off, "lost_timer"
 * takes the next timer of a real-time task's sleep out of the queue, so that nothing wakes it.
 */
#include <linux/hrtimer.h>
#include <linux/irqflags.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/sched/rt.h>
#include <linux/string.h>
#include <linux/timerqueue.h>

static char *how = "";
module_param(how, charp, 0444);
MODULE_PARM_DESC(how, "irqs_off, loop, asleep or lost_timer");

static unsigned int after_ms = 200;
module_param(after_ms, uint, 0444);
MODULE_PARM_DESC(after_ms, "how long after it was loaded");

static struct hrtimer timer;
static struct hrtimer_sleeper like; /* for the function that wakes a sleeping task up */
static struct task_struct *task;

static noinline void loop_for_ever(void)
{
	for (;;)
		barrier();
}

static void lose_timer(void)
{
	struct timerqueue_node *node = timerqueue_getnext(&timer.base->active);

	for (; node; node = timerqueue_iterate_next(node)) {
		struct hrtimer *one = container_of(node, struct hrtimer, node);
		struct hrtimer_sleeper *sleeper = container_of(one, struct hrtimer_sleeper, timer);

		if (one->function != like.timer.function || !rt_task(sleeper->task))
			continue;
		hrtimer_try_to_cancel(one);
		return;
	}
}

static enum hrtimer_restart hangs_expired(struct hrtimer *self)
{
	if (!strcmp(how, "irqs_off"))
		loop_for_ever();
	if (!strcmp(how, "asleep"))
		for (;;)
			asm volatile("cli; hlt");
	if (!strcmp(how, "loop"))
		wake_up_process(task);
	else
		lose_timer();
	return HRTIMER_NORESTART;
}

static int hangs_run(void *unused)
{
	preempt_disable();
	loop_for_ever();
	return 0;
}

static int __init hangs_init(void)
{
	const enum hrtimer_mode mode = HRTIMER_MODE_REL_PINNED_HARD;

	task = kthread_create(hangs_run, NULL, "hangs");
	if (IS_ERR(task))
		return PTR_ERR(task);
	sched_set_fifo(task);
#ifdef HAS_HRTIMER_SETUP
	hrtimer_setup_sleeper_on_stack(&like, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
	hrtimer_setup(&timer, hangs_expired, CLOCK_MONOTONIC, mode);
#else
	hrtimer_init_sleeper(&like, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
	hrtimer_init(&timer, CLOCK_MONOTONIC, mode);
	timer.function = hangs_expired;
#endif
	hrtimer_start(&timer, ms_to_ktime(after_ms), mode);
	return 0;
}
module_init(hangs_init);

MODULE_DESCRIPTION("howlate's tests: a kernel that hangs");
MODULE_LICENSE("GPL");
