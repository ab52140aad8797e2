#include "sys/gravity.hpp"

#include <array>
#include <optional>
#include <utility>

#include "core/text.hpp"
#include "sys/core_state.hpp"

namespace howlate {
namespace {

struct Part {
  std::string_view name;    // as Cobalt spells it
  std::string_view letter;  // as EVL spells it
  std::int64_t Gravity::*value;
};

constexpr std::array<Part, 3> parts = {{{"irq=", "i", &Gravity::irq_ns},
                                        {"kernel=", "k", &Gravity::kernel_ns},
                                        {"user=", "u", &Gravity::user_ns}}};

std::optional<long long> value_of(const std::string& word, const Part& part) {
  Result<long long> value = broken("");
  if (word.starts_with(part.name)) value = to_integer(word.substr(part.name.size()));
  if (word.ends_with(part.letter)) value = to_integer(word.substr(0, word.size() - part.letter.size()));
  return value ? std::optional(*value) : std::nullopt;
}

// The line of Cobalt's file that has it; EVL's file is one line.
std::string_view line_of(std::string_view text) {
  constexpr std::string_view name = "gravity:";
  const std::size_t begin = text.find(name);
  if (begin == std::string_view::npos) return text;
  const std::string_view rest = text.substr(begin + name.size());
  return rest.substr(0, rest.find('\n'));
}

}  // namespace

std::string_view gravity_file(std::string_view core) {
  if (core == "cobalt") return "/proc/xenomai/clock/coreclk";
  if (core == "evl") return "/sys/devices/virtual/clock/monotonic/gravity";
  return {};
}

Result<Gravity> parse_gravity(std::string_view text) {
  Gravity gravity;
  std::size_t found = 0;
  for (const std::string& word : parts_of(trimmed(line_of(text)), ' '))
    for (const Part& part : parts)
      if (const auto value = value_of(word, part)) {
        gravity.*part.value = *value;
        ++found;
      }
  if (found != parts.size()) return broken(in_quotes(text) + " is no gravity of a clock");
  return gravity;
}

std::string gravity_text(const Gravity& gravity) {
  return std::to_string(gravity.irq_ns) + "i " + std::to_string(gravity.kernel_ns) + "k " +
         std::to_string(gravity.user_ns) + "u";
}

Result<Gravity> read_gravity(const Root& root, std::string_view core) {
  const auto text = core == "cobalt" ? read_cobalt_clock(root) : root.read_text(gravity_file(core));
  return text ? parse_gravity(*text) : Result<Gravity>(text.error());
}

}  // namespace howlate
