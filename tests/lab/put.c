/*
 * A guest's program: writes a text into a file of the kernel's.
 *
 *   put /proc/xenomai/clock/coreclk "0i 0k 0u"
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	const int fd = argc == 3 ? open(argv[1], O_WRONLY) : -1;

	if (fd >= 0 && write(fd, argv[2], strlen(argv[2])) == (ssize_t)strlen(argv[2]))
		return 0;
	perror(argc > 1 ? argv[1] : "put FILE TEXT");
	return 1;
}
