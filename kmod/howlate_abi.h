/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * What howlate's modules and its probe say to each other. Included by both sides; plain types of
 * the kernel's user interface, of the same size and order on 32 and 64 bits.
 *
 * A module refuses to start for a probe of another version (EPROTONOSUPPORT): nothing is read that
 * means something else.
 */
#ifndef HOWLATE_ABI_H
#define HOWLATE_ABI_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define HOWLATE_ABI_VERSION 1

#define HOWLATE_IRQ_MODULE "howlate_irq"
#define HOWLATE_IRQ_DEVICE "/dev/howlate_irq"

#define HOWLATE_IRQ_PERIOD_NS_MIN 10000LL
#define HOWLATE_IRQ_PERIOD_NS_MAX 3600000000000LL
#define HOWLATE_IRQ_RECORDS_MAX 1048576

/*
 * Asked for once for each open file. The interrupt comes on the CPU that the caller runs on. All
 * times are of CLOCK_MONOTONIC.
 */
struct howlate_irq_start {
	__u32 version; /* HOWLATE_ABI_VERSION */
	__u32 records; /* what can be held unread, rounded up to a power of two */
	__s64 first_ns; /* the first expiry; 0 is a period from now, and is told */
	__s64 period_ns;
	__u32 cpu; /* told: where the interrupt comes */
	__u32 reserved; /* 0 */
};

/* One interrupt, as read() gives them. */
struct howlate_irq_record {
	__u64 index; /* of the expiry: first_ns + index * period_ns */
	__s64 expiry_ns; /* when it was due */
	__s64 handler_ns; /* the handler's first time stamp */
	__u64 lost; /* records so far that found no room */
};

/* What became of the expiries: handled + missed were due. Of the handled, lost have no record. */
struct howlate_irq_account {
	__u64 handled; /* runs of the handler */
	__u64 missed; /* expiries that had passed when the handler of an earlier one ran */
	__u64 lost; /* handled, and no room for the record */
	__s64 latency_ns_max; /* handler_ns - expiry_ns of all that were handled, lost ones too */
	__u64 latency_max_index; /* of which expiry */
};

#define HOWLATE_IRQ_START _IOWR(0xB7, 0x01, struct howlate_irq_start)
/* No interrupt comes after it. Whoever waits in read() gets what is left, then 0 bytes. */
#define HOWLATE_IRQ_STOP _IO(0xB7, 0x02)
#define HOWLATE_IRQ_ACCOUNT _IOR(0xB7, 0x03, struct howlate_irq_account)

#endif
