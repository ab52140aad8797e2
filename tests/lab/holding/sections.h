/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a module's sections took by the kernel's clock, its own two readings included. It says so in
 * the kernel's log when it goes: "NAME: COUNT sections of WANTED ns took LEAST to MOST ns".
 */
#ifndef HOWLATE_SECTIONS_H
#define HOWLATE_SECTIONS_H

#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/printk.h>

#include "turns.h"

struct sections {
	u64 least, most;
	unsigned int count;
};

/* As many instructions as nanoseconds, of which a guest in virtual time executes one each. */
static inline void work_for_us(unsigned int us)
{
	take_turns(us * (NSEC_PER_USEC / TURN_INSTRUCTIONS));
}

static inline void note_section(struct sections *sections, u64 took)
{
	sections->least = sections->count ? min(sections->least, took) : took;
	sections->most = max(sections->most, took);
	sections->count++;
}

static inline void tell_sections(const char *name, const struct sections *sections, unsigned int us)
{
	pr_info("%s: %u sections of %llu ns took %llu to %llu ns\n", name, sections->count,
		us * (u64)NSEC_PER_USEC, sections->least, sections->most);
}

#endif
