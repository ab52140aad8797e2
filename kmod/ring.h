/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A ring of interrupt records, from a handler in hard-interrupt context to one waiting reader at a
 * time, with an account of the records for which there was no room. One for each open file.
 */
#ifndef HOWLATE_RING_H
#define HOWLATE_RING_H

#include <linux/fs.h>
#include <linux/log2.h>
#include <linux/mutex.h>
#include <linux/rcuwait.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "howlate_abi.h"

struct howlate_ring {
	struct rcuwait reader;
	struct howlate_irq_record *records;
	u32 mask;
	u32 written; /* written only by the handler */
	u32 taken; /* written only by the reader */
	struct howlate_irq_account account; /* written only by the handler */
	bool started; /* once, and for good */
	bool running;
	struct mutex reading; /* one reader at a time */
};

static inline void howlate_ring_init(struct howlate_ring *ring)
{
	ring->account.latency_max = S64_MIN;
	rcuwait_init(&ring->reader);
	mutex_init(&ring->reading);
}

static inline int howlate_ring_make_room(struct howlate_ring *ring, u32 wanted)
{
	const u32 records = roundup_pow_of_two(max_t(u32, wanted, 2));

	ring->records = vzalloc(array_size(records, sizeof(*ring->records)));
	if (!ring->records)
		return -ENOMEM;
	ring->mask = records - 1;
	return 0;
}

static inline void howlate_ring_free(struct howlate_ring *ring)
{
	vfree(ring->records);
	ring->records = NULL;
}

/* From now on the reader can wait for records. */
static inline void howlate_ring_start(struct howlate_ring *ring)
{
	ring->running = true;
	/* A reader that sees `started` finds the rest initialised. */
	smp_store_release(&ring->started, true);
}

/* The handler calls this once a run, after its time stamp; missed expiries and wake-up follow. */
static inline void howlate_ring_put(struct howlate_ring *ring, s64 due, s64 handled)
{
	struct howlate_irq_account *account = &ring->account;
	const u64 index = account->handled + account->missed;
	const u32 written = ring->written;

	if (handled - due > account->latency_max) {
		account->latency_max = handled - due;
		account->latency_max_index = index;
	}
	/* The reader has copied the records that it released. */
	if (written - smp_load_acquire(&ring->taken) <= ring->mask) {
		struct howlate_irq_record *record = &ring->records[written & ring->mask];

		record->index = index;
		record->due = due;
		record->handled = handled;
		record->lost = account->lost;
		/* The record is complete before the reader sees it. */
		smp_store_release(&ring->written, written + 1);
	} else {
		account->lost++;
	}
	account->handled++;
}

static inline void howlate_ring_missed(struct howlate_ring *ring, u64 missed)
{
	ring->account.missed += missed;
}

static inline void howlate_ring_wake(struct howlate_ring *ring)
{
	rcuwait_wake_up(&ring->reader);
}

/* After the last run of the handler: a waiting reader gets what is left. */
static inline void howlate_ring_end(struct howlate_ring *ring)
{
	WRITE_ONCE(ring->running, false);
	howlate_ring_wake(ring);
}

static inline bool howlate_ring_has_more(struct howlate_ring *ring)
{
	/* The record's content is read after this. */
	return smp_load_acquire(&ring->written) != ring->taken;
}

/* Copies at most `room` whole records; returns how many, or a negative error. */
static inline ssize_t howlate_ring_take(struct howlate_ring *ring, char __user *to, size_t room)
{
	/* The records' content is read after this. */
	const u32 there = smp_load_acquire(&ring->written) - ring->taken;
	const u32 count = min_t(size_t, there, room);
	const u32 from = ring->taken & ring->mask;
	const u32 first = min_t(u32, count, ring->mask + 1 - from);
	const size_t bytes = first * sizeof(*ring->records);

	if (copy_to_user(to, &ring->records[from], bytes) ||
	    copy_to_user(to + bytes, ring->records, (count - first) * sizeof(*ring->records)))
		return -EFAULT;
	/* The handler may reuse their room only after they have been copied. */
	smp_store_release(&ring->taken, ring->taken + count);
	return count;
}

/* read() of the device. */
static inline ssize_t howlate_ring_read(struct howlate_ring *ring, struct file *file,
					char __user *to, size_t size)
{
	ssize_t done;

	if (size < sizeof(*ring->records))
		return -EINVAL;
	if (mutex_lock_interruptible(&ring->reading))
		return -ERESTARTSYS;
	/* A reader that sees `started` also sees records and mask. */
	if (!smp_load_acquire(&ring->started)) {
		done = -ENODATA;
	} else if (!howlate_ring_has_more(ring) && (file->f_flags & O_NONBLOCK)) {
		done = READ_ONCE(ring->running) ? -EAGAIN : 0;
	} else {
		done = rcuwait_wait_event(&ring->reader,
					  howlate_ring_has_more(ring) || !READ_ONCE(ring->running),
					  TASK_INTERRUPTIBLE);
		if (done)
			done = -ERESTARTSYS;
		else
			done = howlate_ring_take(ring, to, size / sizeof(*ring->records));
	}
	mutex_unlock(&ring->reading);
	return done > 0 ? done * (ssize_t)sizeof(*ring->records) : done;
}

/* While interrupts come, some values may be newer than others; after a stop they are consistent. */
static inline long howlate_ring_tell(struct howlate_ring *ring, void __user *to)
{
	const struct howlate_irq_account account = {
		.handled = READ_ONCE(ring->account.handled),
		.missed = READ_ONCE(ring->account.missed),
		.lost = READ_ONCE(ring->account.lost),
		.latency_max = READ_ONCE(ring->account.latency_max),
		.latency_max_index = READ_ONCE(ring->account.latency_max_index),
	};

	return copy_to_user(to, &account, sizeof(account)) ? -EFAULT : 0;
}

#endif
