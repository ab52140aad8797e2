// BTF as a kernel has it, made for tests.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace howlate {

class MadeBtf {
 public:
  struct Member {
    std::string_view name;
    std::uint32_t type, bits;
  };

  std::uint32_t integer(std::string_view name, std::uint32_t bytes) {
    return type(name, 1, 0, bytes, {bytes * 8});
  }
  std::uint32_t pointer(std::uint32_t to) { return type("", 2, 0, to); }
  std::uint32_t array(std::uint32_t of, std::uint32_t count) { return type("", 3, 0, 0, {of, 0, count}); }
  std::uint32_t structure(std::string_view name, std::uint32_t bytes, const std::vector<Member>& members,
                          std::uint32_t kind = 4) {
    std::vector<std::uint32_t> words;
    for (const Member& one : members) words.insert(words.end(), {text(one.name), one.type, one.bits});
    return type(name, kind, static_cast<std::uint32_t>(members.size()), bytes, words);
  }
  std::uint32_t enumeration(std::string_view name,
                            const std::vector<std::pair<std::string_view, std::uint32_t>>& all) {
    std::vector<std::uint32_t> words;
    for (const auto& [each, value] : all) words.insert(words.end(), {text(each), value});
    return type(name, 6, static_cast<std::uint32_t>(all.size()), 4, words);
  }
  std::uint32_t alias(std::string_view name, std::uint32_t of) { return type(name, 8, 0, of); }
  std::uint32_t constant(std::uint32_t of) { return type("", 10, 0, of); }
  std::uint32_t function(const std::vector<std::uint32_t>& params) {
    std::vector<std::uint32_t> words;
    for (const std::uint32_t one : params) words.insert(words.end(), {0, one});
    return type("", 13, static_cast<std::uint32_t>(params.size()), 0, words);
  }
  std::uint32_t named_function(std::string_view name) { return type(name, 12, 0, function({})); }
  std::uint32_t variable(std::string_view name, std::uint32_t of) { return type(name, 14, 0, of, {1}); }
  // Variables of so many bytes, each 8 bytes behind the one before.
  std::uint32_t section(std::string_view name, std::uint32_t bytes,
                        const std::vector<std::uint32_t>& variables) {
    std::vector<std::uint32_t> words;
    for (std::uint32_t i = 0; i < variables.size(); ++i)
      words.insert(words.end(), {variables[i], i * 8, bytes});
    return type(name, 15, static_cast<std::uint32_t>(variables.size()), 0, words);
  }
  // typedef void (*btf_trace_NAME)(void *, ...)
  std::uint32_t tracepoint(std::string_view name, std::vector<std::uint32_t> params) {
    params.insert(params.begin(), pointer(0));
    return alias("btf_trace_" + std::string(name), pointer(function(params)));
  }

  [[nodiscard]] std::string bytes() const {
    const auto types = static_cast<std::uint32_t>(types_.size() * 4);
    const auto texts = static_cast<std::uint32_t>(texts_.size());
    const std::uint32_t header[] = {0x1eb9f, 24, 0, types, types, texts};
    std::string all(reinterpret_cast<const char*>(header), sizeof header);
    all.append(reinterpret_cast<const char*>(types_.data()), types);
    return all + texts_;
  }

 private:
  std::uint32_t text(std::string_view name) {
    if (name.empty()) return 0;
    const auto at = static_cast<std::uint32_t>(texts_.size());
    texts_.append(name).push_back('\0');
    return at;
  }
  std::uint32_t type(std::string_view name, std::uint32_t kind, std::uint32_t count, std::uint32_t size,
                     const std::vector<std::uint32_t>& more = {}) {
    types_.insert(types_.end(), {text(name), kind << 24U | count, size});
    types_.insert(types_.end(), more.begin(), more.end());
    return ++last_;
  }

  std::vector<std::uint32_t> types_;
  std::string texts_ = std::string(1, '\0');
  std::uint32_t last_ = 0;
};

}  // namespace howlate
