#include "core/trace_format.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "core/text.hpp"

namespace howlate {

namespace {

std::string_view stripped(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

template <class Number>
std::optional<Number> number_after(std::string_view line, std::string_view key) {
  const std::size_t at = line.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view rest = stripped(line.substr(at + key.size()));
  Number value = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  if (error != std::errc{}) return std::nullopt;
  return value;
}

// "unsigned long caller[8]" -> "caller"; "__data_loc char[] name" -> "name".
std::string_view name_of(std::string_view declaration) {
  declaration = declaration.substr(declaration.find_last_of(" \t*") + 1);
  return declaration.substr(0, declaration.find('['));
}

std::optional<TraceField> parse_field(std::string_view line) {
  constexpr std::string_view key = "field:";
  line = stripped(line);
  if (!line.starts_with(key)) return std::nullopt;
  const std::size_t end = line.find(';');
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view declaration = stripped(line.substr(key.size(), end - key.size()));
  const std::string_view rest = line.substr(end + 1);
  const auto offset = number_after<std::uint32_t>(rest, "offset:");
  const auto bytes = number_after<std::uint32_t>(rest, "size:");
  if (!offset || !bytes || name_of(declaration).empty()) return std::nullopt;
  return TraceField{std::string(name_of(declaration)), *offset, *bytes,
                    number_after<int>(rest, "signed:").value_or(0) != 0,
                    declaration.starts_with("__data_loc")};
}

template <class Number>
std::int64_t number_at(std::span<const std::byte> event, std::size_t at) {
  Number value = 0;
  std::memcpy(&value, event.data() + at, sizeof value);
  return static_cast<std::int64_t>(value);
}

bool within(std::span<const std::byte> event, std::size_t at, std::size_t bytes) {
  return at <= event.size() && bytes <= event.size() - at;
}

}  // namespace

std::vector<TraceField> parse_trace_fields(std::string_view text) {
  std::vector<TraceField> fields;
  for (const std::string_view line : split(text, '\n'))
    if (auto field = parse_field(line)) fields.push_back(std::move(*field));
  return fields;
}

const TraceField* find_field(std::span<const TraceField> fields, std::string_view name) {
  const auto found =
      std::find_if(fields.begin(), fields.end(), [&](const TraceField& field) { return field.name == name; });
  return found == fields.end() ? nullptr : &*found;
}

std::optional<TraceFormat> parse_trace_format(std::string_view text) {
  TraceFormat format;
  for (const std::string_view line : split(text, '\n')) {
    if (line.starts_with("name:")) format.name = stripped(line.substr(5));
    if (line.starts_with("ID:")) format.id = number_after<int>(line, "ID:").value_or(-1);
  }
  format.fields = parse_trace_fields(text);
  if (format.name.empty() || format.id < 0 || find_field(format.fields, "common_type") == nullptr)
    return std::nullopt;
  return format;
}

std::optional<std::int64_t> number_in(const TraceField& field, std::span<const std::byte> event) {
  if (!within(event, field.offset, field.bytes)) return std::nullopt;
  switch (field.bytes) {
    case 1:
      return field.is_signed ? number_at<std::int8_t>(event, field.offset)
                             : number_at<std::uint8_t>(event, field.offset);
    case 2:
      return field.is_signed ? number_at<std::int16_t>(event, field.offset)
                             : number_at<std::uint16_t>(event, field.offset);
    case 4:
      return field.is_signed ? number_at<std::int32_t>(event, field.offset)
                             : number_at<std::uint32_t>(event, field.offset);
    case 8:
      return number_at<std::int64_t>(event, field.offset);
    default:
      return std::nullopt;
  }
}

std::string text_in(const TraceField& field, std::span<const std::byte> event) {
  std::size_t at = field.offset, bytes = field.bytes;
  if (field.elsewhere) {
    if (field.bytes != 4 || !within(event, at, 4)) return {};
    const auto place = static_cast<std::uint32_t>(number_at<std::uint32_t>(event, at));
    at = place & 0xffffU;
    bytes = place >> 16U;
  }
  if (!within(event, at, bytes)) return {};
  const auto* const text = reinterpret_cast<const char*>(event.data() + at);
  return {text, std::find(text, text + bytes, '\0')};
}

}  // namespace howlate
