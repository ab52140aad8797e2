// A plugin of QEMU's (-plugin): the addresses of the instructions that a guest executes in stretches of its virtual time.
//
// A guest that is looked at does not notice: in virtual time an instruction takes its nanoseconds whatever the host does meanwhile.
// Nothing is stopped for it; outside of the stretches the translated code is what it is without the plugin.
//
// The plan, a file of lines:
//   window FROM TO     log from FROM ns to TO ns of the virtual clock; sorted, disjoint
//   anchor NS          how often the clock is noted within a window; it is noted too whenever the CPU goes on after a halt
//   switch ADDRESS     note the first two arguments of the function there: the tasks of the kernel's __switch_to
//   count BASE PLACE   the preemption count is at the address *BASE + PLACE; amd64, whose code names it as %gs:PLACE
//   stops ADDRESS      the guest will stop less than 4 us after the instruction there. QEMU's main loop, if it looks
//                      before it knows, takes the stopped CPU for an idle one and moves the clock on to the next timer: here to
//                      one of the plugin's own, 4 us later, so that none of the guest's expires
//   pause NS           without windows: stop the machine at NS ns of the virtual clock, between two instructions, with the same
//                      timer behind it
// Three files are written, OUT.pc, OUT.code and OUT.marks:
//   pc      the addresses in order, 64 bits each
//   code    a line for each translated instruction: its address, its bytes, in hexadecimal
//   marks   lines "N KIND ...", N the number of addresses before: "begin NS COUNT" and "end NS COUNT" of a window, "at NS COUNT"
//           the clock and the number of the guest's instructions, "state TEXT" all lines of the CPU's state, "flags TEXT" the line of it that has the interrupt flag, after an
//           instruction whose bytes do not show how they changed it, "switch PREVIOUS NEXT", "count VALUE" after a change,
//           "stops NS COUNT" the clock and the number of the guest's instructions at the end of the block of that address.
//
// Timers and the state are not part of the plugins' interface; QEMU exports their functions for its own modules.
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

extern "C" {

struct qemu_plugin_tb;
struct qemu_plugin_insn;
using PluginId = std::uint64_t;

// qemu-plugin.h, as far as it is the same since QEMU 7.2
struct PluginInfo {
  const char* target_name;
};
void qemu_plugin_register_vcpu_tb_trans_cb(PluginId id, void (*call)(PluginId, qemu_plugin_tb*));
void qemu_plugin_register_vcpu_insn_exec_cb(qemu_plugin_insn* insn, void (*call)(unsigned, void*), int flags,
                                            void* data);
std::size_t qemu_plugin_tb_n_insns(const qemu_plugin_tb* tb);
qemu_plugin_insn* qemu_plugin_tb_get_insn(const qemu_plugin_tb* tb, std::size_t index);
std::uint64_t qemu_plugin_insn_vaddr(const qemu_plugin_insn* insn);
std::size_t qemu_plugin_insn_size(const qemu_plugin_insn* insn);
void qemu_plugin_reset(PluginId id, void (*call)(PluginId));

[[gnu::visibility("default")]] int qemu_plugin_version = 1;
[[gnu::visibility("default")]] int qemu_plugin_install(PluginId id, const PluginInfo* info, int argc,
                                                       char** argv);
}

namespace {

constexpr int virtual_clock = 1, most_windows = 4096;
constexpr std::int64_t stops_within_ns = 4000;
constexpr std::size_t timer_room = 512, most_bytes = 16;

struct Window {
  std::int64_t from_ns, to_ns;
};

struct Qemu {
  void (*timer_init_full)(void*, void*, int, int, int, void (*)(void*), void*);
  void (*timer_mod_ns)(void*, std::int64_t);
  std::int64_t (*clock_get_ns)(int);
  void* (*get_cpu)(int);
  void (*dump_state)(void*, FILE*, int);
  int (*memory_rw)(void*, std::uint64_t, void*, std::uint64_t, bool);
  std::int64_t (*instructions)();
  void (*stop)(void**);  // the monitor's command
};

Qemu qemu;
PluginId plugin;
bool is_x86 = false, logs = false;
bool looks = false, counts = false;  // what is to be read before the next instruction
bool halted = false;                 // the CPU has executed what may halt it
bool stops = false;                  // the guest is about to stop
Window windows[most_windows];
int count = 0, next = 0;
std::uint64_t switch_address = 0, count_base = 0, count_place = 0, count_address = 0, stop_address = 0;
std::uint32_t last_count = 0;
std::int64_t anchor_ns = 1000, pause_ns = 0;
alignas(64) char timer[timer_room];
FILE *pcs, *codes, *marks;
std::uint64_t logged = 0;

[[noreturn]] void give_up(const char* what) {
  std::fprintf(stderr, "howlate-trace: %s\n", what);
  std::_Exit(1);
}

template <class Function>
void find(Function& function, const char* name) {
  void* const found = dlsym(RTLD_DEFAULT, name);
  if (found == nullptr) give_up(name);
  std::memcpy(&function, &found, sizeof function);
}

const char* state_text() {
  static char* text = nullptr;
  static std::size_t size = 0;
  std::free(text);
  FILE* const memory = open_memstream(&text, &size);
  qemu.dump_state(qemu.get_cpu(0), memory, 0);
  std::fclose(memory);
  return text;
}

void note_flags() {
  const char* const text = state_text();
  const char* const found = std::strstr(text, is_x86 ? "RFL=" : "PSTATE=");
  if (found == nullptr) return;
  std::fprintf(marks, "%" PRIu64 " flags %.*s\n", logged, static_cast<int>(std::strcspn(found, "\n")), found);
}

void note_count(bool always) {
  std::uint32_t value = 0;
  if (qemu.memory_rw(qemu.get_cpu(0), count_address, &value, sizeof value, false) != 0) return;
  if (!always && value == last_count) return;
  last_count = value;
  std::fprintf(marks, "%" PRIu64 " count %" PRIx32 "\n", logged, value);
}

void note_state() {
  for (const char* line = state_text(); *line != '\0';) {
    const auto length = std::strcspn(line, "\n");
    std::fprintf(marks, "%" PRIu64 " state %.*s\n", logged, static_cast<int>(length), line);
    line += length + (line[length] == '\n' ? 1 : 0);
  }
  if (count_place == 0) return;
  std::uint64_t base = 0;
  if (qemu.memory_rw(qemu.get_cpu(0), count_base, &base, sizeof base, false) != 0) return;
  count_address = base + count_place;
  note_count(true);
}

// The value of a register, which is written as NAME=VALUE.
std::uint64_t value_of(const char* text, const char* name) {
  const char* const found = std::strstr(text, name);
  return found != nullptr ? std::strtoull(found + std::strlen(name), nullptr, 16) : 0;
}

void note_switch() {
  const char* const text = state_text();
  std::fprintf(marks, "%" PRIu64 " switch %" PRIx64 " %" PRIx64 "\n", logged,
               value_of(text, is_x86 ? "RDI=" : "X00="), value_of(text, is_x86 ? "RSI=" : "X01="));
}

// The clock cannot be read within a block: the timer has expired, so QEMU leaves the code after this block, and `tick` reads it.
// Without that two halts may lie between two readings, and nothing tells which of them took how long.
void note_wake_up() {
  halted = false;
  qemu.timer_mod_ns(timer, 0);
}

enum Look : unsigned {
  first_of_block = 1,
  flags_after = 2,
  count_after = 4,
  switches_here = 8,
  halts_here = 16,
  all_looks = 31
};

// QEMU keeps the CPU's state in registers of the host's within a block, so it is read before the first of the next one.
template <unsigned what>
void executed(unsigned, void* data) {
  const auto pc = reinterpret_cast<std::uint64_t>(data);
  if (counts) {
    counts = false;
    note_count(false);
  }
  if constexpr ((what & first_of_block) != 0) {
    if (looks) note_flags();
    looks = false;
    if (halted) note_wake_up();
  }
  if constexpr ((what & switches_here) != 0) note_switch();
  std::fwrite(&pc, sizeof pc, 1, pcs);
  ++logged;
  if constexpr ((what & flags_after) != 0) looks = true;
  if constexpr ((what & count_after) != 0) counts = true;
  if constexpr ((what & halts_here) != 0) halted = true;
}

using Call = void (*)(unsigned, void*);
template <std::size_t... whats>
constexpr std::array<Call, sizeof...(whats)> calls_for(std::index_sequence<whats...>) {
  return {executed<whats>...};
}

constexpr auto calls = calls_for(std::make_index_sequence<all_looks + 1>());

// popf, iret; on arm64 a write to daif, eret.
bool changes_flags(const unsigned char* bytes, std::size_t size) {
  if (is_x86)
    return bytes[0] == 0x9d || (size == 2 && bytes[0] == 0x48 && bytes[1] == 0xcf) || bytes[0] == 0xcf;
  std::uint32_t word = 0;
  std::memcpy(&word, bytes, sizeof word);
  return (word & 0xffffffe0U) == 0xd51b4220U || word == 0xd69f03e0U;
}

// hlt, mwait; on arm64 wfi, wfe.
bool may_halt(const unsigned char* bytes, std::size_t size) {
  if (is_x86)
    return bytes[0] == 0xf4 || (size == 3 && bytes[0] == 0x0f && bytes[1] == 0x01 && bytes[2] == 0xc9);
  std::uint32_t word = 0;
  std::memcpy(&word, bytes, sizeof word);
  return (word & 0xffffffdfU) == 0xd503205fU;
}

// An instruction with a place in the CPU's own data, relative to itself: %gs, an opcode of one byte or of two (0f),
// a displacement of 32 bits.
bool touches_count(const unsigned char* bytes, std::size_t size, std::uint64_t pc) {
  if (!is_x86 || count_place == 0 || size < 7 || bytes[0] != 0x65) return false;
  std::size_t at = 1;
  if ((bytes[at] & 0xf0U) == 0x40) ++at;
  at += bytes[at] == 0x0f ? 2 : 1;
  if (at + 5 > size || (bytes[at] & 0xc7U) != 0x05) return false;
  std::int32_t displacement = 0;
  std::memcpy(&displacement, bytes + at + 1, sizeof displacement);
  return pc + size + static_cast<std::uint64_t>(std::int64_t{displacement}) == count_place;
}

void translated(PluginId, qemu_plugin_tb* tb) {
  const std::size_t size = qemu_plugin_tb_n_insns(tb);
  for (std::size_t index = 0; index < size; ++index) {
    qemu_plugin_insn* const insn = qemu_plugin_tb_get_insn(tb, index);
    const std::uint64_t pc = qemu_plugin_insn_vaddr(insn);
    unsigned char bytes[most_bytes] = {};
    std::size_t length = qemu_plugin_insn_size(insn);
    if (length > most_bytes) length = most_bytes;
    if (qemu.memory_rw(qemu.get_cpu(0), pc, bytes, length, false) != 0) length = 0;
    std::fprintf(codes, "%" PRIx64 " ", pc);
    for (std::size_t at = 0; at < length; ++at) std::fprintf(codes, "%02x", bytes[at]);
    std::fputc('\n', codes);
    const unsigned what =
        (index == 0 ? first_of_block : 0U) | (changes_flags(bytes, length) ? flags_after : 0U) |
        (touches_count(bytes, length, pc) ? count_after : 0U) | (may_halt(bytes, length) ? halts_here : 0U) |
        (pc == switch_address && pc != 0 ? switches_here : 0U);
    qemu_plugin_register_vcpu_insn_exec_cb(insn, calls[what], 0, reinterpret_cast<void*>(pc));
  }
}

void note_stop(unsigned, void*) {
  stops = true;
  qemu.timer_mod_ns(timer, 0);
}

void look_for_stop(PluginId, qemu_plugin_tb* tb) {
  for (std::size_t index = 0; index < qemu_plugin_tb_n_insns(tb); ++index) {
    qemu_plugin_insn* const insn = qemu_plugin_tb_get_insn(tb, index);
    if (qemu_plugin_insn_vaddr(insn) == stop_address)
      qemu_plugin_register_vcpu_insn_exec_cb(insn, note_stop, 0, nullptr);
  }
}

void note_clock(const char* kind, std::int64_t now) {
  std::fprintf(marks, "%" PRIu64 " %s %" PRId64 " %" PRId64 "\n", logged, kind, now, qemu.instructions());
}

// Once before the stop; once more, or never, where the clock was moved.
void before_stop() {
  if (!stops) return;
  stops = false;
  const std::int64_t now = qemu.clock_get_ns(virtual_clock);
  note_clock("stops", now);
  qemu.timer_mod_ns(timer, now + stops_within_ns);
}

void pause_machine() {
  if (pause_ns == 0) return;
  pause_ns = 0;
  qemu.stop(nullptr);
  qemu.timer_mod_ns(timer, qemu.clock_get_ns(virtual_clock) + stops_within_ns);
}

void begin(PluginId id) {
  qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
}

void end(PluginId) {}

void tick(void*) {
  if (stop_address != 0) return before_stop();
  if (count == 0) return pause_machine();
  const std::int64_t now = qemu.clock_get_ns(virtual_clock);
  const Window& window = windows[next];
  if (!logs) {
    note_clock("begin", now);
    note_state();
    logs = halted = true;  // the CPU may be halted now
    qemu_plugin_reset(plugin, begin);
  } else if (now < window.to_ns) {
    note_clock("at", now);
  } else {
    note_clock("end", now);
    std::fflush(pcs);
    std::fflush(codes);
    std::fflush(marks);
    logs = looks = counts = halted = false;
    qemu_plugin_reset(plugin, end);
    if (++next == count) return;
    qemu.timer_mod_ns(timer, windows[next].from_ns);
    return;
  }
  const std::int64_t later = now + anchor_ns;
  qemu.timer_mod_ns(timer, later < window.to_ns ? later : window.to_ns);
}

// Before the machine has a CPU: QEMU would tell it, and it may not have its thread yet.
void arm() {
  if (count == 0 && stop_address == 0 && pause_ns == 0) return;
  qemu.timer_init_full(timer, nullptr, virtual_clock, 1, 0, tick, nullptr);
  if (stop_address != 0) return qemu_plugin_register_vcpu_tb_trans_cb(plugin, look_for_stop);
  qemu.timer_mod_ns(timer, count != 0 ? windows[0].from_ns : pause_ns);
}

void read_plan(const char* path) {
  FILE* const file = std::fopen(path, "r");
  if (file == nullptr) give_up("the plan cannot be read");
  char line[128];
  while (std::fgets(line, sizeof line, file) != nullptr) {
    Window window{};
    if (std::sscanf(line, "window %" SCNd64 " %" SCNd64, &window.from_ns, &window.to_ns) == 2 &&
        count < most_windows)
      windows[count++] = window;
    else if (std::sscanf(line, "switch %" SCNx64, &switch_address) != 1 &&
             std::sscanf(line, "count %" SCNx64 " %" SCNx64, &count_base, &count_place) != 2 &&
             std::sscanf(line, "anchor %" SCNd64, &anchor_ns) != 1 &&
             std::sscanf(line, "pause %" SCNd64, &pause_ns) != 1 &&
             std::sscanf(line, "stops %" SCNx64, &stop_address) != 1)
      give_up("a line of the plan is wrong");
  }
  std::fclose(file);
}

FILE* opened(const char* path, const char* kind) {
  char name[4096];
  std::snprintf(name, sizeof name, "%s.%s", path, kind);
  FILE* const file = std::fopen(name, "w");
  if (file == nullptr) give_up("a file cannot be written");
  return file;
}

// QEMU reads the version after it has loaded the plugin.
[[gnu::constructor]] void loaded() {
  if (dlsym(RTLD_DEFAULT, "qemu_plugin_read_register") != nullptr) qemu_plugin_version = 3;
}

}  // namespace

int qemu_plugin_install(PluginId id, const PluginInfo* info, int argc, char** argv) {
  plugin = id;
  is_x86 = std::strcmp(info->target_name, "x86_64") == 0;
  find(qemu.timer_init_full, "timer_init_full");
  find(qemu.timer_mod_ns, "timer_mod_ns");
  find(qemu.clock_get_ns, "qemu_clock_get_ns");
  find(qemu.get_cpu, "qemu_get_cpu");
  find(qemu.dump_state, "cpu_dump_state");
  find(qemu.memory_rw, "cpu_memory_rw_debug");
  find(qemu.instructions, "icount_get_raw");
  find(qemu.stop, "qmp_stop");
  const char *plan = nullptr, *out = nullptr;
  for (int at = 0; at < argc; ++at) {
    if (std::strncmp(argv[at], "plan=", 5) == 0) plan = argv[at] + 5;
    if (std::strncmp(argv[at], "out=", 4) == 0) out = argv[at] + 4;
  }
  if (plan == nullptr || out == nullptr) give_up("plan=FILE and out=FILE are missing");
  read_plan(plan);
  pcs = opened(out, "pc");
  codes = opened(out, "code");
  marks = opened(out, "marks");
  arm();
  return 0;
}
