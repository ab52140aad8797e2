// libFuzzer's target for the stream's reader (cmake -DHOWLATE_FUZZ=ON with clang). An input's checksums are
// mended before a second reading: a fuzzer does not guess 32 bits, and what is behind them must hold as well.
#include "core/stream.hpp"

#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "mend.hpp"
#include "stream_input.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  howlate::read_stream_input(bytes);
  howlate::read_stream_input(howlate::mended(bytes));
  return 0;
}
