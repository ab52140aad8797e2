#include "job/mounts.hpp"

#include <fcntl.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include "sys/file.hpp"

namespace howlate {
namespace {

struct Mount {
  const char* type;
  const char* folder;
  const char* data;
  bool needed;
};

constexpr Mount table[] = {
    {"proc", "/proc", "", true},
    {"sysfs", "/sys", "", true},
    {"devtmpfs", "/dev", "", true},
    {"tmpfs", "/dev/shm", "mode=1777", true},
    {"devpts", "/dev/pts", "", false},
    {"tmpfs", "/tmp", "mode=1777", true},
    {"tmpfs", "/run", "mode=0755", true},
    {"tmpfs", "/out", "mode=0755", true},
    {"tracefs", "/sys/kernel/tracing", "", false},
    {"debugfs", "/sys/kernel/debug", "", false},
    {"cgroup2", "/sys/fs/cgroup", "", false},
};

Status mount_one(const Mount& one) {
  ::mkdir(one.folder, 0755);  // below /sys it is there, or the kernel does not have what belongs there
  if (::mount(one.type, one.folder, one.type, 0, one.data) == 0 || errno == EBUSY || !one.needed) return {};
  return not_possible(
      "cannot mount " + std::string(one.type) + " on " + one.folder + ": " + errno_text(errno),
      "The kernel has to have it built in");
}

}  // namespace

Status mount_all() {
  ::umask(0);
  for (const char* folder : {"/var", "/var/tmp", "/lib", "/lib/modules"}) ::mkdir(folder, 0755);
  for (const Mount& one : table)
    if (const Status status = mount_one(one); !status) return status;
  ::umask(022);
  return {};
}

Status take_standard_place() {
  const Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!null.valid()) return broken("cannot open /dev/null: " + errno_text(errno));
  for (int place = STDIN_FILENO; place <= STDERR_FILENO; ++place)
    if (null.get() != place) ::dup2(null.get(), place);
  if (null.get() <= STDERR_FILENO) ::fcntl(null.get(), F_SETFD, 0);
  ::clearenv();
  ::setenv("PATH", "/usr/bin:/bin:/usr/sbin:/sbin", 1);
  ::setenv("HOME", "/", 1);
  return {};
}

void loopback_up() {
  const Fd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket.valid()) return;
  struct ifreq request {};
  std::strncpy(request.ifr_name, "lo", sizeof request.ifr_name - 1);
  if (::ioctl(socket.get(), SIOCGIFFLAGS, &request) != 0) return;
  request.ifr_flags = static_cast<short>(request.ifr_flags | IFF_UP);
  ::ioctl(socket.get(), SIOCSIFFLAGS, &request);
}

void allow_threads() {
  // Where it is refused, the test that needs more says so.
  (void)write_text("/proc/sys/kernel/threads-max", "16384");
}

}  // namespace howlate
