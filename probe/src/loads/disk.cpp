// disk: writes at a given rate into a bounded file and syncs what it wrote.
//
// The file has no name from the moment it is opened (O_TMPFILE; where the file system lacks it, it is unlinked at once), so
// nothing is left behind however the load ends. It is written whole before the load is ready, for ten seconds at most, since a file that
// grows costs the kernel something else than one that is overwritten; then from the beginning again. A write is `block`
// bytes; after each `sync` bytes there is one fsync(). The rate is kept over the life of the load, a second's worth of
// arrears at most is made up for; with `max` the next write begins as soon as the last one is done. CPU time is the worker's own: what the kernel's writeback and block threads use is not in it.
// Disturbs: page cache, file system, block layer, the device's interrupts.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string>
#include <vector>

#include "loads/base/figures.hpp"
#include "loads/load.hpp"
#include "sys/clock.hpp"
#include "sys/file.hpp"
#include "sys/root.hpp"

namespace howlate {
namespace {

constexpr std::int64_t mib = 1024 * 1024;
// What is always left free on the file system, beside the file itself.
constexpr std::int64_t margin_bytes = 64 * mib;

constexpr ParamSpec options[] = {
    {"size", ParamType::bytes, "64MiB", "B", "",
     "of the file, which is written once before the load is ready and then again from its beginning"},
    {"directory", ParamType::text, "", "", "", "the folder for the file; by default $TMPDIR, else /var/tmp"},
    {"block", ParamType::bytes, "64KiB", "B", "", "size of a write"},
    {"sync", ParamType::bytes, "1MiB", "B", "", "bytes between two calls of fsync"},
    {"device", ParamType::choice, "auto", "", "auto|null_blk",
     "null_blk: in a guest of the lab, onto a device whose requests complete by an interrupt"},
};

// A request to the null_blk is complete 100 us after it was made, by a timer's interrupt: about what a fast SSD takes.
constexpr Need modules[] = {
    {.name = "ext4"},
    {"brd", "device", "auto", "rd_nr=1 rd_size=196608"},
    {"null_blk", "device", "null_blk",
     "nr_devices=1 gb=1 bs=4096 queue_mode=2 irqmode=2 completion_nsec=100000 memory_backed=1"}};
constexpr Need config[] = {
    {"BLOCK"}, {"EXT4_FS"}, {"BLK_DEV_RAM", "device", "auto"}, {"BLK_DEV_NULL_BLK", "device", "null_blk"}};
constexpr Need disks[] = {{"/dev/ram0", "device", "auto"}, {"/dev/nullb0", "device", "null_blk"}};

enum Figure : std::size_t {
  bytes_written,
  fsyncs,
  fsync_sum_ns,
  fsync_min_ns,
  fsync_max_ns,
  full,
  file_bytes
};
constexpr Times fsync_times = {fsyncs, fsync_sum_ns, fsync_min_ns, fsync_max_ns};

bool at_most(const Params& params) {
  return params.text("target") == "max";
}

std::string directory_of(const Params& params) {
  if (!params.text("directory").empty()) return params.text("directory");
  const char* given = std::getenv("TMPDIR");
  return given != nullptr && *given != '\0' ? given : "/var/tmp";
}

// For ordinary users, so that the reserve of root stays.
std::int64_t free_bytes(int fd) {
  struct statvfs now {};
  if (::fstatvfs(fd, &now) != 0) return 0;
  return static_cast<std::int64_t>(now.f_bavail) * static_cast<std::int64_t>(now.f_frsize);
}

Result<Fd> open_nameless(const std::string& directory) {
  Fd fd(::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (fd.valid()) return fd;
  if (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL || errno == ENOSYS) {
    std::string path = directory + "/.howlate-disk-XXXXXX";
    fd = Fd(::mkostemp(path.data(), O_CLOEXEC));
    if (fd.valid()) {
      ::unlink(path.c_str());
      return fd;
    }
  }
  return not_possible("cannot make a file in " + directory + ": " + errno_text(errno),
                      "name another with --directory");
}

Status check_room(const Fd& fd, std::int64_t size, const std::string& directory) {
  const std::int64_t room = free_bytes(fd.get()) - margin_bytes;
  if (size <= room) return {};
  return not_possible("a file of " + std::to_string(size / mib) + " MiB would leave less than " +
                          std::to_string(margin_bytes / mib) + " MiB free in " + directory,
                      "choose a smaller --size, or another --directory");
}

// That the file system of the folder is on a null_blk: nothing is made or mounted for it outside of a guest.
Status check_null_blk(const std::string& directory, const Root& root) {
  struct stat place {};
  if (::stat(directory.c_str(), &place) == 0) {
    const std::string number =
        std::to_string(major(place.st_dev)) + ':' + std::to_string(minor(place.st_dev));
    const Result<std::string> device = root.read_link("/sys/dev/block/" + number);
    if (device && device->substr(device->rfind('/') + 1).starts_with("nullb")) return {};
  }
  return not_possible(directory + " is not on a null_blk: a guest of the lab has one, this machine does not",
                      "measure it with `howlate lab run`, or leave device= out");
}

Status check(const Params& params, std::size_t /*workers*/) {
  const std::int64_t size = params.integer("size"), block = params.integer("block");
  if (!at_most(params) && params.integer("target") < 1)
    return usage_error("disk: a rate of nothing writes nothing", "give one like disk:10MiB/s, or disk:max");
  if (block < 512 || block > 64 * mib) return usage_error("--block must be from 512 B to 64 MiB");
  if (size < block) return usage_error("--size is smaller than --block", "choose at least one block");
  if (params.integer("sync") < block)
    return usage_error("--sync is smaller than --block", "choose at least one block");
  const std::string directory = directory_of(params);
  if (params.text("device") == "null_blk")
    if (const Status there = check_null_blk(directory, Root()); !there) return there;
  const Result<Fd> fd = open_nameless(directory);
  return fd ? check_room(*fd, size, directory) : Status(fd.error());
}

void warn_of_memory(const Worker& worker, const Fd& fd, const std::string& directory) {
  constexpr long tmpfs = 0x01021994, ramfs = 0x858458f6;
  struct statfs kind {};
  if (::fstatfs(fd.get(), &kind) == 0 &&
      (kind.f_type == tmpfs || kind.f_type == static_cast<decltype(kind.f_type)>(ramfs)))
    worker.warn("the file system of " + directory + " is in memory: no disk is written");
}

// The file and where in it the next write goes.
class Writer {
 public:
  Writer(Fd fd, const Params& params, WorkerSlot& slot)
      : fd_(std::move(fd)),
        slot_(slot),
        size_(params.integer("size")),
        sync_bytes_(params.integer("sync")),
        block_(static_cast<std::size_t>(params.integer("block"))) {
    std::uint64_t draw =
        0x9e3779b97f4a7c15ULL;  // not zeros: some file systems and devices do not write those
    for (char& one : block_)
      one = static_cast<char>((draw = draw * 6364136223846793005ULL + 1442695040888963407ULL) >> 56U);
  }

  // Writes the file whole, so far as `until_ns` allows; none of it counts.
  Status grow(std::int64_t until_ns) {
    while (at_ + block_bytes() <= size_ && monotonic_now_ns() < until_ns)
      if (const Status status = write_block(); !status) return status;
    if (const Status status = unsynced_ > 0 ? sync() : Status(); !status) return status;
    slot_.units.store(0, std::memory_order_relaxed);
    slot_.actions.store(0, std::memory_order_relaxed);
    for (const Figure figure : {bytes_written, fsyncs, fsync_sum_ns, fsync_min_ns, fsync_max_ns})
      put_figure(slot_, figure, 0);
    at_ = 0;
    return {};
  }

  Status write_block() {
    const auto bytes = static_cast<std::int64_t>(block_.size());
    if (at_ + bytes > size_) at_ = 0;
    if (at_ + bytes > high_ && at_ > 0 && free_bytes(fd_.get()) < margin_bytes + bytes) stop_growing();
    const ssize_t many = ::pwrite(fd_.get(), block_.data(), block_.size(), at_);
    if (many < 0 && errno == EINTR) return {};
    if (many < 0 && (errno == ENOSPC || errno == EDQUOT) && high_ >= bytes) {
      stop_growing();
      return {};
    }
    if (many <= 0)
      return not_possible("cannot write to the file: " + errno_text(errno), "name another --directory");
    at_ += many;
    high_ = std::max(high_, at_);
    slot_.add_units(many);
    add_figure(slot_, bytes_written, many);
    put_figure(slot_, file_bytes, high_);
    unsynced_ += many;
    return unsynced_ >= sync_bytes_ ? sync() : Status();
  }
  [[nodiscard]] std::int64_t block_bytes() const { return static_cast<std::int64_t>(block_.size()); }

 private:
  // Somebody else fills the disk: the file stays as large as it is.
  void stop_growing() {
    size_ = std::max(high_, static_cast<std::int64_t>(block_.size()));
    at_ = 0;
    put_figure(slot_, full, 1);
  }

  Status sync() {
    const std::int64_t before_ns = monotonic_now_ns();
    if (::fsync(fd_.get()) != 0) return broken("fsync failed: " + errno_text(errno));
    add_time(slot_, fsync_times, monotonic_now_ns() - before_ns);
    slot_.actions.fetch_add(1, std::memory_order_relaxed);
    unsynced_ = 0;
    return {};
  }

  Fd fd_;
  WorkerSlot& slot_;
  std::int64_t size_, sync_bytes_;
  std::vector<char> block_;
  std::int64_t at_ = 0, high_ = 0, unsynced_ = 0;
};

Status work(Worker& worker) {
  const std::string directory = directory_of(worker.params);
  Result<Fd> fd = open_nameless(directory);
  if (!fd) return fd.error();
  if (const Status status = check_room(*fd, worker.params.integer("size"), directory); !status) return status;
  warn_of_memory(worker, *fd, directory);
  Writer writer(std::move(*fd), worker.params, worker.slot);
  constexpr std::int64_t grow_ns_most = 10'000'000'000;
  if (const Status status = writer.grow(monotonic_now_ns() + grow_ns_most); !status) return status;
  worker.say_ready();
  while (at_most(worker.params))
    if (const Status status = writer.write_block(); !status) return status;
  const double block_ns =
      1e9 * static_cast<double>(writer.block_bytes()) / static_cast<double>(worker.params.integer("target"));
  for (Pace pace(block_ns, monotonic_now_ns());;) {
    if (const Status status = writer.write_block(); !status) return status;
    const std::int64_t until_ns = pace.next_ns(monotonic_now_ns());
    const struct timespec until = timespec_of(until_ns);
    ::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr);
  }
}

void results(const WorkerSlot& slot, JsonWriter& json) {
  json.member("bytes", figure(slot, bytes_written)).member("file_bytes", figure(slot, file_bytes));
  json.member("fsyncs", figure(slot, fsyncs));
  tell_times(json, "fsync_ns", slot, fsync_times);
  json.member("stopped_growing", figure(slot, full) != 0);
}

}  // namespace

extern const Load load_disk;
const Load load_disk = {
    .name = "disk",
    .summary = "write and fsync at a rate or as fast as possible, in a bounded file without a name",
    .unit = "B",
    .target = {"target", ParamType::rate, "10MiB/s", "B/s", "max",
               "bytes written a second, or max: as fast as possible"},
    .params = options,
    .alone = "max",
    // As fast as it goes: 1 MiB each, at the 500 MiB/s of a good disk.
    .action = {.name = "fsyncs", .wanted = 10, .length_ns = 2'000'000, .units = "sync", .counted = true},
    .spread = Spread::one,
    .check = check,
    .work = work,
    .results = results,
    .modules = modules,
    .config = config,
    .disks = disks,
};

}  // namespace howlate
