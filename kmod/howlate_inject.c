// SPDX-License-Identifier: GPL-2.0-only
/*
 * howlate_inject: delays of known size, for laboratories: what explains latencies is tried on them.
 *
 * The user gives a list of delays (kind, CPU, begin, length) and its origin. On each CPU one timer,
 * in hard-interrupt context also under PREEMPT_RT, expires at the beginnings and has the delay made
 * by what carries it: its own handler, a tasklet, interrupts from another CPU, or a kernel thread.
 * Each carrier reads the clock as its first and its last statement within the delay, so that
 * [begin, end] is the delay and not what led to it.
 *
 * A thread that only turns interrupts or preemption off has the lowest real-time priority: it
 * delays by what it does and not by its rank.
 *
 * The file holds the module. STOP and the end of the file wait for the delay that is going on (at
 * most 10 ms) and for everything that was queued.
 */
#define pr_fmt(text) KBUILD_MODNAME ": " text

#include <linux/capability.h>
#include <linux/cpu.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/kthread.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "compat.h"
#include "howlate_abi.h"
#include "inject_makers.h"

static bool accept_delays;
module_param(accept_delays, bool, 0444);
MODULE_PARM_DESC(accept_delays, "set by whoever wants this machine delayed on purpose");

static unsigned long howlate_inject_busy;

/* ---- making and ending of all this */

static int make_thread(struct howlate_maker *maker, struct howlate_runner *runner,
		       const char *name, void (*rank)(struct task_struct *task))
{
	struct task_struct *task;

	maker->runner = runner;
	task = kthread_create_on_node(maker_thread, maker, cpu_to_node(runner->cpu), "%s/%u", name,
				      runner->cpu);
	if (IS_ERR(task))
		return PTR_ERR(task);
	kthread_bind(task, runner->cpu);
	rank(task);
	maker->task = task;
	return 0;
}

static int make_runner(struct howlate_inject *inject, unsigned int cpu)
{
	struct howlate_runner *runner = kzalloc(sizeof(*runner), GFP_KERNEL);
	unsigned int i;
	int error;

	if (!runner)
		return -ENOMEM;
	inject->runners[cpu] = runner;
	runner->inject = inject;
	runner->cpu = cpu;
	hrtimer_setup(&runner->timer, runner_due, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_PINNED_HARD);
	tasklet_setup(&runner->tasklet, make_softirq);
	howlate_irq_work_setup(&runner->work, worked);
	for (i = 0; i < CALLS; i++) {
		runner->calls[i].func = called;
		runner->calls[i].info = runner;
	}
	error = make_thread(&runner->low, runner, "howlate_low", sched_set_fifo_low);
	return error ? error : make_thread(&runner->high, runner, "howlate_high", sched_set_fifo);
}

/* Nothing of it runs afterwards. */
static void end_runner(struct howlate_runner *runner)
{
	hrtimer_cancel(&runner->timer);
	if (runner->low.task)
		kthread_stop(runner->low.task); /* a storm that it sends is over then */
	if (runner->high.task)
		kthread_stop(runner->high.task);
	tasklet_kill(&runner->tasklet);
	irq_work_sync(&runner->work);
}

/* The CPU whose timer and thread make a delay. */
static unsigned int carrier_of(const struct howlate_inject_delay *delay)
{
	unsigned int cpu;

	if (delay->kind != HOWLATE_INJECT_IPI_STORM)
		return delay->cpu;
	cpu = cpumask_next(delay->cpu, cpu_online_mask);
	return cpu < nr_cpu_ids ? cpu : cpumask_first(cpu_online_mask);
}

static bool is_valid(const struct howlate_inject_delay *delays, u32 number)
{
	const struct howlate_inject_delay *delay = &delays[number];

	return delay->kind < HOWLATE_INJECT_KINDS && delay->cpu < nr_cpu_ids &&
	       cpu_online(delay->cpu) && delay->length_ns >= HOWLATE_INJECT_LENGTH_NS_MIN &&
	       delay->length_ns <= HOWLATE_INJECT_LENGTH_NS_MAX && delay->begin_ns >= 0 &&
	       (!number || delays[number - 1].begin_ns <= delay->begin_ns);
}

static int make_runners(struct howlate_inject *inject)
{
	struct howlate_runner *runner;
	unsigned int cpu;
	u32 *list = inject->lists;
	int error;
	u32 i;

	for (i = 0; i < inject->count; i++) {
		if (!is_valid(inject->delays, i))
			return -EINVAL;
		inject->records[i].wanted_ns = inject->delays[i].length_ns;
		inject->records[i].kind = inject->delays[i].kind;
		inject->records[i].cpu = inject->delays[i].cpu;
		cpu = carrier_of(&inject->delays[i]);
		if (!inject->runners[cpu]) {
			error = make_runner(inject, cpu);
			if (error)
				return error;
		}
		inject->runners[cpu]->count++;
	}
	for_each_possible_cpu(cpu) {
		runner = inject->runners[cpu];
		if (!runner)
			continue;
		runner->list = list;
		list += runner->count;
		runner->count = 0;
	}
	for (i = 0; i < inject->count; i++) {
		runner = inject->runners[carrier_of(&inject->delays[i])];
		runner->list[runner->count++] = i;
	}
	return 0;
}

static void end_runners(struct howlate_inject *inject)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		if (inject->runners[cpu])
			end_runner(inject->runners[cpu]);
	synchronize_rcu(); /* handlers that were called have returned */
	for_each_possible_cpu(cpu) {
		kfree(inject->runners[cpu]);
		inject->runners[cpu] = NULL;
	}
}

static void forget(struct howlate_inject *inject)
{
	end_runners(inject);
	kvfree(inject->lists);
	kvfree(inject->records);
	kvfree(inject->delays);
	inject->lists = NULL;
	inject->records = NULL;
	inject->delays = NULL;
	inject->count = 0;
}

static long load_delays(struct howlate_inject *inject, const struct howlate_inject_load *load)
{
	const u32 count = load->count;
	int error = -ENOMEM;
	void *delays;

	if (inject->delays)
		return -EBUSY; /* once for each open file */
	delays = vmemdup_user(u64_to_user_ptr(load->delays),
			      array_size(count, sizeof(*inject->delays)));
	if (IS_ERR(delays))
		return PTR_ERR(delays);
	inject->delays = delays;
	inject->count = count;
	inject->round_ns = load->round_ns;
	inject->records = kvcalloc(count, sizeof(*inject->records), GFP_KERNEL);
	inject->lists = kvcalloc(count, sizeof(*inject->lists), GFP_KERNEL);
	if (inject->records && inject->lists) {
		cpus_read_lock();
		error = make_runners(inject);
		cpus_read_unlock();
	}
	if (error)
		forget(inject);
	return error;
}

static void arm(void *argument)
{
	struct howlate_runner *runner = argument;
	const struct howlate_inject *inject = runner->inject;
	const s64 first = inject->origin + inject->delays[runner->list[0]].begin_ns;

	hrtimer_start(&runner->timer, ns_to_ktime(first), HRTIMER_MODE_ABS_PINNED_HARD);
}

static long start(struct howlate_inject *inject, s64 origin)
{
	unsigned int cpu;

	if (!inject->delays)
		return -ENODATA;
	if (inject->started || inject->stopped)
		return -EBUSY;
	if (origin < 0 || origin > KTIME_MAX / 2 ||
	    inject->delays[inject->count - 1].begin_ns > KTIME_MAX / 4)
		return -EINVAL;
	inject->origin = origin;
	inject->started = true;
	for_each_possible_cpu(cpu) {
		void *runner = inject->runners[cpu];

		if (runner && smp_call_function_single(cpu, arm, runner, 1))
			return -ENXIO;
	}
	return 0;
}

static long stop(struct howlate_inject *inject)
{
	if (!inject->delays)
		return -ENODATA;
	if (!inject->stopped)
		end_runners(inject);
	inject->stopped = true;
	return 0;
}

static long find_thread(const struct howlate_inject *inject, struct howlate_inject_thread *thread)
{
	const struct howlate_runner *runner;

	runner = thread->cpu < nr_cpu_ids ? inject->runners[thread->cpu] : NULL;
	if (!runner)
		return -ENODATA;
	thread->pid = task_pid_vnr(runner->high.task);
	return 0;
}

/* ---- the device */

static long with_argument(struct howlate_inject *inject, unsigned int request, void __user *from)
{
	struct howlate_inject_thread thread;
	struct howlate_inject_load load;
	s64 origin;
	long error;

	switch (request) {
	case HOWLATE_INJECT_LOAD:
		if (copy_from_user(&load, from, sizeof(load)))
			return -EFAULT;
		if (load.version != HOWLATE_ABI_VERSION)
			return -EPROTONOSUPPORT;
		if (!load.count || load.count > HOWLATE_INJECT_DELAYS_MAX)
			return -EINVAL;
		if (load.round_ns < 0 || load.round_ns > HOWLATE_INJECT_ROUND_NS_MAX)
			return -EINVAL;
		return load_delays(inject, &load);
	case HOWLATE_INJECT_FIND_THREAD:
		if (copy_from_user(&thread, from, sizeof(thread)))
			return -EFAULT;
		error = find_thread(inject, &thread);
		if (error)
			return error;
		return copy_to_user(from, &thread, sizeof(thread)) ? -EFAULT : 0;
	case HOWLATE_INJECT_START:
		if (copy_from_user(&origin, from, sizeof(origin)))
			return -EFAULT;
		return start(inject, origin);
	case HOWLATE_INJECT_STOP:
		return stop(inject);
	default:
		return -ENOTTY;
	}
}

static long howlate_inject_ioctl(struct file *file, unsigned int request, unsigned long argument)
{
	struct howlate_inject *inject = file->private_data;
	long done;

	mutex_lock(&inject->configuring);
	done = with_argument(inject, request, (void __user *)argument);
	mutex_unlock(&inject->configuring);
	return done;
}

static ssize_t howlate_inject_read(struct file *file, char __user *to, size_t size, loff_t *offset)
{
	struct howlate_inject *inject = file->private_data;
	ssize_t done = -EBUSY; /* until STOP */

	mutex_lock(&inject->configuring);
	if (inject->stopped)
		done = simple_read_from_buffer(to, size, offset, inject->records,
					       array_size(inject->count, sizeof(*inject->records)));
	mutex_unlock(&inject->configuring);
	return done;
}

static int howlate_inject_open(struct inode *inode, struct file *file)
{
	struct howlate_inject *inject;

	if (!capable(CAP_SYS_RAWIO))
		return -EPERM;
	if (test_and_set_bit(0, &howlate_inject_busy))
		return -EBUSY;
	inject = kzalloc(struct_size(inject, runners, nr_cpu_ids), GFP_KERNEL);
	if (!inject) {
		clear_bit(0, &howlate_inject_busy);
		return -ENOMEM;
	}
	mutex_init(&inject->configuring);
	file->private_data = inject;
	return nonseekable_open(inode, file);
}

static int howlate_inject_release(struct inode *inode, struct file *file)
{
	struct howlate_inject *inject = file->private_data;

	forget(inject);
	kfree(inject);
	clear_bit_unlock(0, &howlate_inject_busy);
	return 0;
}

static const struct file_operations howlate_inject_operations = {
	.owner = THIS_MODULE,
	.open = howlate_inject_open,
	.read = howlate_inject_read,
	.unlocked_ioctl = howlate_inject_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.release = howlate_inject_release,
};

static struct miscdevice howlate_inject_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = HOWLATE_INJECT_MODULE,
	.fops = &howlate_inject_operations,
	.mode = 0600,
};

static int __init howlate_inject_init(void)
{
	if (!accept_delays) {
		pr_notice("it delays this machine on purpose: load it with accept_delays=1\n");
		return -EPERM;
	}
	return misc_register(&howlate_inject_device);
}
module_init(howlate_inject_init);

static void __exit howlate_inject_exit(void)
{
	misc_deregister(&howlate_inject_device);
}
module_exit(howlate_inject_exit);

MODULE_DESCRIPTION("howlate: delays of known size, for laboratories");
MODULE_VERSION("3");
MODULE_LICENSE("GPL");
