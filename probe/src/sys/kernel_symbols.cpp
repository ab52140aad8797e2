#include "sys/kernel_symbols.hpp"

#include <charconv>
#include <string_view>

#include "sys/file.hpp"

namespace howlate {

namespace {

// "ffffffff81000000 T _text", "ffffffffc0000000 t name\t[module]".
struct Symbol {
  std::uint64_t address = 0;
  std::string_view name;
};

bool parse_symbol(std::string_view line, Symbol& symbol) {
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), symbol.address, 16);
  if (error != std::errc{} || symbol.address == 0) return false;
  const std::string_view rest = line.substr(static_cast<std::size_t>(end - line.data()));
  constexpr std::string_view code = "tTwW";
  if (rest.size() < 4 || code.find(rest[1]) == std::string_view::npos) return false;
  symbol.name = rest.substr(3, rest.find_first_of("\t ", 3) - 3);
  return true;
}

}  // namespace

std::map<std::int64_t, std::string> function_names(const Root& root,
                                                   const std::set<std::int64_t>& addresses) {
  struct Best {
    std::uint64_t begin = 0;
    std::string name;
  };
  std::map<std::uint64_t, Best> best;
  for (const std::int64_t address : addresses) best.emplace(static_cast<std::uint64_t>(address), Best{});
  best.erase(0);
  const auto text = best.empty() ? Result<std::string>(Error{}) : root.read("/proc/kallsyms");
  if (!text) return {};
  constexpr std::uint64_t function_bytes_max = 1U << 20U;
  std::string_view rest = *text;
  Symbol symbol;
  for (std::size_t end = rest.find('\n'); end != std::string_view::npos; end = rest.find('\n')) {
    const bool is_code = parse_symbol(rest.substr(0, end), symbol);
    rest.remove_prefix(end + 1);
    if (!is_code) continue;
    for (auto it = best.lower_bound(symbol.address); it != best.end(); ++it) {
      if (it->first - symbol.address > function_bytes_max) break;
      if (symbol.address > it->second.begin) it->second = {symbol.address, std::string(symbol.name)};
    }
  }
  std::map<std::int64_t, std::string> names;
  for (const auto& [address, found] : best)
    if (!found.name.empty()) names.emplace(static_cast<std::int64_t>(address), found.name);
  return names;
}

std::map<std::int64_t, std::string> event_texts(const std::string& tracing) {
  std::map<std::int64_t, std::string> texts;
  const auto all = read_text(tracing + "/printk_formats");
  if (!all) return texts;
  for (const std::string& line : parts_of(*all, '\n')) {
    const std::size_t begin = line.find('"'), end = line.rfind('"');
    std::uint64_t address = 0;
    if (!line.starts_with("0x") || begin == end) continue;
    std::from_chars(line.data() + 2, line.data() + line.size(), address, 16);
    texts.emplace(static_cast<std::int64_t>(address), line.substr(begin + 1, end - begin - 1));
  }
  return texts;
}

}  // namespace howlate
