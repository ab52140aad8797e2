#include "job/tree.hpp"

#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>

#include "core/stream.hpp"
#include "sys/file.hpp"
#include "sys/mapped_file.hpp"

namespace howlate {
namespace {

constexpr std::size_t alignment = 8;

void put_little(std::span<std::byte> place, std::uint64_t number) {
  for (std::byte& one : place) {
    one = static_cast<std::byte>(number & 0xffU);
    number >>= 8U;
  }
}

Status gather(const std::string& folder, const std::string& prefix, std::vector<std::string>& names) {
  const OpenFolder open(::opendir((folder + '/' + prefix).c_str()));
  if (!open) return broken("cannot list " + folder + '/' + prefix + ": " + errno_text(errno));
  while (const struct dirent* const entry = ::readdir(open.get())) {
    const std::string name = entry->d_name;
    if (name == "." || name == "..") continue;
    struct stat info {};
    if (::lstat((folder + '/' + prefix + name).c_str(), &info) != 0) continue;
    if (S_ISREG(info.st_mode)) names.push_back(prefix + name);
    if (S_ISDIR(info.st_mode))
      if (const Status status = gather(folder, prefix + name + '/', names); !status) return status;
  }
  return {};
}

}  // namespace

bool TreeWriter::put(std::span<const std::byte> bytes) {
  if (bytes.empty()) return true;
  if (!take_(bytes)) return false;
  crc_ = crc32c(bytes, crc_);
  size_ += bytes.size();
  return true;
}

bool TreeWriter::put_padded(std::span<const std::byte> bytes) {
  static constexpr std::array<std::byte, alignment> zeros{};
  const std::size_t over = bytes.size() % alignment;
  return put(bytes) && (over == 0 || put(std::span(zeros).first(alignment - over)));
}

bool TreeWriter::add(std::string_view name, std::span<const std::byte> data) {
  std::array<std::byte, 16> head{};
  put_little(std::span(head).subspan(0, 4), name.size());
  put_little(std::span(head).subspan(4, 4), crc32c(data));
  put_little(std::span(head).subspan(8, 8), data.size());
  return put(head) && put_padded(std::as_bytes(std::span(name))) && put_padded(data);
}

Result<std::vector<std::string>> files_below(const std::string& folder) {
  std::vector<std::string> names;
  if (const Status status = gather(folder, "", names); !status) return status.error();
  std::sort(names.begin(), names.end());
  return names;
}

Status pack_folder(const std::string& folder, TreeWriter& writer) {
  const Result<std::vector<std::string>> names = files_below(folder);
  if (!names) return names.error();
  for (const std::string& name : *names) {
    const Result<MappedFile> file = MappedFile::open(folder + '/' + name);
    if (!file) return file.error();
    if (!writer.add(name, file->bytes()))
      return not_possible("the result does not fit: no room for " + name + " of " +
                              std::to_string(file->bytes().size()) + " bytes after " +
                              std::to_string(writer.size()) + " bytes",
                          "Measure less in one job");
  }
  return {};
}

}  // namespace howlate
