// SPDX-License-Identifier: GPL-2.0-only
/*
 * howlate_irq: how late the handler of a periodic interrupt runs, and the task that it wakes.
 *
 * From: the instant for which a high-resolution timer was programmed. To: the first statement of
 * its handler, which runs in hard-interrupt context, also under PREEMPT_RT (HRTIMER_MODE_*_HARD).
 * Included: the timer device's own delay, interrupts that are off, the entry into the kernel, and
 * handlers that run first. The handler takes a time stamp, stores 32 bytes and wakes the reader; it
 * takes no lock but the scheduler's own, allocates nothing and prints nothing.
 *
 * Each open file has a timer of its own, on the CPU from which it was started. The file holds the
 * module: it can be unloaded once nobody has it open, and a killed process has not.
 */
#include <linux/capability.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "compat.h"
#include "ring.h"

struct howlate_irq {
	struct hrtimer timer;
	struct howlate_ring ring;
	ktime_t period;
	struct mutex configuring; /* start, stop */
};

static enum hrtimer_restart howlate_irq_expired(struct hrtimer *timer)
{
	const ktime_t now = ktime_get();
	struct howlate_irq *irq = container_of(timer, struct howlate_irq, timer);
	u64 passed;

	howlate_ring_put(&irq->ring, ktime_to_ns(hrtimer_get_expires(timer)), ktime_to_ns(now));
	passed = hrtimer_forward(timer, now, irq->period);
	if (passed > 1)
		howlate_ring_missed(&irq->ring, passed - 1);
	howlate_ring_wake(&irq->ring);
	return HRTIMER_RESTART;
}

static ssize_t howlate_irq_read(struct file *file, char __user *to, size_t size, loff_t *offset)
{
	struct howlate_irq *irq = file->private_data;

	return howlate_ring_read(&irq->ring, file, to, size);
}

static long howlate_irq_begin(struct howlate_irq *irq, struct howlate_irq_start *start)
{
	int error;

	if (irq->ring.started)
		return -EBUSY; /* once for each open file */
	error = howlate_ring_make_room(&irq->ring, start->records);
	if (error)
		return error;
	irq->period = ns_to_ktime(start->period_ns);
	hrtimer_setup(&irq->timer, howlate_irq_expired, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS_PINNED_HARD);
	howlate_ring_start(&irq->ring);
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
	if (irq->ring.running) {
		hrtimer_cancel(&irq->timer);
		howlate_ring_end(&irq->ring);
	}
	mutex_unlock(&irq->configuring);
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
		return howlate_ring_tell(&irq->ring, (void __user *)argument);
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
	howlate_ring_init(&irq->ring);
	mutex_init(&irq->configuring);
	file->private_data = irq;
	return stream_open(inode, file);
}

static int howlate_irq_release(struct inode *inode, struct file *file)
{
	struct howlate_irq *irq = file->private_data;

	howlate_irq_end(irq);
	howlate_ring_free(&irq->ring);
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
MODULE_VERSION("2");
MODULE_LICENSE("GPL");
