// The kernel's descriptions of its trace events (events/SYSTEM/NAME/format), and reading fields by them. Offsets differ
// from kernel to kernel (PREEMPT_RT has fields of its own in front), so nothing is known but the names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace howlate {

struct TraceField {
  std::string name;
  std::uint32_t offset = 0;
  std::uint32_t bytes = 0;
  bool is_signed = false;
  bool elsewhere = false;  // "__data_loc": the field holds where in the event the text is
};

struct TraceFormat {
  std::string name;
  int id = -1;
  std::vector<TraceField> fields;
};

// The lines "field:TYPE NAME;	offset:N;	size:N;	signed:N;"; others are passed over.
std::vector<TraceField> parse_trace_fields(std::string_view text);
const TraceField* find_field(std::span<const TraceField> fields, std::string_view name);
// Nothing without a name, an id and a common_type where events have it.
std::optional<TraceFormat> parse_trace_format(std::string_view text);

// A number of 1, 2, 4 or 8 bytes; nothing where the event is too short for it, or it is of another size.
std::optional<std::int64_t> number_in(const TraceField& field, std::span<const std::byte> event);
// A text up to its zero, or to the end of its field; empty where it is not within the event.
std::string text_in(const TraceField& field, std::span<const std::byte> event);

}  // namespace howlate
