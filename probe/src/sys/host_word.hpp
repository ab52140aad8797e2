// Words of a guest's window (docs/job.md) in which measuring threads say how far they are: the host reads them while the guest
// executes, and ends one in which none of them changes any more.
#pragma once

#include <atomic>
#include <cstdint>

namespace howlate {

// The environment's name for the file of the window, which /init sets.
inline constexpr const char* window_variable = "HOWLATE_WINDOW";
// Where the words stand in the window, and how many there are.
inline constexpr std::size_t host_words_at = 512, host_words_max = 448;

// A word of one's own; null outside of a guest, and where all are taken. It stays until the process ends.
std::atomic<std::int64_t>* take_host_word();

}  // namespace howlate
