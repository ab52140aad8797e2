// SPDX-License-Identifier: GPL-2.0-only
/*
 * howlate_inject: delays of known size, for laboratories: what explains latencies is tried on them.
 *
 * The user gives a list of delays (kind, CPU, begin, length) and its origin. On each CPU one timer,
 * in hard-interrupt context also under PREEMPT_RT, expires at the beginnings and has the delay made
 * by what carries it: its own handler, a tasklet, interrupts from another CPU, or a kernel thread.
 * Each carrier reads the clock as its first and its last statement within the delay, so [begin, end]
 * is the delay and not what led to it.
 *
 * A thread that only turns interrupts or preemption off has the lowest real-time priority: it delays
 * by what it does and not by its rank.
 *
 * The file holds the module. STOP and the end of the file wait for the delay that is going on (at
 * most 10 ms) and for everything that was queued.
 */
#define pr_fmt(text) KBUILD_MODNAME ": " text

#include <linux/capability.h>
#include <linux/cpu.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/gfp.h>
#include <linux/interrupt.h>
#include <linux/irq_work.h>
#include <linux/kthread.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>
#include <uapi/linux/sched/types.h>

#include "compat.h"
#include "howlate_abi.h"

#define HIGH_PRIORITY 95
#define PIECE_NS 10000 /* of an IPI storm: how long each handler takes */
#define AWAY_NS 5000 /* between two handlers of a storm no more passes by itself */
#define CALLS 8 /* that another CPU keeps under way */
#define PAGES 16 /* that are held at most */
#define ORDERS 4 /* pages come as 1, 2, 4 and 8 */

static bool accept_delays;
module_param(accept_delays, bool, 0444);
MODULE_PARM_DESC(accept_delays, "set by whoever wants this machine delayed on purpose");

struct howlate_runner;

struct howlate_maker { /* a thread */
	struct task_struct *task;
	struct howlate_inject_record *record; /* what it shall make; NULL: nothing */
	struct howlate_runner *runner;
};

/* What delays one CPU (a storm: what sends it). */
struct howlate_runner {
	struct howlate_inject *inject;
	struct hrtimer timer;
	struct howlate_maker low, high;
	struct tasklet_struct tasklet;
	struct irq_work work;
	struct howlate_inject_record *record; /* of tasklet and storm; NULL: nothing */
	call_single_data_t calls[CALLS];
	atomic_t under_way; /* calls that have not returned */
	struct page *pages[PAGES];
	u32 *list; /* its delays */
	u32 count, next;
	unsigned int cpu;
};

struct howlate_inject {
	struct mutex configuring; /* load, start, stop, read */
	struct howlate_inject_delay *delays;
	struct howlate_inject_record *records;
	u32 *lists;
	u32 count;
	s64 origin;
	bool started, stopped;
	struct howlate_runner *runners[]; /* nr_cpu_ids */
};

static unsigned long howlate_inject_busy;

static s64 spin_until(s64 end)
{
	s64 now;

	/* No cpu_relax(): a virtual machine may take the CPU away there. */
	do {
		now = ktime_get_ns();
	} while (now < end);
	return now;
}

/* After the delay, by what made it. */
static void note(struct howlate_inject_record *record, s64 begin, s64 end, int pid)
{
	record->begin_ns = begin;
	record->end_ns = end;
	record->pid = pid;
	record->state |= HOWLATE_INJECT_MADE;
}

/* The next delay may be made; its maker finds the record of this one complete. */
static void is_free(struct howlate_inject_record **slot)
{
	smp_store_release(slot, NULL);
}

/* ---- by a thread */

static void make_irqs_off(s64 length, s64 *begin, s64 *end)
{
	local_irq_disable();
	*begin = ktime_get_ns();
	*end = spin_until(*begin + length);
	local_irq_enable();
}

static void make_preempt_off(s64 length, s64 *begin, s64 *end)
{
	preempt_disable();
	*begin = ktime_get_ns();
	*end = spin_until(*begin + length);
	preempt_enable();
}

/* It never waits, and so never offers the CPU, for memory that is not there. */
static void make_memory(struct howlate_runner *runner, s64 length, s64 *begin, s64 *end)
{
	unsigned int held = 0, order;
	s64 until;

	*begin = ktime_get_ns();
	until = *begin + length;
	do {
		order = held % ORDERS;
		runner->pages[held] = alloc_pages(GFP_NOWAIT | __GFP_NOWARN | __GFP_ZERO, order);
		if (runner->pages[held])
			held++;
		*end = ktime_get_ns();
		if (held < PAGES && *end < until)
			continue;
		while (held) {
			held--;
			__free_pages(runner->pages[held], held % ORDERS);
		}
		*end = ktime_get_ns();
	} while (*end < until);
}

/* The calls are spread over several structures, so that the next is queued before one returns. */
static void send_storm(struct howlate_runner *runner)
{
	struct howlate_inject_record *record = runner->record;
	const s64 until = ktime_get_ns() + record->wanted_ns;
	unsigned int turn = 0;

	while (ktime_get_ns() < until) {
		atomic_inc(&runner->under_way);
		if (!smp_call_function_single_async(record->cpu, &runner->calls[turn % CALLS])) {
			turn++;
			continue;
		}
		atomic_dec(&runner->under_way);
		cpu_relax();
	}
	while (atomic_read(&runner->under_way))
		cpu_relax();
	if (!(record->state & HOWLATE_INJECT_MADE))
		record->state |= HOWLATE_INJECT_SKIPPED; /* its CPU is gone */
	is_free(&runner->record);
}

static void make_by_thread(struct howlate_maker *maker)
{
	struct howlate_inject_record *record = maker->record;
	s64 begin = 0, end = 0;

	switch (record->kind) {
	case HOWLATE_INJECT_IRQS_OFF:
		make_irqs_off(record->wanted_ns, &begin, &end);
		break;
	case HOWLATE_INJECT_PREEMPT_OFF:
		make_preempt_off(record->wanted_ns, &begin, &end);
		break;
	case HOWLATE_INJECT_MEMORY:
		make_memory(maker->runner, record->wanted_ns, &begin, &end);
		break;
	case HOWLATE_INJECT_IPI_STORM:
		send_storm(maker->runner);
		break;
	default:
		begin = ktime_get_ns();
		end = spin_until(begin + record->wanted_ns);
	}
	if (record->kind != HOWLATE_INJECT_IPI_STORM)
		note(record, begin, end, task_pid_nr(current));
	is_free(&maker->record);
}

static int maker_thread(void *argument)
{
	struct howlate_maker *maker = argument;

	for (;;) {
		set_current_state(TASK_IDLE);
		if (kthread_should_stop())
			break;
		/* The record's content is read after this. */
		if (smp_load_acquire(&maker->record)) {
			__set_current_state(TASK_RUNNING);
			make_by_thread(maker);
		} else {
			schedule();
		}
	}
	__set_current_state(TASK_RUNNING);
	return 0;
}

/* ---- by softirqs and interrupts */

static void make_softirq(struct tasklet_struct *tasklet)
{
	const s64 begin = ktime_get_ns();
	struct howlate_runner *runner = container_of(tasklet, struct howlate_runner, tasklet);
	const s64 end = spin_until(begin + runner->record->wanted_ns);

	note(runner->record, begin, end, 0);
	is_free(&runner->record);
}

/* One handler of a storm. True if another is to follow. */
static bool storm_piece(struct howlate_inject_record *record)
{
	const s64 now = ktime_get_ns();
	s64 until;

	if (!(record->state & HOWLATE_INJECT_MADE)) {
		record->begin_ns = now;
		record->state |= HOWLATE_INJECT_MADE;
	} else if (now - record->end_ns > AWAY_NS) {
		record->away_ns += now - record->end_ns;
		record->state |= HOWLATE_INJECT_INTERRUPTED;
	}
	until = record->begin_ns + record->wanted_ns;
	if (now < until)
		record->end_ns = spin_until(min_t(s64, now + PIECE_NS, until));
	return now < until && record->end_ns < until;
}

static void called(void *argument)
{
	struct howlate_runner *runner = argument;

	storm_piece(runner->record);
	atomic_dec(&runner->under_way);
}

static void worked(struct irq_work *work)
{
	struct howlate_runner *runner = container_of(work, struct howlate_runner, work);

	if (storm_piece(runner->record))
		irq_work_queue(work);
	else
		is_free(&runner->record);
}

/* ---- the timer */

/* Whether what makes this kind of delay still makes the one before. */
static bool is_busy(const struct howlate_runner *runner)
{
	/* After them the maker's stores are seen. */
	return smp_load_acquire(&runner->low.record) || smp_load_acquire(&runner->high.record) ||
	       smp_load_acquire(&runner->record);
}

static void give_to(struct howlate_maker *maker, struct howlate_inject_record *record)
{
	/* The maker that sees the record finds its content. */
	smp_store_release(&maker->record, record);
	wake_up_process(maker->task);
}

static void hand_on(struct howlate_runner *runner, struct howlate_inject_record *record)
{
	switch (record->kind) {
	case HOWLATE_INJECT_SOFTIRQ:
		runner->record = record;
		tasklet_hi_schedule(&runner->tasklet);
		break;
	case HOWLATE_INJECT_IPI_STORM:
		runner->record = record;
		if (record->cpu == runner->cpu)
			irq_work_queue(&runner->work);
		else
			give_to(&runner->low, record);
		break;
	case HOWLATE_INJECT_THREAD:
		give_to(&runner->high, record);
		break;
	default:
		give_to(&runner->low, record);
	}
}

static enum hrtimer_restart runner_due(struct hrtimer *timer)
{
	const s64 now = ktime_get_ns();
	struct howlate_runner *runner = container_of(timer, struct howlate_runner, timer);
	const struct howlate_inject *inject = runner->inject;
	const struct howlate_inject_delay *delay = &inject->delays[runner->list[runner->next]];
	struct howlate_inject_record *record = &inject->records[runner->list[runner->next]];

	if (is_busy(runner) || now >= inject->origin + delay->begin_ns + delay->length_ns) {
		record->state |= HOWLATE_INJECT_SKIPPED;
	} else if (record->kind == HOWLATE_INJECT_HARD_IRQ) {
		note(record, now, spin_until(now + record->wanted_ns), 0);
	} else {
		hand_on(runner, record);
	}
	if (++runner->next == runner->count)
		return HRTIMER_NORESTART;
	delay = &inject->delays[runner->list[runner->next]];
	hrtimer_set_expires(timer, ns_to_ktime(inject->origin + delay->begin_ns));
	return HRTIMER_RESTART;
}

/* ---- making and ending of all this */

static int make_thread(struct howlate_maker *maker, struct howlate_runner *runner, int priority)
{
	const struct sched_attr attributes = {
		.size = sizeof(attributes),
		.sched_policy = SCHED_FIFO,
		.sched_priority = priority,
	};
	struct task_struct *task;

	maker->runner = runner;
	task = kthread_create_on_node(maker_thread, maker, cpu_to_node(runner->cpu), "howlate_%s/%u",
				      priority > 1 ? "high" : "low", runner->cpu);
	if (IS_ERR(task))
		return PTR_ERR(task);
	kthread_bind(task, runner->cpu);
	maker->task = task;
	return sched_setattr_nocheck(task, &attributes);
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
	error = make_thread(&runner->low, runner, 1);
	return error ? error : make_thread(&runner->high, runner, HIGH_PRIORITY);
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
	for_each_possible_cpu(cpu)
		if (inject->runners[cpu] && smp_call_function_single(cpu, arm, inject->runners[cpu], 1))
			return -ENXIO;
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

/* ---- the device */

static long with_argument(struct howlate_inject *inject, unsigned int request, void __user *from)
{
	struct howlate_inject_load load;
	s64 origin;

	switch (request) {
	case HOWLATE_INJECT_LOAD:
		if (copy_from_user(&load, from, sizeof(load)))
			return -EFAULT;
		if (load.version != HOWLATE_ABI_VERSION)
			return -EPROTONOSUPPORT;
		if (!load.count || load.count > HOWLATE_INJECT_DELAYS_MAX)
			return -EINVAL;
		return load_delays(inject, &load);
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
MODULE_VERSION("2");
MODULE_LICENSE("GPL");
