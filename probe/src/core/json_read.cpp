#include "core/json_read.hpp"

#include <charconv>

namespace howlate {

namespace {

constexpr int depth_limit = 64;
constexpr std::size_t value_limit = std::size_t{1} << 20U;  // a made-up text must not fill the memory

void append_utf8(std::string& out, std::uint32_t point) {
  const auto put = [&out](std::uint32_t byte) { out += static_cast<char>(byte); };
  if (point < 0x80) {
    put(point);
  } else if (point < 0x800) {
    put(0xc0U | (point >> 6U));
    put(0x80U | (point & 0x3fU));
  } else if (point < 0x10000) {
    put(0xe0U | (point >> 12U));
    put(0x80U | ((point >> 6U) & 0x3fU));
    put(0x80U | (point & 0x3fU));
  } else {
    put(0xf0U | (point >> 18U));
    put(0x80U | ((point >> 12U) & 0x3fU));
    put(0x80U | ((point >> 6U) & 0x3fU));
    put(0x80U | (point & 0x3fU));
  }
}

}  // namespace

// Recursive descent; every member answers whether it could read, and leaves at_ where it could not.
class JsonReader {
 public:
  explicit JsonReader(std::string_view text) : text_(text) {}

  bool whole(JsonValue& out) {
    if (!value(out, 0)) return false;
    space();
    return at_ == text_.size();
  }
  [[nodiscard]] std::size_t at() const { return at_; }

 private:
  void space() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos)
      ++at_;
  }
  bool take(char letter) {
    if (at_ >= text_.size() || text_[at_] != letter) return false;
    ++at_;
    return true;
  }
  bool take_token(char letter) {
    space();
    return take(letter);
  }

  bool value(JsonValue& out, int depth) {
    space();
    if (depth > depth_limit || ++values_ > value_limit || at_ >= text_.size()) return false;
    switch (text_[at_]) {
      case '{':
        return object(out, depth);
      case '[':
        return array(out, depth);
      case '"':
        out.kind_ = JsonValue::JsonKind::string;
        return string(out.text_);
      case 't':
        return word(out, "true", JsonValue::JsonKind::boolean);
      case 'f':
        return word(out, "false", JsonValue::JsonKind::boolean);
      case 'n':
        return word(out, "null", JsonValue::JsonKind::null);
      default:
        return number(out);
    }
  }

  bool word(JsonValue& out, std::string_view spelt, JsonValue::JsonKind kind) {
    if (text_.substr(at_, spelt.size()) != spelt) return false;
    at_ += spelt.size();
    out.kind_ = kind;
    out.text_ = spelt;
    return true;
  }

  bool digits() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
    return at_ > begin;
  }

  bool number(JsonValue& out) {
    const std::size_t begin = at_;
    take('-');
    const bool zero = at_ < text_.size() && text_[at_] == '0';
    const std::size_t whole = at_;
    if (!digits() || (zero && at_ - whole > 1)) return false;
    if (take('.') && !digits()) return false;
    if (take('e') || take('E')) {
      if (!take('+')) take('-');
      if (!digits()) return false;
    }
    out.kind_ = JsonValue::JsonKind::number;
    out.text_ = text_.substr(begin, at_ - begin);
    return true;
  }

  bool hex4(std::uint32_t& point) {
    if (text_.size() - at_ < 4) return false;
    const char* const begin = text_.data() + at_;
    const auto [end, code] = std::from_chars(begin, begin + 4, point, 16);
    at_ += 4;
    return code == std::errc{} && end == begin + 4;
  }

  bool escape(std::string& out) {
    if (at_ >= text_.size()) return false;
    const char letter = text_[at_++];
    constexpr std::string_view spelt = "\"\\/bfnrt";
    constexpr std::string_view meant = "\"\\/\b\f\n\r\t";
    if (const std::size_t index = spelt.find(letter); index != std::string_view::npos) {
      out += meant[index];
      return true;
    }
    std::uint32_t point = 0;
    if (letter != 'u' || !hex4(point)) return false;
    if (point >= 0xd800 && point < 0xdc00) {
      std::uint32_t low = 0;
      if (!take('\\') || !take('u') || !hex4(low) || low < 0xdc00 || low > 0xdfff) return false;
      point = 0x10000 + ((point - 0xd800) << 10U) + (low - 0xdc00);
    } else if (point >= 0xdc00 && point < 0xe000) {
      return false;
    }
    append_utf8(out, point);
    return true;
  }

  bool string(std::string& out) {
    if (!take('"')) return false;
    while (at_ < text_.size()) {
      const char letter = text_[at_];
      if (static_cast<unsigned char>(letter) < 0x20) return false;
      ++at_;
      if (letter == '"') return true;
      if (letter != '\\') {
        out += letter;
      } else if (!escape(out)) {
        return false;
      }
    }
    return false;
  }

  bool array(JsonValue& out, int depth) {
    out.kind_ = JsonValue::JsonKind::array;
    ++at_;
    if (take_token(']')) return true;
    do {
      if (!value(out.items_.emplace_back(), depth + 1)) return false;
    } while (take_token(','));
    return take_token(']');
  }

  bool object(JsonValue& out, int depth) {
    out.kind_ = JsonValue::JsonKind::object;
    ++at_;
    if (take_token('}')) return true;
    do {
      space();
      if (!string(out.keys_.emplace_back()) || !take_token(':')) return false;
      if (!value(out.items_.emplace_back(), depth + 1)) return false;
    } while (take_token(','));
    return take_token('}');
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t values_ = 0;
};

Result<JsonValue> JsonValue::parse(std::string_view text) {
  JsonReader reader(text);
  JsonValue value;
  if (reader.whole(value)) return value;
  return broken("it is not JSON at its byte " + std::to_string(reader.at()));
}

std::optional<std::int64_t> JsonValue::integer() const {
  std::int64_t number = 0;
  const char* const end = text_.data() + text_.size();
  if (kind_ != JsonKind::number) return std::nullopt;
  const auto [stop, code] = std::from_chars(text_.data(), end, number);
  if (code != std::errc{} || stop != end) return std::nullopt;
  return number;
}

const JsonValue* JsonValue::find(std::string_view key) const {
  for (std::size_t index = 0; index < keys_.size(); ++index) {
    if (keys_[index] == key) return &items_[index];
  }
  return nullptr;
}

}  // namespace howlate
