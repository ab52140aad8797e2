#include "sys/mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "core/text.hpp"
#include "sys/file.hpp"

namespace howlate {

Result<MappedFile> MappedFile::open(const std::string& path) {
  // Without waiting: a pipe that nobody writes to is refused below.
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.valid())
    return usage_error(in_quotes(path) + " cannot be opened: " + errno_text(errno),
                       "name a file that can be read");
  struct stat status {};
  if (::fstat(file.get(), &status) != 0)
    return broken(in_quotes(path) + " cannot be looked at: " + errno_text(errno));
  if (!S_ISREG(status.st_mode))
    return usage_error(in_quotes(path) + " is not a regular file", "name the file of a stream");
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) return MappedFile({});
  void* const at = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (at == MAP_FAILED) return broken(in_quotes(path) + " cannot be mapped: " + errno_text(errno));
  return MappedFile({static_cast<const std::byte*>(at), size});
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace howlate
