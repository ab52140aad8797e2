// One change of the machine: a file's value (or a folder, or a held request), before, wanted and read back.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "sys/root.hpp"

namespace howlate {

// How a file spells its value, so that equal values compare equal.
enum class Form {
  exact,       // as it is
  bracketed,   // "always [madvise] never", "none (full)": the word in brackets of either kind
  cpus,        // "0-1,3" and "0,1,3" are equal
  mask,        // "00000003" and "3" are equal
  controller,  // a list of words: "+cpuset" if it is among them, else "-cpuset"
  gravity,     // of a real-time core's clock (sys/gravity.hpp)
};

enum class SettingKind {
  file,    // write, read back
  folder,  // a cgroup: made; undone by moving its tasks to the folder above and removing it
  instance,  // of the kernel's tracing (its name): made; undone by removing it, wherever tracefs is mounted then
  held,  // four bytes written to a device that is kept open; undone by the kernel when the descriptor closes
};

struct Setting {
  SettingKind kind = SettingKind::file;
  Form form = Form::exact;
  std::string path;  // without the root
  std::string wanted;
  bool may_refuse =
      false;  // the kernel may keep some of these where they are (a per-CPU interrupt): recorded, no error
  bool inside = false;  // in a folder made just before: removed with the folder, nothing to undo

  std::string before;
  std::string read_back;
  std::string refused;    // why the kernel refused the change
  bool changed = false;   // in the journal, and to be undone
  bool restored = false;  // has its original value again
};

// The value in a file's spelling -> one spelling for equal values. `wanted` tells which word a controller
// list is asked for.
std::string normalised(Form form, std::string_view value, std::string_view wanted = {});
bool same_value(Form form, std::string_view left, std::string_view right);
// The CPUs of an interrupt: of a move that ends while they are read the kernel shows none (show_irq_affinity() in
// kernel/irq/proc.c takes the pending mask without a lock), so "none" is read again before it is believed.
Result<std::string> read_cpus(const std::function<Result<std::string>()>& read);
Result<std::string> read_setting(const Root& tree, Form form, const std::string& path,
                                 std::string_view wanted);

std::string_view form_name(Form form);
Result<Form> form_of(std::string_view name);

// Sorted CPUs -> the kernel's mask: {0,1} -> "3", with a comma every 32 bits.
std::string cpu_mask(const std::vector<int>& cpus);

}  // namespace howlate
