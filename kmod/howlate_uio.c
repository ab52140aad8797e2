// SPDX-License-Identifier: GPL-2.0-only
/*
 * howlate_uio: from a driver's interrupt handler in the kernel to its handler in user space.
 *
 * Two devices of the UIO framework (/dev/uio<n>). Their handler takes a time stamp, stores 32 bytes
 * into memory that it shares with the user, and lets UIO notify the task in read() or poll():
 *
 * howlate_hrtimer, always: a platform device with an interrupt line of its own, which a timer in
 * hard-interrupt context raises. The line passes the kernel's interrupt layer like any other.
 *
 * howlate_edu, for each of QEMU's PCI devices "edu": the same timer writes to the register that
 * makes the device raise its interrupt (MSI; INTx with the parameter intx); the handler
 * acknowledges it.
 *
 * The kernel chooses the context of the handler: hard-interrupt context, or with PREEMPT_RT or
 * threadirqs an interrupt thread. From 6.10 on UIO always notifies in a thread.
 *
 * Each record has three instants: when the timer was due, when it raised the interrupt, and the
 * handler's first time stamp. Interrupts that are off delay the timer itself, so their time lies
 * between the first two; the interrupt's own way, including the wake-up of a thread, lies between
 * the last two. Nothing here takes a sleeping lock, allocates or prints.
 */
#include <linux/bitops.h>
#include <linux/capability.h>
#include <linux/interrupt.h>
#include <linux/io.h>
#include <linux/irq.h>
#include <linux/irqdesc.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/platform_device.h>
#include <linux/slab.h>
#include <linux/uio_driver.h>
#include <linux/vmalloc.h>

#include "compat.h"
#include "howlate_abi.h"

#define HOWLATE_UIO_BYTES \
	PAGE_ALIGN(HOWLATE_UIO_RECORDS_AT + \
		   HOWLATE_UIO_RECORDS * sizeof(struct howlate_uio_record))

#define EDU_VENDOR 0x1234
#define EDU_DEVICE 0x11e8
#define EDU_STATUS 0x24 /* read: reasons for the interrupt */
#define EDU_RAISE 0x60 /* written: reasons to interrupt */
#define EDU_ACKNOWLEDGE 0x64 /* written: reasons that are served */

static bool intx;
module_param(intx, bool, 0444);
MODULE_PARM_DESC(intx, "edu interrupts by its line, not by message");

struct howlate_uio {
	struct uio_info info;
	struct hrtimer timer;
	ktime_t period;
	struct howlate_uio_page *page;
	struct howlate_uio_record *records;
	void __iomem *registers; /* edu's; NULL: the timer itself raises the line */
	unsigned long opened;
	bool running; /* under UIO's lock of the device, like all calls from user space */
	u64 due; /* written only by the timer */
	u32 written; /* written only by the handler; the user can write to the page */
	/* Raised and not yet taken: the timer fills it in, the handler empties it. */
	bool raised;
	u64 raised_index;
	s64 raised_due_ns;
	s64 raised_ns;
};

static enum hrtimer_restart howlate_uio_expired(struct hrtimer *timer)
{
	struct howlate_uio *uio = container_of(timer, struct howlate_uio, timer);
	const s64 due_ns = ktime_to_ns(hrtimer_get_expires(timer)); /* before it is forwarded */
	const u64 index = uio->due;

	uio->due += hrtimer_forward_now(timer, uio->period);
	/* The handler has taken the content. */
	if (!smp_load_acquire(&uio->raised)) {
		uio->raised_index = index;
		uio->raised_due_ns = due_ns;
		uio->raised_ns = ktime_get_ns();
		/* The content is complete before the handler sees it. */
		smp_store_release(&uio->raised, true);
	}
	if (uio->registers)
		iowrite32(1, uio->registers + EDU_RAISE);
	else
		generic_handle_irq(uio->info.irq);
	return HRTIMER_RESTART;
}

static bool howlate_uio_edu_is_it(struct howlate_uio *uio)
{
	const u32 why = ioread32(uio->registers + EDU_STATUS);

	if (why)
		iowrite32(why, uio->registers + EDU_ACKNOWLEDGE);
	return why;
}

static irqreturn_t howlate_uio_handler(int irq, struct uio_info *info)
{
	const s64 now_ns = ktime_get_ns();
	struct howlate_uio *uio = info->priv;
	struct howlate_uio_record *record = &uio->records[uio->written % HOWLATE_UIO_RECORDS];

	if (uio->registers && !howlate_uio_edu_is_it(uio))
		return IRQ_NONE;
	/* The content is read after this. */
	if (!smp_load_acquire(&uio->raised))
		return IRQ_HANDLED; /* the previous run has taken it */
	record->index = uio->raised_index;
	record->due_ns = uio->raised_due_ns;
	record->raised_ns = uio->raised_ns;
	record->handler_ns = now_ns;
	/* The timer may fill it in again. */
	smp_store_release(&uio->raised, false);
	/* The record is complete before the user sees it. */
	smp_store_release(&uio->page->written, ++uio->written);
	return IRQ_HANDLED;
}

static int howlate_uio_begin(struct howlate_uio *uio)
{
	const s64 period_ns = READ_ONCE(uio->page->period_ns);

	if (READ_ONCE(uio->page->version) != HOWLATE_ABI_VERSION)
		return -EPROTONOSUPPORT;
	if (period_ns < HOWLATE_IRQ_PERIOD_NS_MIN || period_ns > HOWLATE_IRQ_PERIOD_NS_MAX)
		return -EINVAL;
	if (uio->running)
		return -EBUSY;
	uio->period = ns_to_ktime(period_ns);
	uio->due = 0;
	uio->written = 0;
	uio->raised = false;
	WRITE_ONCE(uio->page->written, 0);
	uio->running = true;
	hrtimer_start(&uio->timer, ktime_add(ktime_get(), uio->period),
		      HRTIMER_MODE_ABS_PINNED_HARD);
	return 0;
}

/* No handler runs after it. */
static void howlate_uio_end(struct howlate_uio *uio)
{
	if (!uio->running)
		return;
	hrtimer_cancel(&uio->timer);
	synchronize_irq(uio->info.irq);
	WRITE_ONCE(uio->page->due, uio->due);
	uio->running = false;
}

static int howlate_uio_control(struct uio_info *info, s32 on)
{
	if (on)
		return howlate_uio_begin(info->priv);
	howlate_uio_end(info->priv);
	return 0;
}

static int howlate_uio_open(struct uio_info *info, struct inode *inode)
{
	struct howlate_uio *uio = info->priv;

	if (!capable(CAP_SYS_RAWIO))
		return -EPERM; /* a short period takes a CPU from everybody */
	return test_and_set_bit(0, &uio->opened) ? -EBUSY : 0;
}

static int howlate_uio_release(struct uio_info *info, struct inode *inode)
{
	struct howlate_uio *uio = info->priv;

	howlate_uio_end(uio);
	clear_bit(0, &uio->opened);
	return 0;
}

static struct howlate_uio *howlate_uio_made(const char *name, unsigned int irq)
{
	struct howlate_uio *uio = kzalloc(sizeof(*uio), GFP_KERNEL);

	if (!uio)
		return NULL;
	uio->page = vmalloc_user(HOWLATE_UIO_BYTES);
	if (!uio->page) {
		kfree(uio);
		return NULL;
	}
	uio->records = (void *)uio->page + HOWLATE_UIO_RECORDS_AT;
	hrtimer_setup(&uio->timer, howlate_uio_expired, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS_PINNED_HARD);
	uio->info.name = name;
	uio->info.version = "2";
	uio->info.priv = uio;
	uio->info.irq = irq;
	uio->info.handler = howlate_uio_handler;
	uio->info.irqcontrol = howlate_uio_control;
	uio->info.open = howlate_uio_open;
	uio->info.release = howlate_uio_release;
	uio->info.mem[0].name = "records";
	uio->info.mem[0].addr = (unsigned long)uio->page;
	uio->info.mem[0].size = HOWLATE_UIO_BYTES;
	uio->info.mem[0].memtype = UIO_MEM_VIRTUAL;
	return uio;
}

static void howlate_uio_free(struct howlate_uio *uio)
{
	vfree(uio->page); /* pages that are still mapped stay until they are not */
	kfree(uio);
}

/* UIO has stopped calling it; a file that is still open is no more than a name. */
static void howlate_uio_unregister(struct howlate_uio *uio)
{
	uio_unregister_device(&uio->info);
	hrtimer_cancel(&uio->timer);
}

#ifdef CONFIG_PCI

/*
 * A virtual machine that was saved and loaded has an edu that is new: QEMU does not save it. It has
 * to be told again where it is.
 */
static void howlate_uio_place(struct pci_dev *device)
{
	struct pci_bus_region region;

	pcibios_resource_to_bus(device->bus, &region, &device->resource[0]);
	pci_write_config_dword(device, PCI_BASE_ADDRESS_0, region.start);
}

static int howlate_uio_request(struct pci_dev *device)
{
	int error;

	howlate_uio_place(device);
	error = pci_enable_device(device);
	if (error)
		return error;
	error = pci_request_region(device, 0, HOWLATE_UIO_MODULE);
	if (error)
		goto disable;
	pci_set_master(device); /* a message is a write */
	error = pci_alloc_irq_vectors(device, 1, 1,
				      intx ? PCI_IRQ_ALL_TYPES & ~(PCI_IRQ_MSI | PCI_IRQ_MSIX) :
					     PCI_IRQ_MSI);
	if (error > 0)
		return 0;
	pci_release_region(device, 0);
disable:
	pci_disable_device(device);
	return error;
}

static void howlate_uio_give_back(struct pci_dev *device)
{
	pci_free_irq_vectors(device);
	pci_release_region(device, 0);
	pci_disable_device(device);
}

static int howlate_uio_probe(struct pci_dev *device, const struct pci_device_id *id)
{
	struct howlate_uio *uio;
	int error = howlate_uio_request(device);

	if (error)
		return error;
	error = -ENOMEM;
	uio = howlate_uio_made(HOWLATE_UIO_EDU, pci_irq_vector(device, 0));
	if (!uio)
		goto give_back;
	uio->info.irq_flags = intx ? IRQF_SHARED : 0;
	uio->registers = pci_ioremap_bar(device, 0);
	if (!uio->registers)
		goto free;
	iowrite32(~0, uio->registers + EDU_ACKNOWLEDGE);
	error = uio_register_device(&device->dev, &uio->info);
	if (error)
		goto unmap;
	pci_set_drvdata(device, uio);
	return 0;
unmap:
	iounmap(uio->registers);
free:
	howlate_uio_free(uio);
give_back:
	howlate_uio_give_back(device);
	return error;
}

static void howlate_uio_remove(struct pci_dev *device)
{
	struct howlate_uio *uio = pci_get_drvdata(device);

	howlate_uio_unregister(uio);
	iounmap(uio->registers);
	howlate_uio_free(uio);
	howlate_uio_give_back(device);
}

/* Not in the module's table: nothing loads it by itself. */
static const struct pci_device_id howlate_uio_ids[] = {
	{ PCI_DEVICE(EDU_VENDOR, EDU_DEVICE) },
	{ }
};

static struct pci_driver howlate_uio_edu = {
	.name = HOWLATE_UIO_EDU,
	.id_table = howlate_uio_ids,
	.probe = howlate_uio_probe,
	.remove = howlate_uio_remove,
};

static int howlate_uio_add_edu(void)
{
	return pci_register_driver(&howlate_uio_edu);
}

static void howlate_uio_remove_edu(void)
{
	pci_unregister_driver(&howlate_uio_edu);
}

#else

static int howlate_uio_add_edu(void)
{
	return 0;
}

static void howlate_uio_remove_edu(void)
{
}

#endif

static struct platform_device *howlate_uio_platform;
static struct howlate_uio *howlate_uio_hrtimer;

/* A line that nothing raises but the timer. Nobody owns it: an owner is held by its own handler. */
static int howlate_uio_line(void)
{
	const int irq = __irq_alloc_descs(-1, 1, 1, NUMA_NO_NODE, NULL, NULL);

	if (irq < 0)
		return irq;
	irq_set_chip_and_handler(irq, &dummy_irq_chip, handle_simple_irq);
	irq_modify_status(irq, IRQ_NOREQUEST | IRQ_NOAUTOEN, IRQ_NOPROBE);
	return irq;
}

static int howlate_uio_add_hrtimer(void)
{
	int error, irq = howlate_uio_line();

	if (irq < 0)
		return irq;
	error = -ENOMEM;
	howlate_uio_hrtimer = howlate_uio_made(HOWLATE_UIO_HRTIMER, irq);
	if (!howlate_uio_hrtimer)
		goto free_line;
	howlate_uio_platform =
		platform_device_register_simple(HOWLATE_UIO_MODULE, PLATFORM_DEVID_NONE, NULL, 0);
	error = PTR_ERR_OR_ZERO(howlate_uio_platform);
	if (error)
		goto free;
	error = uio_register_device(&howlate_uio_platform->dev, &howlate_uio_hrtimer->info);
	if (!error)
		return 0;
	platform_device_unregister(howlate_uio_platform);
free:
	howlate_uio_free(howlate_uio_hrtimer);
free_line:
	irq_free_desc(irq);
	return error;
}

static void howlate_uio_remove_hrtimer(void)
{
	const unsigned int irq = howlate_uio_hrtimer->info.irq;

	howlate_uio_unregister(howlate_uio_hrtimer);
	platform_device_unregister(howlate_uio_platform);
	howlate_uio_free(howlate_uio_hrtimer);
	irq_free_desc(irq);
}

static int __init howlate_uio_init(void)
{
	int error = howlate_uio_add_hrtimer();

	if (error)
		return error;
	error = howlate_uio_add_edu();
	if (error)
		howlate_uio_remove_hrtimer();
	return error;
}
module_init(howlate_uio_init);

static void __exit howlate_uio_exit(void)
{
	howlate_uio_remove_edu();
	howlate_uio_remove_hrtimer();
}
module_exit(howlate_uio_exit);

MODULE_DESCRIPTION("howlate: from an interrupt's handler to its handler in user space");
MODULE_VERSION("2");
MODULE_LICENSE("GPL");
