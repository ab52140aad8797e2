/* The kernel's own tracer of functions in a guest: "on" starts it; "save" leaves what its buffer keeps, and which functions it sees. */

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
	int in = open(from, O_RDONLY | O_NONBLOCK);
	int out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	ssize_t size;

	while ((size = read(in, page, sizeof(page))) > 0)
		if (write(out, page, size) != size)
			size = -1;
	if (size < 0 && errno != EAGAIN)
		perror(from);
	close(in);
	close(out);
	return size < 0 && errno != EAGAIN;
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "on")) {
		if (mount("nodev", TRACING, "tracefs", 0, NULL) && errno != EBUSY)
			perror(TRACING);
		return put(TRACING "tracing_on", "0") || put(TRACING "buffer_size_kb", "48000") ||
		       put(TRACING "current_tracer", "function_graph") || put(TRACING "tracing_on", "1");
	}
	put(TRACING "tracing_on", "0");
	return copy(TRACING "available_filter_functions", "functions") ||
	       copy(TRACING "events/ftrace/funcgraph_entry/format", "entry") ||
	       copy(TRACING "events/ftrace/funcgraph_exit/format", "exit") ||
	       copy(TRACING "per_cpu/cpu0/trace_pipe_raw", "events");
}
