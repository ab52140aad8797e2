#include "core/btf.hpp"

#include <algorithm>
#include <cstring>

namespace howlate {

namespace {

// include/uapi/linux/btf.h.
constexpr std::uint32_t magic = 0xeb9f;
enum TypeKind : std::uint32_t {
  kind_int = 1,
  kind_pointer = 2,
  kind_array = 3,
  kind_structure = 4,
  kind_union = 5,
  kind_enumeration = 6,
  kind_typedef = 8,
  kind_volatile = 9,
  kind_const = 10,
  kind_restrict = 11,
  kind_function = 12,
  kind_function_type = 13,
  kind_variable = 14,
  kind_section = 15,
  kind_float = 16,
  kind_note = 17,
  kind_type_note = 18,
  kind_enumeration_64 = 19,
};
constexpr std::size_t words_3 = 12, words_2 = 8, word_1 = 4;
constexpr int depth_max = 32;
constexpr std::string_view percpu_section = ".data..percpu";
constexpr std::string_view tracepoint = "btf_trace_";

std::size_t bytes_after(std::uint32_t kind, std::uint32_t count) {
  switch (kind) {
    case kind_int:
    case kind_variable:
    case kind_note:
      return word_1;
    case kind_array:
      return words_3;
    case kind_structure:
    case kind_union:
    case kind_section:
    case kind_enumeration_64:
      return words_3 * count;
    case kind_enumeration:
    case kind_function_type:
      return words_2 * count;
    default:
      return 0;
  }
}

bool passes_on(std::uint32_t kind) {
  return kind == kind_typedef || kind == kind_volatile || kind == kind_const || kind == kind_restrict ||
         kind == kind_type_note;
}

std::optional<std::uint32_t> find(const std::vector<std::pair<std::string_view, std::uint32_t>>& named,
                                  std::string_view name) {
  const auto found =
      std::find_if(named.begin(), named.end(), [&](const auto& one) { return one.first == name; });
  return found == named.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace

std::optional<Btf> Btf::parse(std::string bytes) {
  Btf btf;
  btf.bytes_ = std::move(bytes);
  if (!btf.index()) return std::nullopt;
  return btf;
}

// The header: magic, version and flags, its length, then offset and length of types and texts, counted from its end.
bool Btf::index() {
  constexpr std::size_t header_bytes = 24;
  if (bytes_.size() < header_bytes || (word(0) & 0xffffU) != magic) return false;
  const std::size_t begin = word(4);
  types_at_ = begin + word(8);
  types_end_ = types_at_ + word(12);
  texts_at_ = begin + word(16);
  texts_end_ = texts_at_ + word(20);
  if (types_end_ > bytes_.size() || texts_end_ > bytes_.size()) return false;
  at_.push_back(0);
  for (std::size_t at = types_at_; at + words_3 <= types_end_;) {
    at_.push_back(static_cast<std::uint32_t>(at - types_at_));
    const auto id = static_cast<std::uint32_t>(at_.size() - 1);
    const auto one = type(id);
    if (!one) return false;
    note(id, *one);
    at = one->more_at + bytes_after(one->kind, one->count);
  }
  return true;
}

void Btf::note(std::uint32_t id, const Type& type) {
  if (type.kind == kind_typedef && type.name.starts_with(tracepoint)) typedefs_.emplace_back(type.name, id);
  if (type.kind == kind_structure && !type.name.empty()) structures_.emplace_back(type.name, id);
  if (type.kind == kind_enumeration && !type.name.empty()) enumerations_.emplace_back(type.name, id);
  if (type.kind == kind_variable) variables_.emplace_back(type.name, id);
  if (type.kind == kind_section && type.name == percpu_section)
    for (std::uint32_t i = 0; i < type.count; ++i) {
      const std::size_t at = type.more_at + words_3 * i;
      percpu_.push_back({word(at), word(at + 4), word(at + 8)});
    }
}

std::uint32_t Btf::word(std::size_t at) const {
  std::uint32_t value = 0;
  if (at <= bytes_.size() && bytes_.size() - at >= sizeof value)
    std::memcpy(&value, bytes_.data() + at, sizeof value);
  return value;
}

std::string_view Btf::text(std::uint32_t offset) const {
  if (offset >= texts_end_ - texts_at_) return {};
  const std::string_view rest(bytes_.data() + texts_at_ + offset, texts_end_ - texts_at_ - offset);
  return rest.substr(0, rest.find('\0'));
}

std::optional<Btf::Type> Btf::type(std::uint32_t id) const {
  if (id == 0 || id >= at_.size()) return std::nullopt;
  const std::size_t at = types_at_ + at_[id];
  const std::uint32_t info = word(at + 4);
  Type one{text(word(at)), (info >> 24U) & 0x1fU, info & 0xffffU,
           word(at + 8),   (info >> 31U) != 0,    at + words_3};
  if (bytes_after(one.kind, one.count) > types_end_ - one.more_at) return std::nullopt;
  return one;
}

std::optional<Btf::Type> Btf::plain(std::uint32_t id) const {
  auto one = type(id);
  for (int depth = 0; one && passes_on(one->kind); ++depth) {
    if (depth == depth_max) return std::nullopt;
    one = type(one->size_or_type);
  }
  return one;
}

std::optional<std::uint32_t> Btf::bytes_of(std::uint32_t id, int depth) const {
  const auto one = plain(id);
  if (!one || depth == depth_max) return std::nullopt;
  switch (one->kind) {
    case kind_pointer:
      return 8;
    case kind_array: {
      const auto each = bytes_of(word(one->more_at), depth + 1);
      if (!each) return std::nullopt;
      return *each * word(one->more_at + 8);
    }
    case kind_int:
    case kind_structure:
    case kind_union:
    case kind_enumeration:
    case kind_enumeration_64:
    case kind_float:
      return one->size_or_type;
    default:
      return std::nullopt;
  }
}

std::optional<std::uint32_t> Btf::typedef_id(std::string_view name) const {
  return find(typedefs_, name);
}

std::optional<std::vector<Btf::Param>> Btf::params_of(std::uint32_t id) const {
  const auto pointer = plain(id);
  const auto function =
      pointer && pointer->kind == kind_pointer ? plain(pointer->size_or_type) : std::nullopt;
  if (!function || function->kind != kind_function_type) return std::nullopt;
  std::vector<Param> params;
  for (std::uint32_t i = 0; i < function->count; ++i) {
    const std::uint32_t of = word(function->more_at + words_2 * i + 4);
    const auto one = plain(of);
    Param param;
    param.pointer = one && one->kind == kind_pointer;
    param.bytes = bytes_of(of).value_or(0);
    if (const auto to = param.pointer ? plain(one->size_or_type) : std::nullopt;
        to && to->kind == kind_structure)
      param.pointee = to->name;
    params.push_back(param);
  }
  return params;
}

std::optional<Btf::BtfPlace> Btf::member(const Type& type, std::string_view name, int depth) const {
  if ((type.kind != kind_structure && type.kind != kind_union) || depth == depth_max) return std::nullopt;
  for (std::uint32_t i = 0; i < type.count; ++i) {
    const std::size_t at = type.more_at + words_3 * i;
    const std::uint32_t bits = word(at + 8);
    const bool bit_field = type.flag && (bits >> 24U) != 0;
    const std::uint32_t offset = (type.flag ? bits & 0xffffffU : bits) / 8;
    const std::string_view own = text(word(at));
    if (own == name && !bit_field) return BtfPlace{word(at + 4), offset};
    if (!own.empty()) continue;
    const auto inner = plain(word(at + 4));
    if (auto found = inner ? member(*inner, name, depth + 1) : std::nullopt)
      return BtfPlace{found->type, found->offset + offset};
  }
  return std::nullopt;
}

std::optional<Btf::Field> Btf::field(std::string_view structure, std::string_view path) const {
  const auto id = find(structures_, structure);
  if (!id) return std::nullopt;
  BtfPlace place{*id, 0};
  while (!path.empty()) {
    const std::size_t dot = path.find('.');
    const auto outer = plain(place.type);
    const auto found = outer ? member(*outer, path.substr(0, dot), 0) : std::nullopt;
    if (!found) return std::nullopt;
    place = {found->type, place.offset + found->offset};
    path = dot == std::string_view::npos ? std::string_view() : path.substr(dot + 1);
  }
  const auto bytes = bytes_of(place.type);
  if (!bytes) return std::nullopt;
  return Field{place.offset, *bytes};
}

std::optional<Btf::Variable> Btf::percpu_variable(std::string_view name) const {
  const auto id = find(variables_, name);
  const auto found = std::find_if(percpu_.begin(), percpu_.end(),
                                  [&](const Variable& one) { return id && one.number == *id; });
  return found == percpu_.end() ? std::nullopt : std::optional(*found);
}

std::optional<std::uint32_t> Btf::structure_id(std::string_view name) const {
  return find(structures_, name);
}

std::optional<std::uint32_t> Btf::function_id(std::string_view name) const {
  for (std::uint32_t id = 1; id < at_.size(); ++id)
    if (const auto one = type(id); one && one->kind == kind_function && one->name == name) return id;
  return std::nullopt;
}

std::optional<std::uint32_t> Btf::enumerator(std::string_view enumeration, std::string_view name) const {
  const auto id = find(enumerations_, enumeration);
  const auto one = id ? type(*id) : std::nullopt;
  if (!one) return std::nullopt;
  for (std::uint32_t i = 0; i < one->count; ++i)
    if (const std::size_t at = one->more_at + words_2 * i; text(word(at)) == name) return word(at + 4);
  return std::nullopt;
}

}  // namespace howlate
