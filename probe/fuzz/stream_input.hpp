// One input of the fuzzing of the stream's reader: shared by the libFuzzer target and the unit test that
// mutates with a seed.
#pragma once

#include <cstddef>
#include <span>

namespace howlate {

// Reads `bytes` in every way that the probe reads a stream and checks what must hold whatever they are;
// aborts where it does not. Reading out of bounds is the sanitizers' to find.
void read_stream_input(std::span<const std::byte> bytes);

}  // namespace howlate
