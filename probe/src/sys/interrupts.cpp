#include "sys/interrupts.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace howlate {

namespace {

// The next word of `rest`, which it is taken off; empty at the end. Of a machine with hundreds of CPUs there are many: nothing is copied.
std::string_view next_word(std::string_view& rest) {
  const std::size_t begin = std::min(rest.find_first_not_of(' '), rest.size());
  const std::size_t end = std::min(rest.find(' ', begin), rest.size());
  const std::string_view word = rest.substr(begin, end - begin);
  rest.remove_prefix(end);
  return word;
}

std::vector<int> columns_of(std::string_view header) {
  std::vector<int> cpus;
  for (std::string_view word = next_word(header); !word.empty(); word = next_word(header)) {
    int cpu = -1;
    if (!word.starts_with("CPU")) continue;
    const char* const end = word.data() + word.size();
    const auto [stop, error] = std::from_chars(word.data() + 3, end, cpu);
    if (error == std::errc{} && stop == end && cpu >= 0) cpus.push_back(cpu);
  }
  return cpus;
}

InterruptLine parse_line(std::string_view line, const std::vector<int>& cpus) {
  InterruptLine out;
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return out;
  out.label = trimmed(line.substr(0, colon));
  std::string_view rest = line.substr(colon + 1);
  std::string_view word = next_word(rest);
  for (std::size_t at = 0; at < cpus.size() && !word.empty(); ++at) {
    long long count = 0;
    const char* const end = word.data() + word.size();
    const auto [stop, error] = std::from_chars(word.data(), end, count);
    if (error != std::errc{} || stop != end || count < 0) break;
    if (count != 0) out.counts.emplace_back(cpus[at], count);
    word = next_word(rest);
  }
  for (; !word.empty(); word = next_word(rest)) (out.name += out.name.empty() ? "" : " ") += word;
  return out;
}

}  // namespace

std::vector<InterruptLine> parse_interrupts(std::string_view text) {
  std::vector<InterruptLine> lines;
  std::vector<int> cpus;
  for (bool first = true; !text.empty(); first = false) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (first) {
      cpus = columns_of(line);
      continue;
    }
    InterruptLine parsed = parse_line(line, cpus);
    if (!parsed.label.empty()) lines.push_back(std::move(parsed));
  }
  return lines;
}

Result<std::vector<InterruptLine>> read_interrupts(const Root& root, std::string_view path) {
  const auto text = root.read(path);
  if (!text) return text.error();
  if (trimmed(*text).empty()) return broken(std::string(path) + " is empty");
  return parse_interrupts(*text);
}

bool is_device_interrupt(std::string_view label) {
  return !label.empty() && std::all_of(label.begin(), label.end(),
                                       [](unsigned char letter) { return std::isdigit(letter) != 0; });
}

}  // namespace howlate
