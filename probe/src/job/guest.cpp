#include "job/guest.hpp"

#include <fcntl.h>
#include <sys/reboot.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/text.hpp"
#include "job/job.hpp"
#include "job/kernel_log.hpp"
#include "job/mounts.hpp"
#include "job/pci.hpp"
#include "job/runner.hpp"
#include "job/spinners.hpp"
#include "job/stop.hpp"
#include "job/tree.hpp"
#include "job/window.hpp"
#include "sys/clock.hpp"
#include "sys/cpus.hpp"
#include "sys/file.hpp"
#include "sys/host_word.hpp"

namespace howlate {
namespace {

constexpr const char* out_folder = "/out";
constexpr std::int64_t cpus_settling_ns = 100'000'000;
// The kernel defers some of its own start: 5.10 turns from the clock source tsc-early to tsc a second after boot, and from
// 6.12 on workers execute for seconds. In virtual time an instruction takes 8 ns until the guest waits for its job.
constexpr std::int64_t settled_ns = 5'000'000'000, settling_ns = 30'000'000'000;

class Guest {
 public:
  // From the boot to the result in the window.
  Status run() {
    if (const Status status = prepare(); !status) return status;
    settle();
    if (const Status status = wait_for_job(); !status) return status;
    if (const Status status = run_the_job(); !status) return status;
    return hand_over();
  }

  void fail(std::string_view sentence) {
    if (window_) window_->fail(sentence);
    say_on_console("howlate: the guest failed: " + std::string(sentence) + '\n');
  }

 private:
  Status prepare() {
    if (const Status status = mount_all(); !status) return status;
    if (const Status status = take_standard_place(); !status) return status;
    loopback_up();
    allow_threads();
    log_.emplace();
    const Result<std::string> folder = find_pci({}, Window::vendor, Window::device);
    if (!folder) return folder.error();
    Result<PciMemory> memory = PciMemory::map(*folder, Window::bar);
    if (!memory) return memory.error();
    memory_.emplace(std::move(*memory));
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the bytes of a device, looked at as words
    auto* const words = reinterpret_cast<volatile std::uint64_t*>(memory_->at());
    window_.emplace(std::span(words, memory_->bytes() / sizeof *words));
    ::setenv(window_variable, (*folder + "/resource" + std::to_string(Window::bar)).c_str(), 1);
    return {};
  }

  // A guest in real time has its job from the start.
  bool has_job() { return window_->check() && window_->state() == Window::job_is_there; }

  void settle() { sleep_until_ns(has_job() ? settled_ns : monotonic_now_ns() + settling_ns); }

  // Unless the job is there already, the machine stops here, once.
  Status wait_for_job() {
    if (has_job()) return {};
    const Result<Stop> stop = Stop::find({});
    if (!stop) return stop.error();
    if (const Status status = be_busy(); !status) return status;
    window_->say_ready(machine_clock_ns());
    stop->stop();
    log_.emplace();
    if (const Status status = window_->check(); !status) return status;
    if (window_->state() == Window::job_is_there) return start_other_cpus();
    return usage_error("the machine went on, but there is no job in the window (its state is " +
                           std::to_string(window_->state()) + ")",
                       "Put one there before it goes on");
  }

  // In virtual time several CPUs share one clock. From before the machine stops no CPU of such a guest is ever idle; the stop
  // finds one CPU alone, for the others would go on until the host has noticed it.
  Status be_busy() {
    const std::vector<int> online = online_cpus({});
    several_ = present_cpus({}).size() > online.size();
    return several_ ? spinners_.start(online) : Status();
  }

  Status start_other_cpus() {
    if (!several_) return {};
    const std::vector<int> online = online_cpus({});
    for (const int cpu : present_cpus({})) {
      if (std::find(online.begin(), online.end(), cpu) != online.end()) continue;
      if (const Status status = set_online({}, cpu); !status) return status;
      if (const Status status = spinners_.start({cpu}); !status) return status;
    }
    sleep_until_ns(monotonic_now_ns() + cpus_settling_ns);
    return {};
  }

  Status run_the_job() const {
    const Result<std::string> text = window_->read_job();
    if (!text) return text.error();
    const Result<Job> job = read_job(*text);
    if (!job) return job.error();
    JobOptions options;
    options.out = out_folder;
    options.guest = true;
    const Result<JobOutcome> outcome = run_job(*job, options);
    return outcome ? Status() : Status(outcome.error());
  }

  Status hand_over() {
    if (const Status status = keep_kernel_log(); !status) return status;
    if (const Status status = keep_identity(); !status) return status;
    TreeWriter writer([this](std::span<const std::byte> bytes) { return window_->put(bytes); });
    if (const Status status = pack_folder(out_folder, writer); !status) return status;
    window_->finish(Window::result_is_there, writer.crc());
    return {};
  }

  // What the kernel said since the job began.
  Status keep_kernel_log() {
    std::string lines;
    for (const std::string& message : log_->take()) lines += message + '\n';
    return keep("kernel.log", lines);
  }

  // Which kernel this is: the host knows which it should be.
  static Status keep_identity() {
    constexpr std::array<std::pair<const char*, const char*>, 2> files = {
        {{"/proc/sys/kernel/osrelease", "kernel.release"}, {"/sys/kernel/notes", "kernel.notes"}}};
    for (const auto& [from, name] : files) {
      std::string content;
      if (read_whole(from, content) != 0) continue;  // a kernel without sysfs or without notes
      if (const Status status = keep(name, content); !status) return status;
    }
    return {};
  }

  static Status keep(const char* name, const std::string& content) {
    const std::string path = std::string(out_folder) + '/' + name;
    const Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
    if (::write(file.get(), content.data(), content.size()) == static_cast<ssize_t>(content.size()))
      return {};
    return broken("cannot write " + path + ": " + errno_text(errno));
  }

  static void say_on_console(const std::string& text) {
    for (const char* place : {"/dev/console", "/dev/kmsg"}) {
      const Fd file(::open(place, O_WRONLY | O_NOCTTY | O_CLOEXEC));
      if (file.valid() && ::write(file.get(), text.data(), text.size()) > 0) return;
    }
  }

  std::optional<KernelLog> log_;
  std::optional<PciMemory> memory_;
  std::optional<Window> window_;
  Spinners spinners_;
  bool several_ = false;
};

}  // namespace

bool is_init(int argc, const char* const* argv) {
  return ::getpid() == 1 && argc > 0 && std::string_view(argv[0]) == "/init";
}

void be_init() {
  {
    Guest guest;
    if (const Status status = guest.run(); !status) guest.fail(sentence(status.error()));
  }
  ::reboot(RB_AUTOBOOT);
  ::reboot(RB_POWER_OFF);
  for (;;) ::pause();  // a first process that ends would be a panic
}

}  // namespace howlate
