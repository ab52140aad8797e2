// SPDX-License-Identifier: GPL-2.0-only
/*
 * howlate_hpet: how late the handler of a periodic interrupt runs, and the task that it wakes, with
 * two parts of one timer chip: a comparator interrupts, the counter is the clock.
 *
 * From: the counter's value that the comparator waits for. To: the counter's value that the handler
 * reads as its first statement, in hard-interrupt context, also under PREEMPT_RT. Included: the
 * chip's own delay, the way through the I/O APIC, interrupts that are off, the entry into the
 * kernel and handlers that run first. After the time stamp the handler acknowledges the interrupt,
 * stores 32 bytes, sets the comparator's next value (most comparators cannot repeat by themselves)
 * and wakes the reader.
 *
 * The comparator is one that the kernel's driver of /dev/hpet gives away, which excludes clock
 * events and legacy comparators. It stays taken as long as this device is open. It interrupts by an
 * input of the I/O APIC that it can reach and nobody else uses.
 */
#include <linux/acpi.h>
#include <linux/bits.h>
#include <linux/capability.h>
#include <linux/file.h>
#include <linux/interrupt.h>
#include <linux/io.h>
#include <linux/kdev_t.h>
#include <linux/math64.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <asm/hpet.h>

#include "ring.h"

#define TICK_FS 0x004
#define CONFIGURATION 0x010
#define STATUS 0x020
#define COUNTER 0x0f0
#define COMPARATOR_CONFIGURATION(n) (0x100 + 0x20 * (n))
#define COMPARATOR_LINES(n) (0x104 + 0x20 * (n))
#define COMPARATOR_VALUE(n) (0x108 + 0x20 * (n))

/* A value nearer than this may have passed before it is written to the chip. */
#define TICKS_AHEAD 128
#define TICKS_MOST BIT(30)
/* Lower inputs belong to legacy devices, which boards wire to fixed lines. */
#define FIRST_LINE 16

struct howlate_hpet {
	struct howlate_ring ring;
	unsigned int comparator;
	u32 period;
	s64 due; /* written only by the handler, in ticks; the lower half is the counter's */
	u32 before; /* the comparator's original configuration */
	struct file *hpet; /* /dev/hpet: as long as it is open the comparator is ours */
	u32 line;
	unsigned int irq;
	struct mutex configuring; /* start, stop */
};

static void __iomem *registers;

static u32 get(unsigned int at)
{
	return readl(registers + at);
}

static void put(u32 value, unsigned int at)
{
	writel(value, registers + at);
}

/* Advances to the first expiry that can still be met; returns how many cannot. */
static u32 howlate_hpet_next(struct howlate_hpet *hpet)
{
	u32 missed = 0;

	for (;;) {
		const s32 behind = get(COUNTER) + TICKS_AHEAD - (u32)(hpet->due + hpet->period);
		const u32 skipped = behind > 0 ? DIV_ROUND_UP((u32)behind, hpet->period) : 0;

		missed += skipped;
		hpet->due += (s64)hpet->period * (skipped + 1);
		put((u32)hpet->due, COMPARATOR_VALUE(hpet->comparator));
		if ((s32)((u32)hpet->due - get(COUNTER)) > TICKS_AHEAD / 4)
			return missed;
		missed++;
	}
}

static irqreturn_t howlate_hpet_handler(int irq, void *data)
{
	const u32 now = get(COUNTER);
	struct howlate_hpet *hpet = data;
	const u32 mine = BIT(hpet->comparator);
	const s32 late = now - (u32)hpet->due;

	if (!(get(STATUS) & mine))
		return IRQ_NONE;
	put(mine, STATUS);
	if (late < 0)
		return IRQ_HANDLED; /* for an abandoned value, or after the counter wrapped */
	howlate_ring_put(&hpet->ring, hpet->due, hpet->due + late);
	howlate_ring_missed(&hpet->ring, howlate_hpet_next(hpet));
	howlate_ring_wake(&hpet->ring);
	return IRQ_HANDLED;
}

static ssize_t howlate_hpet_read(struct file *file, char __user *to, size_t size, loff_t *offset)
{
	struct howlate_hpet *hpet = file->private_data;

	return howlate_ring_read(&hpet->ring, file, to, size);
}

/* A line that the comparator can use and that nobody else uses. */
static int howlate_hpet_take_line(struct howlate_hpet *hpet)
{
	unsigned long lines = get(COMPARATOR_LINES(hpet->comparator));
	unsigned int line;

	for_each_set_bit(line, &lines, 32) {
		int irq;

		if (line < FIRST_LINE)
			continue;
		irq = acpi_register_gsi(NULL, line, ACPI_LEVEL_SENSITIVE, ACPI_ACTIVE_LOW);
		if (irq <= 0)
			continue;
		if (!request_irq(irq, howlate_hpet_handler, IRQF_NO_THREAD, HOWLATE_HPET_MODULE,
				 hpet)) {
			hpet->line = line;
			hpet->irq = irq;
			return 0;
		}
		acpi_unregister_gsi(line);
	}
	return -ENOSPC;
}

static void howlate_hpet_give_line_back(struct howlate_hpet *hpet)
{
	free_irq(hpet->irq, hpet);
	acpi_unregister_gsi(hpet->line);
}

/* Checks that the user owns the comparator through /dev/hpet, and that it can be used. */
static int howlate_hpet_take_comparator(struct howlate_hpet *hpet,
					const struct howlate_hpet_start *start)
{
	const u32 id = get(0);

	if (!(get(CONFIGURATION) & HPET_CFG_ENABLE))
		return -ENODEV;
	if (start->comparator > (id & HPET_ID_NUMBER) >> HPET_ID_NUMBER_SHIFT)
		return -EINVAL;
	if (start->comparator < 2 && get(CONFIGURATION) & HPET_CFG_LEGACY)
		return -EBUSY;
	hpet->comparator = start->comparator;
	hpet->before = get(COMPARATOR_CONFIGURATION(hpet->comparator));
	if (hpet->before & HPET_TN_ENABLE)
		return -EBUSY;
	hpet->hpet = fget(start->hpet);
	if (!hpet->hpet)
		return -EBADF;
	if (file_inode(hpet->hpet)->i_rdev == MKDEV(MISC_MAJOR, HPET_MINOR))
		return 0;
	fput(hpet->hpet);
	hpet->hpet = NULL;
	return -EBADF;
}

/* The first interrupt comes a period from now. */
static void howlate_hpet_go(struct howlate_hpet *hpet, struct howlate_hpet_start *start)
{
	const u32 kept = hpet->before & ~(HPET_TN_PERIODIC | HPET_TN_FSB | HPET_TN_ROUTE);
	const u32 configuration = kept | HPET_TN_LEVEL | HPET_TN_32BIT |
				  hpet->line << HPET_TN_ROUTE_SHIFT;
	unsigned long flags;

	put(configuration, COMPARATOR_CONFIGURATION(hpet->comparator));
	put(BIT(hpet->comparator), STATUS);
	local_irq_save(flags);
	start->first_ns = ktime_get_ns() + div_u64((u64)hpet->period * start->tick_fs, 1000000);
	hpet->due = (s64)get(COUNTER) + hpet->period;
	start->first = hpet->due;
	put((u32)hpet->due, COMPARATOR_VALUE(hpet->comparator));
	put(configuration | HPET_TN_ENABLE, COMPARATOR_CONFIGURATION(hpet->comparator));
	local_irq_restore(flags);
}

static void howlate_hpet_give_comparator_back(struct howlate_hpet *hpet)
{
	fput(hpet->hpet);
	hpet->hpet = NULL;
}

static long howlate_hpet_begin(struct howlate_hpet *hpet, struct howlate_hpet_start *start)
{
	const u32 tick_fs = get(TICK_FS);
	u64 period;
	long error;

	if (hpet->ring.started)
		return -EBUSY; /* once for each open file */
	if (tick_fs < HPET_MIN_PERIOD || tick_fs > HPET_MAX_PERIOD)
		return -ENODEV;
	period = div_u64((u64)start->period_ns * 1000000, tick_fs);
	if (period < 2 * TICKS_AHEAD || period > TICKS_MOST)
		return -EINVAL;
	error = howlate_hpet_take_comparator(hpet, start);
	if (error)
		return error;
	error = howlate_ring_make_room(&hpet->ring, start->records);
	if (error)
		goto give_comparator_back;
	error = howlate_hpet_take_line(hpet);
	if (error)
		goto free;
	hpet->period = period;
	start->tick_fs = tick_fs;
	start->line = hpet->line;
	irq_set_affinity(hpet->irq, cpumask_of(raw_smp_processor_id()));
	howlate_ring_start(&hpet->ring);
	howlate_hpet_go(hpet, start);
	return 0;
free:
	howlate_ring_free(&hpet->ring);
give_comparator_back:
	howlate_hpet_give_comparator_back(hpet);
	return error;
}

static long howlate_hpet_start(struct howlate_hpet *hpet, void __user *from)
{
	struct howlate_hpet_start start;
	long error;

	if (copy_from_user(&start, from, sizeof(start)))
		return -EFAULT;
	if (start.version != HOWLATE_ABI_VERSION)
		return -EPROTONOSUPPORT;
	if (start.period_ns < HOWLATE_HPET_PERIOD_NS_MIN ||
	    start.period_ns > HOWLATE_HPET_PERIOD_NS_MAX ||
	    start.records > HOWLATE_IRQ_RECORDS_MAX)
		return -EINVAL;
	mutex_lock(&hpet->configuring);
	error = howlate_hpet_begin(hpet, &start);
	mutex_unlock(&hpet->configuring);
	if (error)
		return error;
	return copy_to_user(from, &start, sizeof(start)) ? -EFAULT : 0;
}

/* No handler runs after it; the chip's configuration is restored. */
static void howlate_hpet_end(struct howlate_hpet *hpet)
{
	mutex_lock(&hpet->configuring);
	if (hpet->ring.running) {
		put(get(COMPARATOR_CONFIGURATION(hpet->comparator)) & ~HPET_TN_ENABLE,
		    COMPARATOR_CONFIGURATION(hpet->comparator));
		put(BIT(hpet->comparator), STATUS);
		howlate_hpet_give_line_back(hpet);
		put(hpet->before, COMPARATOR_CONFIGURATION(hpet->comparator));
		howlate_hpet_give_comparator_back(hpet);
		howlate_ring_end(&hpet->ring);
	}
	mutex_unlock(&hpet->configuring);
}

static long howlate_hpet_ioctl(struct file *file, unsigned int request, unsigned long argument)
{
	struct howlate_hpet *hpet = file->private_data;

	switch (request) {
	case HOWLATE_HPET_START:
		return howlate_hpet_start(hpet, (void __user *)argument);
	case HOWLATE_IRQ_STOP:
		howlate_hpet_end(hpet);
		return 0;
	case HOWLATE_IRQ_ACCOUNT:
		return howlate_ring_tell(&hpet->ring, (void __user *)argument);
	default:
		return -ENOTTY;
	}
}

static int howlate_hpet_open(struct inode *inode, struct file *file)
{
	struct howlate_hpet *hpet;

	if (!capable(CAP_SYS_RAWIO))
		return -EPERM; /* a short period takes a CPU from everybody */
	hpet = kzalloc(sizeof(*hpet), GFP_KERNEL);
	if (!hpet)
		return -ENOMEM;
	howlate_ring_init(&hpet->ring);
	mutex_init(&hpet->configuring);
	file->private_data = hpet;
	return stream_open(inode, file);
}

static int howlate_hpet_release(struct inode *inode, struct file *file)
{
	struct howlate_hpet *hpet = file->private_data;

	howlate_hpet_end(hpet);
	howlate_ring_free(&hpet->ring);
	kfree(hpet);
	return 0;
}

static const struct file_operations howlate_hpet_operations = {
	.owner = THIS_MODULE,
	.open = howlate_hpet_open,
	.read = howlate_hpet_read,
	.unlocked_ioctl = howlate_hpet_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.release = howlate_hpet_release,
};

static struct miscdevice howlate_hpet_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = HOWLATE_HPET_MODULE,
	.fops = &howlate_hpet_operations,
	.mode = 0600,
};

static int __init howlate_hpet_init(void)
{
	struct acpi_table_header *header;
	phys_addr_t address;
	int error;

	if (ACPI_FAILURE(acpi_get_table(ACPI_SIG_HPET, 0, &header))) {
		pr_err(HOWLATE_HPET_MODULE ": this machine's firmware tells of no HPET\n");
		return -ENODEV;
	}
	address = ((struct acpi_table_hpet *)header)->address.address;
	acpi_put_table(header);
	registers = ioremap(address, HPET_MMAP_SIZE);
	if (!registers)
		return -ENOMEM;
	error = misc_register(&howlate_hpet_device);
	if (error)
		iounmap(registers);
	return error;
}
module_init(howlate_hpet_init);

static void __exit howlate_hpet_exit(void)
{
	misc_deregister(&howlate_hpet_device);
	iounmap(registers);
}
module_exit(howlate_hpet_exit);

MODULE_DESCRIPTION("howlate: how late the interrupt of a spare HPET comparator is handled");
MODULE_VERSION("2");
MODULE_LICENSE("GPL");
