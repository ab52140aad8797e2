#include "core/json.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace howlate {

namespace {

[[noreturn]] void misuse(const char* what) {
  std::fprintf(stderr, "howlate-probe: JSON written wrongly: %s\n", what);
  std::abort();
}

bool continues(std::string_view text, std::size_t at) {
  return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0U) == 0x80U;
}

// The length of the UTF-8 sequence at `at`, or 0 where there is none (overlong, surrogate, beyond U+10FFFF,
// cut).
std::size_t utf8_length(std::string_view text, std::size_t at) {
  const auto byte = static_cast<unsigned char>(text[at]);
  const auto next = at + 1 < text.size() ? static_cast<unsigned char>(text[at + 1]) : 0U;
  if (byte < 0x80) return 1;
  if (byte >= 0xc2 && byte <= 0xdf) return continues(text, at + 1) ? 2 : 0;
  if (byte >= 0xe0 && byte <= 0xef) {
    const bool bad = (byte == 0xe0 && next < 0xa0) || (byte == 0xed && next > 0x9f);
    return !bad && continues(text, at + 1) && continues(text, at + 2) ? 3 : 0;
  }
  if (byte >= 0xf0 && byte <= 0xf4) {
    const bool bad = (byte == 0xf0 && next < 0x90) || (byte == 0xf4 && next > 0x8f);
    return !bad && continues(text, at + 1) && continues(text, at + 2) && continues(text, at + 3) ? 4 : 0;
  }
  return 0;
}

void append_ascii(std::string& out, char letter) {
  switch (letter) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\t':
      out += "\\t";
      return;
    case '\r':
      out += "\\r";
      return;
    default:
      break;
  }
  if (static_cast<unsigned char>(letter) >= 0x20 && letter != 0x7f) {
    out += letter;
    return;
  }
  std::array<char, 8> escape{};
  std::snprintf(escape.data(), escape.size(), "\\u%04x",
                static_cast<unsigned>(static_cast<unsigned char>(letter)));
  out += escape.data();
}

}  // namespace

std::string json_string(std::string_view text) {
  std::string out = "\"";
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length(text, at);
    if (length == 0) {
      out += "\xef\xbf\xbd";
    } else if (length == 1) {
      append_ascii(out, text[at]);
    } else {
      out += text.substr(at, length);
    }
    at += length == 0 ? 1 : length;
  }
  return out + "\"";
}

void JsonWriter::before_value() {
  if (places_.empty()) {
    if (!text_.empty()) misuse("two values at the top");
  } else if (places_.back() == JsonLevel::object) {
    misuse("a value without a key");
  } else if (places_.back() == JsonLevel::array && !first_) {
    text_ += ", ";
  }
}

void JsonWriter::after_value() {
  if (!places_.empty() && places_.back() == JsonLevel::keyed) places_.back() = JsonLevel::object;
  first_ = false;
}

void JsonWriter::open(char bracket, JsonLevel place) {
  before_value();
  text_ += bracket;
  places_.push_back(place);
  first_ = true;
}

void JsonWriter::close(char bracket, JsonLevel place) {
  if (places_.empty() || places_.back() != place) misuse("a bracket that does not match");
  places_.pop_back();
  text_ += bracket;
  after_value();
}

JsonWriter& JsonWriter::begin_object() {
  open('{', JsonLevel::object);
  return *this;
}
JsonWriter& JsonWriter::end_object() {
  close('}', JsonLevel::object);
  return *this;
}
JsonWriter& JsonWriter::begin_array() {
  open('[', JsonLevel::array);
  return *this;
}
JsonWriter& JsonWriter::end_array() {
  close(']', JsonLevel::array);
  return *this;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  if (places_.empty() || places_.back() != JsonLevel::object) misuse("a key outside an object");
  if (!first_) text_ += ", ";
  text_ += json_string(name) + ": ";
  places_.back() = JsonLevel::keyed;
  return *this;
}

JsonWriter& JsonWriter::raw(std::string_view json) {
  before_value();
  text_ += json;
  after_value();
  return *this;
}

JsonWriter& JsonWriter::value(std::string_view text) {
  return raw(json_string(text));
}
JsonWriter& JsonWriter::value(bool truth) {
  return raw(truth ? "true" : "false");
}
JsonWriter& JsonWriter::null() {
  return raw("null");
}

JsonWriter& JsonWriter::value(double number) {
  if (!std::isfinite(number)) return null();
  std::array<char, 40> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number).ptr;
  std::string text(buffer.data(), end);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";  // a real stays a real
  return raw(text);
}

std::string JsonWriter::take() {
  if (!places_.empty()) misuse("taken before everything was closed");
  first_ = true;
  return std::exchange(text_, {});
}

}  // namespace howlate
