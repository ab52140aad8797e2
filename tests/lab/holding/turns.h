/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Work of a known number of instructions, in modules and in programs: a loop that no compiler
 * makes, and so none changes. In virtual time it takes as many nanoseconds.
 */
#ifndef HOWLATE_TURNS_H
#define HOWLATE_TURNS_H

#define TURN_INSTRUCTIONS 2

static inline void take_turns(unsigned long turns)
{
	if (!turns)
		return;
#if defined(__x86_64__)
	__asm__ __volatile__("1: dec %0; jnz 1b" : "+r"(turns) : : "cc");
#elif defined(__aarch64__)
	__asm__ __volatile__("1: subs %0, %0, #1; b.ne 1b" : "+r"(turns) : : "cc");
#else
#error "no loop of known instructions for this architecture"
#endif
}

#endif
