// A JSON writer that handles commas, escapes and numbers and checks nesting. It does not read JSON.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace howlate {

// Numbers are written so that a reader gets the same value back; a double that is not finite becomes null.
// Bytes of a string that are not UTF-8 become U+FFFD. Closing what was not opened, or a value without a key
// in an object, aborts.
class JsonWriter {
 public:
  JsonWriter& begin_object();
  JsonWriter& end_object();
  JsonWriter& begin_array();
  JsonWriter& end_array();
  JsonWriter& key(std::string_view name);

  JsonWriter& value(std::string_view text);
  JsonWriter& value(const char* text) { return value(std::string_view(text)); }
  JsonWriter& value(bool truth);
  JsonWriter& value(double number);
  template <std::integral Number>
  requires(!std::same_as<Number, bool>) JsonWriter& value(Number number) {
    return raw(std::to_string(number));
  }
  JsonWriter& null();
  JsonWriter& raw(std::string_view json);  // one value that is already JSON

  // key(name).value(number): the common case in one word.
  template <class Value>
  JsonWriter& member(std::string_view name, const Value& one) {
    return key(name).value(one);
  }
  JsonWriter& member_raw(std::string_view name, std::string_view json) { return key(name).raw(json); }

  // The text, with everything closed (else it aborts); the writer is empty again.
  [[nodiscard]] std::string take();

 private:
  enum class JsonLevel { array, object, keyed };  // keyed: a key is written and waits for its value
  void before_value();
  void after_value();
  void open(char bracket, JsonLevel place);
  void close(char bracket, JsonLevel place);

  std::string text_;
  std::vector<JsonLevel> places_;
  bool first_ = true;
};

// `text` as a JSON string with its quotes.
std::string json_string(std::string_view text);

}  // namespace howlate
