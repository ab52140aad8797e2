// Knobs: settings that change the machine for everyone. ONE FILE in this folder = ONE KNOB.
//
// A file `knobs/turbo.cpp` defines `extern const Knob knob_turbo;`; the build lists the folder and generates the table. A knob says which
// files are to hold which values, and only reads to say it; knobs/base/set.hpp journals, applies, reads back, records and restores.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "sys/setting.hpp"

namespace howlate {

// The input for a knob's plan of settings.
struct KnobContext {
  std::string root = "/";           // of /proc, /sys and /dev; a fixture folder in tests
  std::vector<int> measuring_cpus;  // for "away"; empty when there are none
};

using Settings = std::vector<Setting>;

enum class FactKind { integer, text };

struct Knob {
  std::string_view name;     // "rt_throttling"
  std::string_view summary;  // one line
  std::string_view values;   // "off | microseconds a period"
  // The settings for `value`; changes nothing.
  Result<Settings> (*plan)(const Knob& knob, const KnobContext& context, std::string_view value);
  std::string_view file = {};     // the file that must be there and may be written, where it is one,
  std::string_view without = {};  // and the sentence for a machine without it
  // The fact that is the content of `file`, if there is one (facts/files.cpp gathers it).
  std::string_view fact = {};
  FactKind fact_kind = FactKind::integer;
  Status (*availability)(const KnobContext& context) = nullptr;  // in place of the two

  // Whether it can be set here and now. The error says why not, and how to grant it.
  [[nodiscard]] Status available(const KnobContext& context = {}) const;
};

// Sorted by name.
std::span<const Knob* const> knobs();
Result<const Knob*> find_knob(std::string_view name);

}  // namespace howlate
