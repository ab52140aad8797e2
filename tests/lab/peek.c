/* What a program sees of chance and of its host: entropy, addresses, times of day, inodes, the boot's id. */

#include <stdio.h>
#include <sys/auxv.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>

static void show(const unsigned char *bytes, int count)
{
	for (int i = 0; i < count; i++)
		printf("%02x", bytes[i]);
	puts("");
}

int main(void)
{
	unsigned char random[32];
	struct timespec now;
	struct stat self;
	char text[64];
	FILE *id;

	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		return 1;
	show(random, sizeof(random));
	show((const unsigned char *)getauxval(AT_RANDOM), 16);
	clock_gettime(CLOCK_REALTIME, &now);
	printf("%lld.%09ld\n", (long long)now.tv_sec, now.tv_nsec);
	clock_gettime(CLOCK_MONOTONIC, &now);
	printf("%lld.%09ld\n", (long long)now.tv_sec, now.tv_nsec);
	printf("%p %p\n", (void *)&now, (void *)main);
	stat("/proc/self/exe", &self);
	printf("%lu %ld\n", (unsigned long)self.st_ino, (long)self.st_mtime);
	id = fopen("/proc/sys/kernel/random/boot_id", "r");
	if (id && fgets(text, sizeof(text), id))
		fputs(text, stdout);
	return 0;
}
