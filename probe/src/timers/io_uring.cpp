// IORING_OP_TIMEOUT with an absolute time, by the raw system calls: one entry submitted and waited for in one
// call.
#include <linux/io_uring.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <optional>

#include "timers/sleep.hpp"

namespace howlate {

namespace {

constexpr unsigned entries = 4;

// A mapping of the ring's that goes with it.
class Mapping {
 public:
  Mapping(int ring, std::size_t length, off_t offset) : length_(length) {
    void* mapped = mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring, offset);
    if (mapped != MAP_FAILED) bytes_ = static_cast<std::byte*>(mapped);
  }
  ~Mapping() {
    if (bytes_ != nullptr) munmap(bytes_, length_);
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  [[nodiscard]] bool mapped() const { return bytes_ != nullptr; }
  template <class T>
  [[nodiscard]] T* at(unsigned offset) const {
    return reinterpret_cast<T*>(bytes_ + offset);
  }

 private:
  std::size_t length_;
  std::byte* bytes_ = nullptr;
};

// The two queues of one io_uring, used for one timeout at a time.
class Uring {
 public:
  Uring() : ring_(static_cast<int>(syscall(SYS_io_uring_setup, entries, &params_))) {
    if (!ring_.valid()) {
      error_ = errno;
      return;
    }
    submissions_.emplace(ring_.get(), params_.sq_off.array + params_.sq_entries * sizeof(unsigned),
                         IORING_OFF_SQ_RING);
    completions_.emplace(ring_.get(), params_.cq_off.cqes + params_.cq_entries * sizeof(io_uring_cqe),
                         IORING_OFF_CQ_RING);
    requests_.emplace(ring_.get(), params_.sq_entries * sizeof(io_uring_sqe), IORING_OFF_SQES);
    if (!submissions_->mapped() || !completions_->mapped() || !requests_->mapped()) error_ = errno;
  }

  [[nodiscard]] int error() const { return error_; }

  // Waits for the timeout; submits it first where none is under way (a signal leaves it so). 0 when it has
  // expired, -1 with errno otherwise.
  long wait(std::int64_t instant_ns) {
    if (!under_way_) submit(instant_ns);
    const long returned =
        syscall(SYS_io_uring_enter, ring_.get(), under_way_ ? 0 : 1, 1, IORING_ENTER_GETEVENTS, nullptr, 0);
    if (returned < 0 && (errno != EINTR || !under_way_)) return returned;
    under_way_ = true;
    const int result = complete();
    if (result == -ETIME) return 0;
    errno = result == 0 ? EINTR : -result;
    return -1;
  }

 private:
  void submit(std::int64_t instant_ns) {
    until_ = kernel_timespec(instant_ns);
    auto* tail = submissions_->at<unsigned>(params_.sq_off.tail);
    const unsigned slot = *tail & *submissions_->at<unsigned>(params_.sq_off.ring_mask);
    io_uring_sqe& request = requests_->at<io_uring_sqe>(0)[slot];
    request = {};
    request.opcode = IORING_OP_TIMEOUT;
    request.fd = -1;
    request.addr = reinterpret_cast<std::uintptr_t>(&until_);
    request.len = 1;
    request.timeout_flags = IORING_TIMEOUT_ABS;  // on CLOCK_MONOTONIC
    submissions_->at<unsigned>(params_.sq_off.array)[slot] = slot;
    std::atomic_ref(*tail).store(*tail + 1, std::memory_order_release);
  }

  // The result of the timeout, or 0 while there is none.
  int complete() {
    auto* head = completions_->at<unsigned>(params_.cq_off.head);
    const unsigned tail =
        std::atomic_ref(*completions_->at<unsigned>(params_.cq_off.tail)).load(std::memory_order_acquire);
    if (*head == tail) return 0;
    const unsigned slot = *head & *completions_->at<unsigned>(params_.cq_off.ring_mask);
    const int result = completions_->at<io_uring_cqe>(params_.cq_off.cqes)[slot].res;
    std::atomic_ref(*head).store(*head + 1, std::memory_order_release);
    under_way_ = false;
    return result == 0 ? -EPROTO : result;
  }

  io_uring_params params_ = {};
  KernelTimespec until_ = {};
  int error_ = 0;
  bool under_way_ = false;
  Fd ring_;
  std::optional<Mapping> submissions_, completions_, requests_;
};

struct IoUring : InterruptibleSleep {
  explicit IoUring(Uring& ring) : uring(ring) {}
  Uring& uring;

  std::int64_t wait(std::int64_t release_ns) {
    check(uring.wait(release_ns));
    return now();
  }
};

Status refusal(int number) {
  const std::int64_t disabled = read_integer("/proc/sys/kernel/io_uring_disabled").value_or(0);
  if (number == ENOSYS) return not_possible("this kernel has no io_uring", "choose another timer");
  if (number == EPERM && disabled == 2)
    return not_possible("io_uring is switched off on this machine (kernel.io_uring_disabled is 2)",
                        "set it to 0 with sysctl, or choose another timer");
  if (number == EPERM && disabled == 1)
    return not_possible("io_uring is only for some users here (kernel.io_uring_disabled is 1)",
                        "run as root or in the group kernel.io_uring_group, or choose another timer");
  if (number == EPERM)
    return not_possible("io_uring is forbidden to this process (a container's or a sandbox's filter)",
                        "choose another timer");
  if (number == EINVAL)
    return not_possible("this kernel's io_uring has no absolute time-out (Linux has it from 5.5)",
                        "choose another timer");
  return not_possible("io_uring does not work here: " + errno_text(number), "choose another timer");
}

Status available() {
  Uring ring;
  if (ring.error() != 0) return refusal(ring.error());
  return ring.wait(1) == 0 ? Status() : refusal(errno);
}

Status run(LoopContext& loop) {
  Uring ring;
  if (ring.error() != 0) return refusal(ring.error());
  // Writes to each of the rings' pages once, before the loop: on arm64 the first write to a mapped page is a fault.
  if (ring.wait(1) != 0) return refusal(errno);
  IoUring sleep(ring);
  measure(loop, sleep);
  return outcome(sleep, "io_uring_enter()");
}

constexpr Need config[] = {{"IO_URING"}};

}  // namespace

extern const Timer timer_io_uring = {
    .name = "io_uring",
    .summary = "io_uring_enter() that submits an absolute time-out and waits for it",
    .armed_each_activation = true,
    .as_published = false,
    .available = available,
    .run = run,
    .config = config,
};

}  // namespace howlate
