// Writes the streams that the fuzzer begins from into a folder that is there: the unit tests' example, whole and cut after each
// of its frames.
#include <cstdio>
#include <string>

#include "example.hpp"

namespace {

bool write(const std::string& path, std::span<const std::byte> bytes) {
  std::FILE* const file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) return false;
  const bool written = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  return std::fclose(file) == 0 && written;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: fuzz-corpus FOLDER\n", stderr);
    return 2;
  }
  const howlate::example::Example whole;
  for (std::size_t frames = 0; frames < whole.ends.size(); ++frames) {
    const std::string path = std::string(argv[1]) + "/example-" + std::to_string(frames);
    if (write(path, std::span(whole.bytes).first(whole.ends[frames]))) continue;
    std::fprintf(stderr, "fuzz-corpus: %s cannot be written\n", path.c_str());
    return 4;
  }
  return 0;
}
