#include "job/disk.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "job/ext4.hpp"
#include "job/kernel_log.hpp"
#include "sys/file.hpp"

namespace howlate {
namespace {

Status write_file_system(const std::string& device) {
  const Fd file(::open(device.c_str(), O_RDWR | O_EXCL | O_CLOEXEC));
  if (!file.valid())
    return not_possible("cannot open the device " + device + ": " + errno_text(errno),
                        "Load the module that makes it before");
  std::uint64_t bytes = 0;
  if (::ioctl(file.get(), BLKGETSIZE64, &bytes) != 0) return not_possible(device + " is no block device");
  const Result<std::vector<Ext4Block>> blocks = make_ext4(bytes);
  if (!blocks) return blocks.error();
  for (const Ext4Block& block : *blocks)
    if (::pwrite(file.get(), block.data.data(), block.data.size(),
                 static_cast<off_t>(block.number * Ext4Block::bytes)) !=
        static_cast<ssize_t>(block.data.size()))
      return broken("cannot write to " + device + ": " + errno_text(errno));
  if (::fsync(file.get()) != 0) return broken("cannot write to " + device + ": " + errno_text(errno));
  return {};
}

}  // namespace

Status make_disk(const std::string& device, const std::string& folder) {
  if (const Status status = write_file_system(device); !status) return status;
  ::mkdir(folder.c_str(), 0755);
  KernelLog log;
  if (::mount(device.c_str(), folder.c_str(), "ext4", 0, "") == 0) return {};
  const int error = errno;
  const std::string said = log.last_text();
  return not_possible("cannot mount " + device + " on " + folder + ": " + errno_text(error) +
                          (said.empty() ? "" : "; the kernel's last word is '" + said + "'"),
                      "Load the module ext4 and what it needs before, crc32c among them");
}

}  // namespace howlate
