// The kernel's own description of its types (BTF, /sys/kernel/btf/vmlinux): where a field is, what a tracepoint is called with.
// Pure: bytes in, answers out. The description is the kernel's, but nothing beyond its end is read, whatever it says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace howlate {

class Btf {
 public:
  // Where in a structure a field is.
  struct Field {
    std::uint32_t offset = 0, bytes = 0;
  };
  // What a function is called with.
  struct Param {
    bool pointer = false;
    std::uint32_t bytes = 0;   // 1 of a bool, 8 of a pointer
    std::string_view pointee;  // the name of the structure that it points to; empty: of something else
  };

  // Nothing where the bytes are no BTF of this machine's byte order.
  static std::optional<Btf> parse(std::string bytes);

  [[nodiscard]] std::optional<std::uint32_t> typedef_id(std::string_view name) const;
  // Of a typedef of a pointer to a function.
  [[nodiscard]] std::optional<std::vector<Param>> params_of(std::uint32_t type) const;
  // "thread_info.flags": fields within fields; those of structures and unions without a name count as the outer one's.
  [[nodiscard]] std::optional<Field> field(std::string_view structure, std::string_view path) const;
  // A variable that each CPU has; the number is the variable's, not its type's.
  struct Variable {
    std::uint32_t number = 0;
    std::uint32_t offset = 0;  // in the part of memory that each CPU has of its own
    std::uint32_t bytes = 0;
  };
  [[nodiscard]] std::optional<Variable> percpu_variable(std::string_view name) const;
  [[nodiscard]] std::optional<std::uint32_t> structure_id(std::string_view name) const;
  [[nodiscard]] std::optional<std::uint32_t> function_id(std::string_view name) const;
  [[nodiscard]] std::optional<std::uint32_t> enumerator(std::string_view enumeration,
                                                        std::string_view name) const;

 private:
  struct Type {
    std::string_view name;
    std::uint32_t kind = 0, count = 0, size_or_type = 0;
    bool flag = false;
    std::size_t more_at = 0;  // what follows its first three words
  };
  struct BtfPlace {
    std::uint32_t type, offset;
  };
  using Named = std::vector<std::pair<std::string_view, std::uint32_t>>;

  Btf() = default;
  bool index();
  void note(std::uint32_t id, const Type& type);
  [[nodiscard]] std::uint32_t word(std::size_t at) const;
  [[nodiscard]] std::string_view text(std::uint32_t offset) const;
  [[nodiscard]] std::optional<Type> type(std::uint32_t id) const;
  [[nodiscard]] std::optional<Type> plain(std::uint32_t id) const;  // without typedefs and qualifiers
  [[nodiscard]] std::optional<std::uint32_t> bytes_of(std::uint32_t id, int depth = 0) const;
  [[nodiscard]] std::optional<BtfPlace> member(const Type& type, std::string_view name, int depth) const;

  std::string bytes_;
  std::size_t types_at_ = 0, types_end_ = 0, texts_at_ = 0, texts_end_ = 0;
  std::vector<std::uint32_t> at_;  // of each type, from types_at_ on; number 0 is void
  Named typedefs_, structures_, enumerations_, variables_;
  std::vector<Variable> percpu_;
};

}  // namespace howlate
