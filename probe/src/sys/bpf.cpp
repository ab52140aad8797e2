// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
#include "sys/bpf.hpp"

#include <linux/bpf.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "sys/rights.hpp"

namespace howlate {

namespace {

static_assert(sizeof(BpfInstruction) == sizeof(bpf_insn));

// Only such programs may read the structures of the kernel. They are made in trace/bpf_program.cpp, under this licence too.
constexpr const char* licence = "GPL v2";

long call(int command, bpf_attr& attr) {
  return ::syscall(SYS_bpf, command, &attr, sizeof attr);
}

Error refused(const std::string& what, int error) {
  return not_possible(what + ": " + errno_text(error), error == EPERM ? remedy_of_root() : "");
}

std::uint64_t address(const void* at) {
  return reinterpret_cast<std::uintptr_t>(at);
}

// The last line that says something: behind it come counts of instructions.
std::string verdict_in(std::string_view log) {
  std::string verdict;
  while (!log.empty()) {
    const std::size_t end = log.find('\n');
    const std::string_view line = log.substr(0, end);
    if (!line.empty() && !line.starts_with("processed ") && line.find('\0') == std::string_view::npos)
      verdict = line;
    if (end == std::string_view::npos) break;
    log.remove_prefix(end + 1);
  }
  return verdict;
}

}  // namespace

Result<BpfArray> BpfArray::make(std::uint32_t entries, std::uint32_t entry_bytes) {
  bpf_attr attr{};
  attr.map_type = BPF_MAP_TYPE_ARRAY;
  attr.key_size = sizeof(std::uint32_t);
  attr.value_size = entry_bytes;
  attr.max_entries = entries;
  attr.map_flags = BPF_F_MMAPABLE;
  Fd fd(static_cast<int>(call(BPF_MAP_CREATE, attr)));
  if (!fd.valid()) return refused("the kernel makes no BPF map", errno);
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t bytes = (std::size_t{entries} * entry_bytes + page - 1) / page * page;
  void* const at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (at == MAP_FAILED) return refused("a BPF map cannot be mapped", errno);
  return BpfArray(std::move(fd), at, bytes);
}

BpfArray::~BpfArray() {
  if (at_ != nullptr) ::munmap(at_, bytes_);
}

Result<Fd> load_bpf(const std::string& name, std::span<const BpfInstruction> code, std::uint32_t tracepoint) {
  bpf_attr attr{};
  attr.prog_type = BPF_PROG_TYPE_TRACING;
  attr.expected_attach_type = BPF_TRACE_RAW_TP;
  attr.attach_btf_id = tracepoint;
  attr.insns = address(code.data());
  attr.insn_cnt = static_cast<std::uint32_t>(code.size());
  attr.license = address(licence);
  std::strncpy(attr.prog_name, name.c_str(), sizeof attr.prog_name - 1);
  Fd fd(static_cast<int>(call(BPF_PROG_LOAD, attr)));
  if (fd.valid()) return fd;
  const int error = errno;
  const std::string what = "the kernel takes no BPF program for " + name;
  std::vector<char> log(std::size_t{1} << 18U);
  attr.log_level = 1;
  attr.log_buf = address(log.data());
  attr.log_size = static_cast<std::uint32_t>(log.size());
  fd = Fd(static_cast<int>(call(BPF_PROG_LOAD, attr)));
  if (fd.valid()) return fd;
  log.back() = '\0';
  const std::string verdict = verdict_in(log.data());
  Error why = refused(what, error);
  if (!verdict.empty()) why.message += " (" + verdict + ")";
  return why;
}

Result<Fd> attach_bpf(const Fd& program) {
  bpf_attr attr{};
  attr.raw_tracepoint.prog_fd = static_cast<std::uint32_t>(program.get());
  Fd fd(static_cast<int>(call(BPF_RAW_TRACEPOINT_OPEN, attr)));
  if (!fd.valid()) return refused("a BPF program cannot be attached", errno);
  return fd;
}

std::int64_t bpf_misses(const Fd& program) {
  bpf_prog_info info{};
  bpf_attr attr{};
  attr.info.bpf_fd = static_cast<std::uint32_t>(program.get());
  attr.info.info_len = sizeof info;
  attr.info.info = address(&info);
  if (call(BPF_OBJ_GET_INFO_BY_FD, attr) != 0) return 0;
  return static_cast<std::int64_t>(info.recursion_misses);
}

}  // namespace howlate
