/* What a guest's clocks count: instructions, each other, and the kernel's tick. Numbers in JSON. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "holding/turns.h"

static uint64_t tsc(void) {
	uint32_t low, high;
	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (uint64_t)high << 32 | low;
}

static uint64_t monotonic(void) {
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* The least that these turns take: no interrupt came. The compiler makes one function of it. */
__attribute__((noinline, noclone)) static uint64_t loop(uint64_t turns) {
	uint64_t least = UINT64_MAX;
	for (int i = 0; i < 50; ++i) {
		const uint64_t began = tsc();
		take_turns(turns);
		const uint64_t took = tsc() - began;
		if (took < least) least = took;
	}
	return least;
}

/* The number behind a word in a file, where `after` has come before it. */
static unsigned long long number(const char* path, const char* after, const char* word) {
	char line[512];
	int come = after == NULL;
	FILE* file = fopen(path, "r");
	while (file && fgets(line, sizeof line, file)) {
		const char* at = strstr(line, word);
		if (come && at) {
			fclose(file);
			return strtoull(at + strlen(word), NULL, 10);
		}
		if (!come && strstr(line, after)) come = 1;
	}
	if (file) fclose(file);
	return 0;
}

int main(void) {
	const uint64_t short_loop = loop(1000), long_loop = loop(51000);
	const unsigned long long ticks = number("/proc/interrupts", NULL, "LOC:");
	const uint64_t tsc_began = tsc(), began = monotonic();
	while (monotonic() - began < 2000000000)
		;
	const uint64_t ns = monotonic() - began, tsc_ns = tsc() - tsc_began;
	printf("{\"loop_ns\": %llu, \"ns\": %llu, \"tsc\": %llu, \"ticks\": %llu, \"apic_mult\": %llu}\n",
	       (unsigned long long)(long_loop - short_loop), (unsigned long long)ns, (unsigned long long)tsc_ns,
	       number("/proc/interrupts", NULL, "LOC:") - ticks,
	       number("/proc/timer_list", "Clock Event Device: lapic", "mult:"));
	return 0;
}
