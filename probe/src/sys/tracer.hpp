// One of the kernel's own measuring tracers (timerlat, hwlat) in a trace instance of ours, with its settings; all
// is as it was when it goes, or `restore` undoes it (sys/changes.hpp).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/result.hpp"
#include "sys/changes.hpp"
#include "sys/root.hpp"
#include "sys/trace_instance.hpp"

namespace howlate {

// The tracing folder of a kernel that has the tracer; else the reason in one sentence (without a remedy).
Result<std::string> tracing_with(std::string_view tracer, const Root& root);

class Tracer {
 public:
  // `measured`: CPUs where nothing of ours is to run beside it (sys/changes.hpp).
  static Result<Tracer> make(std::string_view name, const Root& root, std::vector<int> measured = {});
  Tracer(Tracer&& other) noexcept
      : root_(std::move(other.root_)),
        name_(std::move(other.name_)),
        folder_(std::move(other.folder_)),
        changes_(std::move(other.changes_)),
        instance_(std::move(other.instance_)),
        there_(std::exchange(other.there_, false)),
        buffer_(std::move(other.buffer_)) {}
  Tracer& operator=(Tracer&&) = delete;
  Tracer(const Tracer&) = delete;
  Tracer& operator=(const Tracer&) = delete;
  ~Tracer() { end(); }

  // A setting of all the machine's tracing ("hwlat_detector/window"), written and read back; restored at the end.
  Status set(std::string_view file, const std::string& value);
  // A setting of the instance ("buffer_size_kb"), which goes with it.
  [[nodiscard]] Status set_own(std::string_view file, const std::string& value) const {
    return instance_.set(file, value);
  }
  [[nodiscard]] std::optional<std::string> read(std::string_view file) const;
  [[nodiscard]] std::optional<std::string> read_own(std::string_view file) const {
    return instance_.read(file);
  }

  Status start();                          // starts the tracer
  void stop() const { instance_.stop(); }  // nothing is recorded afterwards; the recorded lines can be read
  // Each line of what was recorded. Reads through a buffer of its own size: no page is touched first.
  Status each_line(const std::function<void(std::string_view)>& line);
  void end();

 private:
  Tracer(std::string name, std::string folder, const Root& root, Changes changes, TraceInstance instance);
  [[nodiscard]] std::string without_root(const std::string& path) const {
    return path.substr(root_.at("").size());
  }

  Root root_;
  std::string name_, folder_;
  Changes changes_;
  TraceInstance instance_;
  bool there_ = true;
  std::vector<char> buffer_;
};

}  // namespace howlate
