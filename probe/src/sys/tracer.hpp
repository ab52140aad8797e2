// One of the kernel's own measuring tracers (timerlat, hwlat) in a trace instance of ours, with its settings; all
// is as it was when it goes. What is changed is in a journal first, as knobs are, so that `restore` undoes it after a
// probe that was killed; until then no other changes the same.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "sys/file.hpp"
#include "sys/journal.hpp"
#include "sys/root.hpp"

namespace howlate {

// The tracing folder of a kernel that has the tracer; else the reason in one sentence (without a remedy).
Result<std::string> tracing_with(std::string_view tracer, const Root& root);

class Tracer {
 public:
  static Result<Tracer> make(std::string_view name, const Root& root);
  Tracer(Tracer&& other) noexcept;
  Tracer& operator=(Tracer&&) = delete;
  Tracer(const Tracer&) = delete;
  Tracer& operator=(const Tracer&) = delete;
  ~Tracer() { end(); }

  // A setting of all the machine's tracing ("hwlat_detector/window"), written and read back; restored at the end.
  Status set(std::string_view file, const std::string& value);
  // A setting of the instance ("buffer_size_kb"), which goes with it.
  [[nodiscard]] Status set_own(std::string_view file, const std::string& value) const;
  [[nodiscard]] std::optional<std::string> read(std::string_view file) const;
  [[nodiscard]] std::optional<std::string> read_own(std::string_view file) const;

  Status start();     // starts the tracer
  void stop() const;  // nothing is recorded afterwards; the recorded lines can be read
  // Each line of what was recorded. Reads through a buffer of its own size: no page is touched first.
  Status each_line(const std::function<void(std::string_view)>& line);
  void end();

 private:
  Tracer(std::string name, std::string folder, const Root& root);
  Status keep_in_journal(Setting setting);
  [[nodiscard]] std::string without_root(const std::string& path) const {
    return path.substr(root_.at("").size());
  }

  Root root_;
  std::string name_, folder_, own_;
  bool made_ = false;  // the instance is ours
  std::vector<Setting> changed_;
  std::optional<Journal> journal_;
  std::vector<char> buffer_;
};

}  // namespace howlate
