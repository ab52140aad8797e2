// A folder that stands for "/" in a test.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "sys/root.hpp"

namespace howlate {

class Fixture {
 public:
  Fixture() {
    std::string name = std::filesystem::temp_directory_path().string() + "/howlate-unit-XXXXXX";
    path_ = ::mkdtemp(name.data());
  }
  Fixture(const Fixture&) = delete;
  Fixture& operator=(const Fixture&) = delete;
  ~Fixture() { std::filesystem::remove_all(path_); }

  void write(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(path_ + path).parent_path());
    std::ofstream(path_ + path, std::ios::binary) << text;
  }
  [[nodiscard]] std::string read(const std::string& path) const {
    std::ifstream file(path_ + path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  [[nodiscard]] Root root() const { return Root(path_); }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace howlate
