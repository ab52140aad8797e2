#include "sys/facts_inflate.hpp"

#include <array>
#include <cstdint>
#include <span>

namespace howlate {
namespace {

// Bits of the packed stream, lowest first. Past the end it gives zeros and remembers that it did.
class Bits {
 public:
  explicit Bits(std::string_view bytes) : bytes_(bytes) {}
  unsigned take(unsigned count) {
    unsigned value = 0;
    for (unsigned bit = 0; bit < count; ++bit) value |= one() << bit;
    return value;
  }
  unsigned one() {
    if (at_ >= bytes_.size()) {
      ended_ = true;
      return 0;
    }
    const unsigned bit = (static_cast<unsigned char>(bytes_[at_]) >> bit_) & 1U;
    if (++bit_ == 8) {
      bit_ = 0;
      ++at_;
    }
    return bit;
  }
  void to_byte() {
    if (bit_ != 0) {
      bit_ = 0;
      ++at_;
    }
  }
  [[nodiscard]] bool ended() const { return ended_; }
  [[nodiscard]] std::size_t position() const { return at_; }

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
  unsigned bit_ = 0;
  bool ended_ = false;
};

constexpr unsigned longest_code = 15;

// A canonical Huffman code, decoded by counting: how many codes there are of each length, and their symbols
// in order.
class Code {
 public:
  explicit Code(std::span<const std::uint8_t> lengths) {
    for (const std::uint8_t length : lengths) ++count_[length];
    count_[0] = 0;
    std::array<unsigned, longest_code + 2> next{};
    for (unsigned length = 1; length <= longest_code; ++length)
      next[length + 1] = next[length] + count_[length];
    for (std::size_t symbol = 0; symbol < lengths.size(); ++symbol) {
      if (lengths[symbol] != 0) symbols_[next[lengths[symbol]]++] = static_cast<std::uint16_t>(symbol);
    }
  }
  // The next symbol, or -1 for a code that is not in the table.
  int decode(Bits& bits) const {
    int code = 0;
    int first = 0;
    int index = 0;
    for (unsigned length = 1; length <= longest_code; ++length) {
      code |= static_cast<int>(bits.one());
      const int many = static_cast<int>(count_[length]);
      if (code - many < first) return symbols_[static_cast<std::size_t>(index + code - first)];
      index += many;
      first = (first + many) << 1;
      code <<= 1;
    }
    return -1;
  }

 private:
  std::array<unsigned, longest_code + 1> count_{};
  std::array<std::uint16_t, 288> symbols_{};
};

Error damaged(std::string_view what) {
  return broken("the compressed file is damaged: " + std::string(what), "read it again");
}

struct Range {
  std::uint16_t base;
  std::uint8_t extra;
};

// A length symbol 257 + i means base + `extra` more bits (RFC 1951, 3.2.5).
constexpr std::array<Range, 29> length_ranges = {
    {{3, 0},  {4, 0},  {5, 0},  {6, 0},   {7, 0},   {8, 0},   {9, 0},   {10, 0},  {11, 1}, {13, 1},
     {15, 1}, {17, 1}, {19, 2}, {23, 2},  {27, 2},  {31, 2},  {35, 3},  {43, 3},  {51, 3}, {59, 3},
     {67, 4}, {83, 4}, {99, 4}, {115, 4}, {131, 5}, {163, 5}, {195, 5}, {227, 5}, {258, 0}}};

// Distance symbols: two for each number of extra bits, from the third pair on.
Range distance_range(unsigned symbol) {
  if (symbol < 4) return {static_cast<std::uint16_t>(symbol + 1), 0};
  const unsigned extra = symbol / 2 - 1;
  return {static_cast<std::uint16_t>(((2U + symbol % 2) << extra) + 1), static_cast<std::uint8_t>(extra)};
}

Status compressed_block(Bits& bits, const Code& literals, const Code& distances, std::string& out,
                        std::size_t limit) {
  for (;;) {
    const int symbol = literals.decode(bits);
    if (bits.ended()) return damaged("it ends early");
    if (symbol == 256) return {};
    if (symbol < 0 || symbol > 285) return damaged("a code is not in its table");
    if (symbol < 256) {
      out += static_cast<char>(symbol);
      if (out.size() > limit) return damaged("it unpacks to more than it may");
      continue;
    }
    const Range length = length_ranges[static_cast<std::size_t>(symbol - 257)];
    const std::size_t many = length.base + bits.take(length.extra);
    const int far = distances.decode(bits);
    if (far < 0 || far > 29) return damaged("a distance is not in its table");
    const Range range = distance_range(static_cast<unsigned>(far));
    const std::size_t back = range.base + bits.take(range.extra);
    if (back > out.size()) return damaged("a distance points before its start");
    if (out.size() + many > limit) return damaged("it unpacks to more than it may");
    for (std::size_t copied = 0; copied < many; ++copied) out += out[out.size() - back];
  }
}

Status fixed_block(Bits& bits, std::string& out, std::size_t limit) {
  std::array<std::uint8_t, 288> lengths{};
  for (std::size_t symbol = 0; symbol < lengths.size(); ++symbol) {
    lengths[symbol] = symbol < 144 ? 8 : symbol < 256 ? 9 : symbol < 280 ? 7 : 8;
  }
  std::array<std::uint8_t, 30> distances{};
  distances.fill(5);
  return compressed_block(bits, Code(lengths), Code(distances), out, limit);
}

Status dynamic_block(Bits& bits, std::string& out, std::size_t limit) {
  constexpr std::array<std::uint8_t, 19> order = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                                  11, 4,  12, 3, 13, 2, 14, 1, 15};
  const std::size_t literals = bits.take(5) + 257;
  const std::size_t distances = bits.take(5) + 1;
  const std::size_t codes = bits.take(4) + 4;
  if (literals > 286 || distances > 30) return damaged("its tables are too long");
  std::array<std::uint8_t, 19> code_lengths{};
  for (std::size_t at = 0; at < codes; ++at)
    code_lengths[order[at]] = static_cast<std::uint8_t>(bits.take(3));
  const Code code_of_lengths(code_lengths);
  std::array<std::uint8_t, 286 + 30> lengths{};
  for (std::size_t at = 0; at < literals + distances;) {
    const int symbol = code_of_lengths.decode(bits);
    if (symbol < 0 || bits.ended()) return damaged("its tables end early");
    if (symbol < 16) {
      lengths[at++] = static_cast<std::uint8_t>(symbol);
      continue;
    }
    if (symbol == 16 && at == 0) return damaged("its tables repeat nothing");
    const std::uint8_t value = symbol == 16 ? lengths[at - 1] : std::uint8_t{0};
    std::size_t many = symbol == 16 ? 3 + bits.take(2) : symbol == 17 ? 3 + bits.take(3) : 11 + bits.take(7);
    if (at + many > literals + distances) return damaged("its tables are too long");
    while (many-- > 0) lengths[at++] = value;
  }
  const std::span all(lengths);
  return compressed_block(bits, Code(all.first(literals)), Code(all.subspan(literals, distances)), out,
                          limit);
}

Status stored_block(Bits& bits, std::string& out, std::size_t limit) {
  bits.to_byte();
  const unsigned length = bits.take(16);
  if ((length ^ bits.take(16)) != 0xffff) return damaged("a stored part's length is not what it says");
  if (out.size() + length > limit) return damaged("it unpacks to more than it may");
  for (unsigned at = 0; at < length; ++at) out += static_cast<char>(bits.take(8));
  if (bits.ended()) return damaged("it ends early");
  return {};
}

std::uint32_t crc32(std::string_view bytes) {
  std::uint32_t crc = 0xffffffffU;
  for (const char byte : bytes) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1U) ^ ((crc & 1U) != 0 ? 0xedb88320U : 0U);
  }
  return ~crc;
}

// Where the packed data begin behind the header and its optional fields; npos if it is no gzip.
std::size_t header_end(std::string_view packed) {
  if (packed.size() < 18 || packed.substr(0, 3) != "\x1f\x8b\x08") return std::string_view::npos;
  const unsigned flags = static_cast<unsigned char>(packed[3]);
  std::size_t at = 10;
  if ((flags & 4U) != 0) {
    at += 2U + static_cast<unsigned char>(packed[at]) + 256U * static_cast<unsigned char>(packed[at + 1]);
  }
  for (const unsigned text : {8U, 16U}) {
    if ((flags & text) == 0) continue;
    const auto end = packed.find('\0', at);
    if (end == std::string_view::npos) return end;
    at = end + 1;
  }
  if ((flags & 2U) != 0) at += 2;
  return at + 8 <= packed.size() ? at : std::string_view::npos;
}

}  // namespace

Result<std::string> gunzip(std::string_view packed, std::size_t limit) {
  const std::size_t start = header_end(packed);
  if (start == std::string_view::npos) return damaged("it has no gzip header");
  const std::string_view body = packed.substr(start);
  Bits bits(body);
  std::string out;
  for (bool last = false; !last;) {
    last = bits.one() != 0;
    const unsigned kind = bits.take(2);
    if (kind == 3) return damaged("a block is of no known kind");
    const Status status = kind == 0   ? stored_block(bits, out, limit)
                          : kind == 1 ? fixed_block(bits, out, limit)
                                      : dynamic_block(bits, out, limit);
    if (!status) return status.error();
  }
  bits.to_byte();
  if (bits.position() + 8 > body.size()) return damaged("it ends early");
  Bits tail(body.substr(bits.position()));
  const std::uint32_t crc = tail.take(32);
  const std::uint32_t length = tail.take(32);
  if (length != static_cast<std::uint32_t>(out.size()) || crc != crc32(out)) {
    return damaged("its checksum does not agree");
  }
  return out;
}

}  // namespace howlate
