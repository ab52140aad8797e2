/* Has the guest's kernel crash. */

#include <fcntl.h>
#include <unistd.h>

int main(void)
{
	return write(open("/proc/sysrq-trigger", O_WRONLY), "c", 1) == 1 ? 0 : 1;
}
