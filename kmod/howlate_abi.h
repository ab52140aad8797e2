/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * The interface between howlate's modules and its probe. Included by both sides; plain types of
 * the kernel's user interface, of the same size and order on 32 and 64 bits.
 *
 * A module refuses to start for a probe of another version (EPROTONOSUPPORT), so that neither side
 * misinterprets the other's data.
 */
#ifndef HOWLATE_ABI_H
#define HOWLATE_ABI_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define HOWLATE_ABI_VERSION 5

#define HOWLATE_IRQ_MODULE "howlate_irq"
#define HOWLATE_IRQ_DEVICE "/dev/howlate_irq"

#define HOWLATE_IRQ_PERIOD_NS_MIN 10000LL
#define HOWLATE_IRQ_PERIOD_NS_MAX 3600000000000LL
#define HOWLATE_IRQ_RECORDS_MAX 1048576

/*
 * Called once for each open file. The interrupt comes on the CPU of the caller. All times are of
 * CLOCK_MONOTONIC.
 */
struct howlate_irq_start {
	__u32 version; /* HOWLATE_ABI_VERSION */
	__u32 records; /* what can be held unread, rounded up to a power of two */
	__s64 first_ns; /* the first expiry; 0: a period from now, returned here */
	__s64 period_ns;
	__u32 cpu; /* returned: the CPU of the interrupt */
	__u32 reserved; /* 0 */
};

/*
 * One interrupt, as read() returns it. Times are of the module's clock: nanoseconds of
 * CLOCK_MONOTONIC (howlate_irq), ticks of the HPET (howlate_hpet).
 */
struct howlate_irq_record {
	__u64 index; /* number of the expiry: the first + index * period */
	__s64 due; /* when it was due */
	__s64 handled; /* the handler's first time stamp */
	__u64 lost; /* records so far for which there was no room */
};

/* The account of the expiries: handled + missed were due. Of the handled, lost have no record. */
struct howlate_irq_account {
	__u64 handled; /* runs of the handler */
	__u64 missed; /* expiries that had passed when the handler of an earlier one ran */
	__u64 lost; /* handled, but there was no room for the record */
	__s64 latency_max; /* handled - due over all handled expiries, lost ones included */
	__u64 latency_max_index; /* the expiry of that maximum */
};

#define HOWLATE_IRQ_START _IOWR(0xB7, 0x01, struct howlate_irq_start)
/* No interrupt comes after it. A waiting read() returns what is left, then 0 bytes. */
#define HOWLATE_IRQ_STOP _IO(0xB7, 0x02)
#define HOWLATE_IRQ_ACCOUNT _IOR(0xB7, 0x03, struct howlate_irq_account)

/*
 * howlate_hpet: the same with a spare comparator of the HPET (x86), and the HPET's counter as the
 * clock. The kernel's own driver of /dev/hpet assigns a spare comparator: the user opens that
 * device, asks for the comparator's number, and passes both on. The comparator stays taken until
 * this device is closed. STOP, ACCOUNT and records are those of howlate_irq.
 */
#define HOWLATE_HPET_MODULE "howlate_hpet"
#define HOWLATE_HPET_DEVICE "/dev/howlate_hpet"

#define HOWLATE_HPET_PERIOD_NS_MIN 100000LL
#define HOWLATE_HPET_PERIOD_NS_MAX 10000000000LL

struct howlate_hpet_start {
	__u32 version; /* HOWLATE_ABI_VERSION */
	__u32 records; /* what can be held unread, rounded up to a power of two */
	__s64 period_ns; /* rounded to whole ticks */
	__s32 hpet; /* a descriptor of /dev/hpet */
	__u32 comparator; /* hi_timer of its HPET_INFO */
	__s64 first; /* returned: the first due time, in ticks; its lower half is the counter's */
	__s64 first_ns; /* returned: the same on CLOCK_MONOTONIC */
	__u32 tick_fs; /* returned: a tick in femtoseconds */
	__u32 line; /* returned: the input of the I/O APIC that it uses */
};

#define HOWLATE_HPET_START _IOWR(0xB7, 0x04, struct howlate_hpet_start)

/*
 * howlate_uio: devices of the kernel's own interface for user-space drivers, /dev/uio<n> of these
 * names (/sys/class/uio/uio<n>/name). Map 0 is shared memory: a struct howlate_uio_page, and from
 * HOWLATE_UIO_RECORDS_AT on a ring of HOWLATE_UIO_RECORDS records.
 *
 * The user fills in version and period and writes a 32-bit 1 to the device. A timer on the CPU of
 * the caller then raises the interrupt until a 0 is written or the device is closed. read(), poll()
 * are UIO's own. All times are of CLOCK_MONOTONIC. One open file at a time.
 */
#define HOWLATE_UIO_MODULE "howlate_uio"
#define HOWLATE_UIO_HRTIMER "howlate_hrtimer"
#define HOWLATE_UIO_EDU "howlate_edu"

#define HOWLATE_UIO_RECORDS 2048
#define HOWLATE_UIO_RECORDS_AT 4096

struct howlate_uio_page {
	__u32 version; /* given: HOWLATE_ABI_VERSION */
	__u32 written; /* records so far, of which the last HOWLATE_UIO_RECORDS are there */
	__s64 period_ns; /* given: HOWLATE_IRQ_PERIOD_NS_MIN to _MAX */
	__u64 due; /* returned after a stop: how many were due, handled or not */
};

/* One run of the driver's handler; number n of them is record n % HOWLATE_UIO_RECORDS. */
struct howlate_uio_record {
	__u64 index; /* of the expiry; missing ones came while another waited for the handler */
	__s64 due_ns; /* when the timer that raises the interrupt was due */
	__s64 raised_ns; /* just before the interrupt was raised */
	__s64 handler_ns; /* the handler's first time stamp */
};

/*
 * howlate_inject: delays of known size on chosen CPUs at chosen instants, for laboratories. LOAD
 * takes the list, START its origin; STOP ends it. Then read() returns one record for each delay, in
 * the list's order. One open file at a time.
 */
#define HOWLATE_INJECT_MODULE "howlate_inject"
#define HOWLATE_INJECT_DEVICE "/dev/howlate_inject"
/* The parameter of the module without which it refuses to load. */
#define HOWLATE_INJECT_ACCEPTED "accept_delays=1"

#define HOWLATE_INJECT_DELAYS_MAX 1048576
#define HOWLATE_INJECT_LENGTH_NS_MIN 1000LL
#define HOWLATE_INJECT_LENGTH_NS_MAX 10000000LL
#define HOWLATE_INJECT_ROUND_NS_MAX 10000000LL

enum howlate_inject_kind {
	HOWLATE_INJECT_IRQS_OFF, /* a kernel thread turns interrupts off */
	HOWLATE_INJECT_PREEMPT_OFF, /* a kernel thread turns preemption off */
	HOWLATE_INJECT_HARD_IRQ, /* a long handler of a timer, also under PREEMPT_RT */
	HOWLATE_INJECT_SOFTIRQ, /* a long tasklet */
	HOWLATE_INJECT_IPI_STORM, /* from another CPU; on the only CPU from itself */
	HOWLATE_INJECT_THREAD, /* a kernel thread, whose priority the user raises */
	HOWLATE_INJECT_MEMORY, /* a kernel thread allocates and frees pages */
	HOWLATE_INJECT_KINDS
};

/* One delay of the list, which is in the order of the beginnings. */
struct howlate_inject_delay {
	__s64 begin_ns; /* after START's origin */
	__s64 length_ns;
	__u32 kind;
	__u32 cpu;
};

struct howlate_inject_load {
	__u32 version; /* HOWLATE_ABI_VERSION */
	__u32 count;
	__u64 delays; /* the address of so many struct howlate_inject_delay */
	__s64 round_ns; /* of the turns in which a virtual machine's CPUs execute; 0: none */
};

/* The thread of HOWLATE_INJECT_THREAD on a CPU; between LOAD and STOP. */
struct howlate_inject_thread {
	__u32 cpu; /* given: one of the list */
	__s32 pid; /* returned: FIFO 50, until the user gives it another priority */
};

#define HOWLATE_INJECT_MADE 1U /* begin_ns and end_ns are valid */
#define HOWLATE_INJECT_SKIPPED 2U /* the one before it was still going on, or it came too late */
#define HOWLATE_INJECT_INTERRUPTED 4U /* within it the CPU was left to others (away_ns) */

struct howlate_inject_record {
	__s64 begin_ns; /* the first statement of what delays, on CLOCK_MONOTONIC */
	__s64 end_ns; /* its last */
	__s64 wanted_ns; /* the length asked for */
	__s64 away_ns; /* of an IPI storm: between its handlers, above AWAY_NS + round_ns */
	__u32 kind;
	__u32 cpu;
	__s32 pid; /* the task that delayed; 0: an interrupt or a softirq */
	__u32 state; /* HOWLATE_INJECT_MADE ...; 0: the end came before it */
};

#define HOWLATE_INJECT_LOAD _IOW(0xB7, 0x05, struct howlate_inject_load)
#define HOWLATE_INJECT_FIND_THREAD _IOWR(0xB7, 0x06, struct howlate_inject_thread)
#define HOWLATE_INJECT_START _IOW(0xB7, 0x07, __s64) /* the origin, on CLOCK_MONOTONIC */
#define HOWLATE_INJECT_STOP _IO(0xB7, 0x08)

/*
 * howlate_cobalt, howlate_evl: activations in a kernel thread, or in a timer's handler, of a
 * real-time core beside Linux. MAKE gives the open file memory for its releases, which is then
 * mapped: a struct howlate_core_page, and from HOWLATE_CORE_AT on one struct howlate_activation for
 * each. The user writes the releases in rising order; RUN begins, on the CPU of the caller. `done`
 * counts the releases that are over, from the first on. A release that passed while an earlier one
 * was served is served at once (backlog) or left out. STOP ends it; no activation comes after it.
 * Once a thread has ended, by itself or by STOP, `switches` is how often it left the core's stage.
 * RUN fails with ETIMEDOUT if the first release has passed, with ENODEV if the core does not run.
 * All times are of CLOCK_MONOTONIC.
 */
#define HOWLATE_COBALT_MODULE "howlate_cobalt"
#define HOWLATE_COBALT_DEVICE "/dev/howlate_cobalt"
#define HOWLATE_EVL_MODULE "howlate_evl"
#define HOWLATE_EVL_DEVICE "/dev/howlate_evl"

#define HOWLATE_CORE_RELEASES_MAX 2097152
#define HOWLATE_CORE_AT 4096

#define HOWLATE_CORE_THREAD 0
#define HOWLATE_CORE_HANDLER 1

struct howlate_core_page {
	__u64 done; /* releases that are over */
	__u64 ended; /* 1: nothing comes any more */
	__s64 switches; /* of the thread, to Linux's stage; -1: no thread, or not counted */
};

struct howlate_activation {
	__s64 release_ns; /* given */
	__s64 started_ns; /* first time stamp of the activation; 0: the release was left out */
};

struct howlate_core_make {
	__u32 version; /* HOWLATE_ABI_VERSION */
	__u32 releases; /* 1 to HOWLATE_CORE_RELEASES_MAX */
};

struct howlate_core_run {
	__u32 context; /* HOWLATE_CORE_THREAD, HOWLATE_CORE_HANDLER */
	__u32 priority; /* of the thread, 1 to 99 */
	__u32 backlog; /* 1: serve passed releases */
	__u32 reserved; /* 0 */
};

#define HOWLATE_CORE_MAKE _IOW(0xB7, 0x08, struct howlate_core_make)
#define HOWLATE_CORE_RUN _IOW(0xB7, 0x09, struct howlate_core_run)
#define HOWLATE_CORE_STOP _IO(0xB7, 0x0A)

#endif
