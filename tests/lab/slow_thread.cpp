// Loaded into QEMU (LD_PRELOAD): lets one of its threads wait for the other when the guest has said in its window
// that it waits for a job, so that their order is chosen and not left to the host.
//   SLOW=leaving   the vCPU's thread, before it notes that it is stopped: the main loop stops the machine first
//   SLOW=main      the main loop, until the vCPU's thread sleeps: it finds an idle vCPU and moves the clock
//   SLOW=stopped   the vCPU's thread, once it has noted that: the main loop moves the clock and stops it, and the
//                  vCPU's thread switches it on again
//   SLOW=halting   the vCPU's thread, now and then in a job, between halting and counting what it has executed
//   SLOW=booting   the same, while the guest boots
//   SLOW=random    the main loop, for up to 0.3 ms after each of its waits, while the guest boots and in a job
// In the file TIMED is a byte for each wait of the main loop in a job that ends at a time of the host's clock.
// In the file KICKED is a byte for each time that the main loop interrupts the CPUs in a job.
// QEMU keeps a record (-icount rr=record): main loop and vCPU's thread take turns, by a lock of its own.
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

namespace {

constexpr std::uint64_t nothing = 0, job = 1, ready = 4;
constexpr int most_ms = 5000;

using Flag = std::atomic<bool>;

const volatile std::uint64_t* state = nullptr;
char slow = 0;
// The main loop gives back both before it sleeps, the one for turns last.
std::atomic<const pthread_mutex_t*> big_lock{nullptr}, turns_lock{nullptr};
Flag main_waits{false};   // for the vCPU to stop
Flag stopped{false};      // the vCPU's thread has noted it
Flag looked{false};       // the main loop has, after that
Flag vcpu_sleeps{false};  // after that
thread_local const pthread_mutex_t *last_unlocked = nullptr, *unlocked_before = nullptr;
thread_local bool is_vcpu = false;
thread_local int left_since_sleep = 0;  // what the vCPU executes

// The window's state, if this is a QEMU that has one.
const volatile std::uint64_t* window_state() {
  std::ifstream file("/proc/self/cmdline");
  const std::string line{std::istreambuf_iterator<char>(file), {}}, key = "mem-path=";
  const std::size_t at = line.find(key);
  if (at == std::string::npos) return nullptr;
  const std::size_t begin = at + key.size(), end = line.find_first_of(std::string(",\0", 2), begin);
  const int handle = open(line.substr(begin, end - begin).c_str(), O_RDONLY | O_CLOEXEC);
  if (handle < 0) return nullptr;
  void* memory = mmap(nullptr, 4096, PROT_READ, MAP_SHARED, handle, 0);
  close(handle);
  return memory == MAP_FAILED ? nullptr : static_cast<std::uint64_t*>(memory) + 3;
}

__attribute__((constructor)) void begin() {
  const char* asked = std::getenv("SLOW");
  slow = asked ? asked[0] : 0;
  state = window_state();
}

// A thread asks once: in a boot the locks are given back tens of millions of times, and two calls of the kernel each time
// made it three times as long.
bool is_main() {
  thread_local const bool main = gettid() == getpid();
  return main;
}

bool is_ready() {
  return state && *state == ready;
}

void wait_for(const Flag& flag) {
  for (int ms = 0; ms < most_ms && !flag; ++ms) {
    const timespec some{0, 1'000'000};
    nanosleep(&some, nullptr);
  }
}

void wait_at_random() {
  static unsigned seed = static_cast<unsigned>(std::chrono::steady_clock::now().time_since_epoch().count());
  const timespec some{0, rand_r(&seed) % 300'000};
  nanosleep(&some, nullptr);
}

void note_timed(const timespec* limit) {
  static const char* const file = std::getenv("TIMED");
  if (!file || !state || *state != job || !limit || (limit->tv_sec == 0 && limit->tv_nsec == 0)) return;
  std::ofstream(file, std::ios::app) << '.';
}

// The main loop wakes others by two conditions: that of the turns is no part of the heap, that of the CPUs is.
void note_kick(const pthread_cond_t* condition) {
  static const char* const file = std::getenv("KICKED");
  Dl_info info;
  if (!file || !state || *state != job || dladdr(condition, &info)) return;
  std::ofstream(file, std::ios::app) << '.';
}

// The C library of amd64 has two of these functions, the older of which is what dlsym finds.
template <typename Function>
Function next(const char* name) {
  void* found = dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2");
  return reinterpret_cast<Function>(found ? found : dlsym(RTLD_NEXT, name));
}

// Of QEMU's threads only the vCPU's wakes others this way. Those who wait for its stop it wakes by a condition that
// is no part of the heap and that it has not used before.
void note_broadcast(const pthread_cond_t* condition) {
  static std::set<const pthread_cond_t*> before;
  Dl_info info;
  is_vcpu = true;
  if (!state || before.count(condition) != 0 || !dladdr(condition, &info)) return;
  if (!is_ready())
    before.insert(condition);
  else
    stopped = true;
}

// A boot has many more ways out than halts, which come soon after the vCPU's thread has slept.
bool is_slow_at_halts() {
  constexpr int soon = 6;
  if (!state) return false;
  return slow == 'h' ? *state == job : slow == 'b' && *state == nothing && ++left_since_sleep < soon;
}

// Leaves what the vCPU executes, as a halt does.
void wait_before_leaving() {
  constexpr int every = 7, most = 1000;
  static int count = 0;
  if (!is_main() && is_slow_at_halts() && ++count % every == 0 && count < every * most) {
    const timespec some{0, 300'000};
    nanosleep(&some, nullptr);
  }
}

}  // namespace

extern "C" void __longjmp_chk(sigjmp_buf where, int value) {
  static const auto real = next<void (*)(sigjmp_buf, int)>("__longjmp_chk");
  wait_before_leaving();
  real(where, value);
}

extern "C" __attribute__((noreturn)) void siglongjmp(sigjmp_buf where, int value) noexcept(false) {
  static const auto real = next<void (*)(sigjmp_buf, int)>("siglongjmp");
  wait_before_leaving();
  real(where, value);
  __builtin_unreachable();
}

extern "C" int pthread_cond_broadcast(pthread_cond_t* condition) {
  static const auto real = next<int (*)(pthread_cond_t*)>("pthread_cond_broadcast");
  is_main() ? note_kick(condition) : note_broadcast(condition);
  return real(condition);
}

extern "C" int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  static const auto real = next<int (*)(pthread_cond_t*, pthread_mutex_t*)>("pthread_cond_wait");
  if (is_ready() && is_main() && mutex == big_lock) main_waits = true;
  if (is_vcpu && stopped && mutex == big_lock && (slow != 's' || looked)) vcpu_sleeps = true;
  left_since_sleep = 0;
  return real(condition, mutex);
}

extern "C" int pthread_mutex_unlock(pthread_mutex_t* mutex) {
  static const auto real = next<int (*)(pthread_mutex_t*)>("pthread_mutex_unlock");
  unlocked_before = last_unlocked;
  last_unlocked = mutex;
  const int result = real(mutex);
  if (is_vcpu && is_ready()) {
    if (slow == 'l' && !stopped && mutex == turns_lock) wait_for(main_waits);
    if (slow == 's' && stopped && mutex == big_lock) wait_for(looked);
  }
  return result;
}

extern "C" int ppoll(pollfd* files, nfds_t count, const timespec* limit, const sigset_t* mask) {
  static const auto real = next<int (*)(pollfd*, nfds_t, const timespec*, const sigset_t*)>("ppoll");
  thread_local bool knew = false;
  if (!is_main()) return real(files, count, limit, mask);
  big_lock = unlocked_before;
  turns_lock = last_unlocked;
  looked = knew;
  note_timed(limit);
  const int result = real(files, count, limit, mask);
  if (slow == 'r' && state && *state != ready) wait_at_random();
  if (is_ready()) {
    if (slow == 's' && !stopped) wait_for(stopped);
    if (slow == 'm' || looked) wait_for(vcpu_sleeps);
  }
  knew = stopped;
  return result;
}
