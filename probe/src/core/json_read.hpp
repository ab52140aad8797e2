// Reading JSON that may have been altered: the texts of a stream. Strict, with a bounded depth; keeps numbers
// as their text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/result.hpp"

namespace howlate {

class JsonValue {
 public:
  enum class JsonKind { null, boolean, number, string, array, object };

  // The value that the whole text is, or an Error (broken) that names the offending byte.
  static Result<JsonValue> parse(std::string_view text);

  [[nodiscard]] JsonKind kind() const { return kind_; }
  [[nodiscard]] std::string_view text() const {
    return text_;
  }  // of a string (unescaped) or a number (as written)
  [[nodiscard]] bool truth() const { return text_ == "true"; }
  [[nodiscard]] std::optional<std::int64_t> integer() const;  // empty if it is not an integer of 64 bits
  [[nodiscard]] const std::vector<JsonValue>& items() const {
    return items_;
  }  // of an array or object, in order
  [[nodiscard]] const std::vector<std::string>& keys() const {
    return keys_;
  }                                                                 // of an object, beside items()
  [[nodiscard]] const JsonValue* find(std::string_view key) const;  // null if it is absent

 private:
  friend class JsonReader;
  JsonKind kind_ = JsonKind::null;
  std::string text_;
  std::vector<std::string> keys_;
  std::vector<JsonValue> items_;
};

}  // namespace howlate
