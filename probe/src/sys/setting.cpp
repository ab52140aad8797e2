#include "sys/setting.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>

#include "core/params.hpp"
#include "core/text.hpp"
#include "sys/core_state.hpp"
#include "sys/gravity.hpp"
#include "sys/sched.hpp"

namespace howlate {
namespace {

constexpr std::array<std::string_view, 6> form_names = {"exact", "bracketed",  "cpus",
                                                        "mask",  "controller", "gravity"};

std::string in_brackets(std::string_view value) {
  const auto open = value.find_first_of("[(");
  const auto close = value.find_first_of("])", open == std::string_view::npos ? 0 : open);
  if (open == std::string_view::npos || close == std::string_view::npos) return trimmed(value);
  return std::string(value.substr(open + 1, close - open - 1));
}

std::string plain_mask(std::string_view value) {
  std::string digits;
  for (const char letter : trimmed(value)) {
    if (letter != ',') digits += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  }
  const auto first = digits.find_first_not_of('0');
  return first == std::string::npos ? "0" : digits.substr(first);
}

std::string controller_word(std::string_view value, std::string_view wanted) {
  if (value.starts_with('+') || value.starts_with('-')) return std::string(value);
  const std::string name(wanted.substr(std::min<std::size_t>(1, wanted.size())));
  const auto words = parts_of(trimmed(value), ' ');
  const bool there = std::find(words.begin(), words.end(), name) != words.end();
  return (there ? "+" : "-") + name;
}

}  // namespace

std::string normalised(Form form, std::string_view value, std::string_view wanted) {
  switch (form) {
    case Form::exact:
      return trimmed(value);
    case Form::bracketed:
      return in_brackets(value);
    case Form::mask:
      return plain_mask(value);
    case Form::controller:
      return controller_word(value, wanted);
    case Form::gravity: {
      const auto gravity = parse_gravity(value);
      return gravity ? gravity_text(*gravity) : trimmed(value);
    }
    case Form::cpus: {
      const auto cpus = parse_cpu_list(trimmed(value));
      return cpus ? cpu_list_text(*cpus) : trimmed(value);
    }
  }
  return std::string(value);
}

bool same_value(Form form, std::string_view left, std::string_view right) {
  return normalised(form, left, right) == normalised(form, right, right);
}

Result<std::string> read_cpus(const std::function<Result<std::string>()>& read) {
  constexpr int most_reads = 4;
  auto text = read();
  for (int reads = 1; text && text->empty() && reads < most_reads; ++reads) text = read();
  return text;
}

Result<std::string> read_setting(const Root& tree, Form form, const std::string& path,
                                 std::string_view wanted) {
  const bool of_cobalt = form == Form::gravity && path == gravity_file("cobalt");
  const auto read = [&] { return of_cobalt ? read_cobalt_clock(tree) : tree.read_text(path); };
  const auto text = form == Form::cpus ? read_cpus(read) : read();
  if (!text) return text.error();
  // Masks and lists are kept as the kernel spells them: they are written back.
  const bool spelt_otherwise = form == Form::bracketed || form == Form::controller || form == Form::gravity;
  return spelt_otherwise ? normalised(form, *text, wanted) : *text;
}

std::string_view form_name(Form form) {
  return form_names[static_cast<std::size_t>(form)];
}

Result<Form> form_of(std::string_view name) {
  const auto found = std::find(form_names.begin(), form_names.end(), name);
  if (found == form_names.end()) return broken(in_quotes(name) + " is no spelling of values");
  return static_cast<Form>(found - form_names.begin());
}

std::string cpu_mask(const std::vector<int>& cpus) {
  std::vector<std::uint32_t> words(1);
  for (const int cpu : cpus) {
    const auto word = static_cast<std::size_t>(cpu) / 32;
    if (words.size() <= word) words.resize(word + 1);
    words[word] |= 1U << (static_cast<unsigned>(cpu) % 32);
  }
  std::string out;
  for (std::size_t at = words.size(); at-- > 0;) {
    constexpr std::string_view digits = "0123456789abcdef";
    for (unsigned shift = 32; shift > 0; shift -= 4) {
      const unsigned digit = (words[at] >> (shift - 4)) & 15U;
      if (digit != 0 || !out.empty() || (shift == 4 && at == 0)) out += digits[digit];
    }
    if (at > 0 && !out.empty()) out += ',';
  }
  return out;
}

}  // namespace howlate
