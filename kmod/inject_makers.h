/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What makes the delays of howlate_inject: a timer for each CPU, and by kind its handler, a
 * tasklet, interrupts between CPUs, or one of two threads. Each reads the clock as its first and
 * its last statement within the delay.
 */
#ifndef HOWLATE_INJECT_MAKERS_H
#define HOWLATE_INJECT_MAKERS_H

#include <linux/gfp.h>
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/irq_work.h>
#include <linux/kthread.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/smp.h>

#include "howlate_abi.h"

#define PIECE_NS 10000 /* of an IPI storm: how long each handler takes */
#define AWAY_NS 5000 /* between two handlers of a storm no more passes by itself, but a round */
#define CALLS 8 /* that another CPU keeps under way */
#define PAGES 16 /* that are held at most */
#define ORDERS 4 /* pages come as 1, 2, 4 and 8 */

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
	s64 round_ns; /* so long may the other CPUs of a virtual machine have their turns */
	bool started, stopped;
	struct howlate_runner *runners[]; /* nr_cpu_ids */
};

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
	/* Behind it are the record's last stores. */
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
static bool storm_piece(struct howlate_runner *runner)
{
	const s64 now = ktime_get_ns();
	struct howlate_inject_record *record = runner->record;
	s64 until;

	if (!(record->state & HOWLATE_INJECT_MADE)) {
		record->begin_ns = now;
		record->state |= HOWLATE_INJECT_MADE;
	} else if (now - record->end_ns > AWAY_NS + runner->inject->round_ns) {
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

	storm_piece(runner);
	atomic_dec(&runner->under_way);
}

static void worked(struct irq_work *work)
{
	struct howlate_runner *runner = container_of(work, struct howlate_runner, work);

	if (storm_piece(runner))
		irq_work_queue(work);
	else
		is_free(&runner->record);
}

/* ---- the timer */

/* Whether what makes this kind of delay still makes the one before. */
static bool is_busy(const struct howlate_runner *runner)
{
	const struct howlate_inject_record *low, *high, *own;

	/* If it is free, the record of the one before is complete. */
	low = smp_load_acquire(&runner->low.record);
	/* The same. */
	high = smp_load_acquire(&runner->high.record);
	/* The same. */
	own = smp_load_acquire(&runner->record);
	return low || high || own;
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
	const s64 due = inject->origin + delay->begin_ns;

	if (is_busy(runner) || now >= due + delay->length_ns)
		record->state |= HOWLATE_INJECT_SKIPPED;
	else if (record->kind == HOWLATE_INJECT_HARD_IRQ)
		note(record, now, spin_until(now + record->wanted_ns), 0);
	else
		hand_on(runner, record);
	if (++runner->next == runner->count)
		return HRTIMER_NORESTART;
	delay = &inject->delays[runner->list[runner->next]];
	hrtimer_set_expires(timer, ns_to_ktime(inject->origin + delay->begin_ns));
	return HRTIMER_RESTART;
}

#endif
