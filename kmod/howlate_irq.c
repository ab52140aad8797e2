// SPDX-License-Identifier: GPL-2.0-only
/*
 * howlate_irq: how late a periodic interrupt's handler runs, and who it wakes.
 *
 * From: the instant that a high-resolution timer was programmed for. To: the first statement of its
 * handler, which runs in hard-interrupt context, also under PREEMPT_RT (HRTIMER_MODE_*_HARD).
 * Included: the timer device's own delay, interrupts that are off, the entry into the kernel, and
 * handlers that are served before. The handler stamps, stores 32 bytes and wakes the reader; it
 * takes no lock but the scheduler's own, allocates nothing and prints nothing.
 *
 * Each open file has a timer of its own, on the CPU from which it was started. The file holds the
 * module: it can be unloaded as soon as nobody has it open; who is killed has not.
 */
#include <linux/fs.h>
#include <linux/log2.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/rcuwait.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "compat.h"
#include "howlate_abi.h"

struct howlate_irq {
	struct hrtimer timer;
	struct rcuwait reader;
	struct howlate_irq_record *records;
	u32 mask;
	u32 written; /* by the handler alone */
	u32 taken; /* by the reader alone */
	ktime_t period;
	struct howlate_irq_account account; /* by the handler alone */
	bool started; /* once, and for good */
	bool running;
	struct mutex configuring; /* start, stop */
	struct mutex reading; /* one reader at a time */
};

static enum hrtimer_restart howlate_irq_expired(struct hrtimer *timer)
{
	const ktime_t now = ktime_get();
	struct howlate_irq *irq = container_of(timer, struct howlate_irq, timer);
	const s64 expiry_ns = ktime_to_ns(hrtimer_get_expires(timer));
	const s64 latency_ns = ktime_to_ns(now) - expiry_ns;
	struct howlate_irq_account *account = &irq->account;
	const u64 index = account->handled + account->missed;
	const u32 written = irq->written;
	u64 passed;

	if (latency_ns > account->latency_ns_max) {
		account->latency_ns_max = latency_ns;
		account->latency_max_index = index;
	}
	/* What the reader gave back has been copied. */
	if (written - smp_load_acquire(&irq->taken) <= irq->mask) {
		struct howlate_irq_record *record = &irq->records[written & irq->mask];

		record->index = index;
		record->expiry_ns = expiry_ns;
		record->handler_ns = ktime_to_ns(now);
		record->lost = account->lost;
		/* The record is whole before the reader sees that it is there. */
		smp_store_release(&irq->written, written + 1);
	} else {
		account->lost++;
	}
	account->handled++;
	passed = hrtimer_forward(timer, now, irq->period);
	if (passed > 1)
		account->missed += passed - 1;
	rcuwait_wake_up(&irq->reader);
	return HRTIMER_RESTART;
}

static bool howlate_irq_has_more(struct howlate_irq *irq)
{
	/* What the record holds is read after this. */
	return smp_load_acquire(&irq->written) != irq->taken;
}

/* Copies whole records, at most `room` of them; how many, or a negative error. */
static ssize_t howlate_irq_take(struct howlate_irq *irq, char __user *to, size_t room)
{
	/* What the records hold is read after this. */
	const u32 there = smp_load_acquire(&irq->written) - irq->taken;
	const u32 count = min_t(size_t, there, room);
	const u32 from = irq->taken & irq->mask;
	const u32 first = min_t(u32, count, irq->mask + 1 - from);
	const size_t bytes = first * sizeof(*irq->records);

	if (copy_to_user(to, &irq->records[from], bytes) ||
	    copy_to_user(to + bytes, irq->records, (count - first) * sizeof(*irq->records)))
		return -EFAULT;
	/* Their room is the handler's again only after they have been copied. */
	smp_store_release(&irq->taken, irq->taken + count);
	return count;
}

static ssize_t howlate_irq_read(struct file *file, char __user *to, size_t size, loff_t *offset)
{
	struct howlate_irq *irq = file->private_data;
	ssize_t done;

	if (size < sizeof(*irq->records))
		return -EINVAL;
	if (mutex_lock_interruptible(&irq->reading))
		return -ERESTARTSYS;
	/* Whoever sees it finds records and mask. */
	if (!smp_load_acquire(&irq->started)) {
		done = -ENODATA;
	} else if (!howlate_irq_has_more(irq) && (file->f_flags & O_NONBLOCK)) {
		done = READ_ONCE(irq->running) ? -EAGAIN : 0;
	} else {
		done = rcuwait_wait_event(&irq->reader,
					  howlate_irq_has_more(irq) || !READ_ONCE(irq->running),
					  TASK_INTERRUPTIBLE);
		if (done)
			done = -ERESTARTSYS;
		else
			done = howlate_irq_take(irq, to, size / sizeof(*irq->records));
	}
	mutex_unlock(&irq->reading);
	return done > 0 ? done * (ssize_t)sizeof(*irq->records) : done;
}

static long howlate_irq_begin(struct howlate_irq *irq, struct howlate_irq_start *start)
{
	const u32 records = roundup_pow_of_two(max_t(u32, start->records, 2));

	if (irq->started)
		return -EBUSY; /* once for each open file */
	irq->mask = records - 1;
	irq->period = ns_to_ktime(start->period_ns);
	irq->records = vzalloc(array_size(records, sizeof(*irq->records)));
	if (!irq->records)
		return -ENOMEM;
	hrtimer_setup(&irq->timer, howlate_irq_expired, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS_PINNED_HARD);
	irq->running = true;
	/* A reader that sees it finds the rest. */
	smp_store_release(&irq->started, true);
	start->cpu = get_cpu();
	if (!start->first_ns)
		start->first_ns = ktime_to_ns(ktime_get()) + start->period_ns;
	hrtimer_start(&irq->timer, ns_to_ktime(start->first_ns), HRTIMER_MODE_ABS_PINNED_HARD);
	put_cpu();
	return 0;
}

static long howlate_irq_start(struct howlate_irq *irq, void __user *from)
{
	struct howlate_irq_start start;
	long error;

	if (copy_from_user(&start, from, sizeof(start)))
		return -EFAULT;
	if (start.version != HOWLATE_ABI_VERSION)
		return -EPROTONOSUPPORT;
	if (start.period_ns < HOWLATE_IRQ_PERIOD_NS_MIN ||
	    start.period_ns > HOWLATE_IRQ_PERIOD_NS_MAX ||
	    start.records > HOWLATE_IRQ_RECORDS_MAX || start.first_ns < 0 || start.reserved)
		return -EINVAL;
	mutex_lock(&irq->configuring);
	error = howlate_irq_begin(irq, &start);
	mutex_unlock(&irq->configuring);
	if (error)
		return error;
	return copy_to_user(from, &start, sizeof(start)) ? -EFAULT : 0;
}

/* No handler runs after it. */
static void howlate_irq_end(struct howlate_irq *irq)
{
	mutex_lock(&irq->configuring);
	if (irq->running) {
		hrtimer_cancel(&irq->timer);
		WRITE_ONCE(irq->running, false);
		rcuwait_wake_up(&irq->reader);
	}
	mutex_unlock(&irq->configuring);
}

/* While the timer runs one value may be newer than another; after a stop they belong together. */
static long howlate_irq_tell(struct howlate_irq *irq, void __user *to)
{
	const struct howlate_irq_account account = {
		.handled = READ_ONCE(irq->account.handled),
		.missed = READ_ONCE(irq->account.missed),
		.lost = READ_ONCE(irq->account.lost),
		.latency_ns_max = READ_ONCE(irq->account.latency_ns_max),
		.latency_max_index = READ_ONCE(irq->account.latency_max_index),
	};

	return copy_to_user(to, &account, sizeof(account)) ? -EFAULT : 0;
}

static long howlate_irq_ioctl(struct file *file, unsigned int request, unsigned long argument)
{
	struct howlate_irq *irq = file->private_data;

	switch (request) {
	case HOWLATE_IRQ_START:
		return howlate_irq_start(irq, (void __user *)argument);
	case HOWLATE_IRQ_STOP:
		howlate_irq_end(irq);
		return 0;
	case HOWLATE_IRQ_ACCOUNT:
		return howlate_irq_tell(irq, (void __user *)argument);
	default:
		return -ENOTTY;
	}
}

static int howlate_irq_open(struct inode *inode, struct file *file)
{
	struct howlate_irq *irq;

	if (!capable(CAP_SYS_RAWIO))
		return -EPERM; /* a short period takes a CPU from everybody */
	irq = kzalloc(sizeof(*irq), GFP_KERNEL);
	if (!irq)
		return -ENOMEM;
	irq->account.latency_ns_max = S64_MIN;
	rcuwait_init(&irq->reader);
	mutex_init(&irq->configuring);
	mutex_init(&irq->reading);
	file->private_data = irq;
	return stream_open(inode, file);
}

static int howlate_irq_release(struct inode *inode, struct file *file)
{
	struct howlate_irq *irq = file->private_data;

	howlate_irq_end(irq);
	vfree(irq->records);
	kfree(irq);
	return 0;
}

static const struct file_operations howlate_irq_operations = {
	.owner = THIS_MODULE,
	.open = howlate_irq_open,
	.read = howlate_irq_read,
	.unlocked_ioctl = howlate_irq_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.release = howlate_irq_release,
};

static struct miscdevice howlate_irq_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = HOWLATE_IRQ_MODULE,
	.fops = &howlate_irq_operations,
	.mode = 0600,
};
module_misc_device(howlate_irq_device);

MODULE_DESCRIPTION("howlate: how late a periodic interrupt's handler runs");
MODULE_VERSION("1");
MODULE_LICENSE("GPL");
