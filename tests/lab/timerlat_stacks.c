/* The kernel's timerlat tracer in a guest: "on" starts it, with a stack for each latency above 100 us; "save" leaves its text. */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#define TRACING "/sys/kernel/tracing/"

static int put(const char *file, const char *text)
{
	int fd = open(file, O_WRONLY | O_TRUNC);
	int failed = fd < 0 || write(fd, text, strlen(text)) < 0;

	if (failed)
		perror(file);
	close(fd);
	return failed;
}

static int copy(const char *from, const char *to)
{
	static char page[1 << 16];
	int in = open(from, O_RDONLY);
	int out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	ssize_t size;

	while ((size = read(in, page, sizeof(page))) > 0)
		if (write(out, page, size) != size)
			size = -1;
	if (size < 0)
		perror(from);
	close(in);
	close(out);
	return size < 0;
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "on")) {
		if (mount("nodev", TRACING, "tracefs", 0, NULL) && errno != EBUSY)
			perror(TRACING);
		return put(TRACING "osnoise/timerlat_period_us", "1000") ||
		       put(TRACING "osnoise/stop_tracing_us", "0") ||
		       put(TRACING "osnoise/stop_tracing_total_us", "0") ||
		       put(TRACING "osnoise/print_stack", "100") || put(TRACING "buffer_size_kb", "8000") ||
		       put(TRACING "current_tracer", "timerlat") || put(TRACING "tracing_on", "1");
	}
	put(TRACING "tracing_on", "0");
	return copy(TRACING "trace", "trace");
}
