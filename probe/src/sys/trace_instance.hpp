// A trace instance of our own: a ring buffer, events and options beside the machine's own tracing, which it does not touch.
// It is in a journal before it is made (sys/changes.hpp) and removed by whoever undoes that.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/result.hpp"
#include "sys/changes.hpp"

namespace howlate {

class TraceInstance {
 public:
  // In the folder of the kernel's tracing; `changes` outlives it and removes it. One that is there already was left by a
  // killed probe, or is another's that is in use: it is taken over, or refused.
  static Result<TraceInstance> make(const std::string& tracing, const std::string& name, Changes& changes);

  // A setting of the instance ("buffer_size_kb"), which goes with it.
  [[nodiscard]] Status set(std::string_view file, const std::string& value) const;
  [[nodiscard]] std::optional<std::string> read(std::string_view file) const;
  [[nodiscard]] std::string path(std::string_view file) const { return folder_ + '/' + std::string(file); }
  void stop() const;  // nothing is recorded afterwards; what was recorded can be read

 private:
  explicit TraceInstance(std::string folder) : folder_(std::move(folder)) {}
  std::string folder_;
};

// Removes the instances that killed probes of this boot left behind; what else they left is for `restore`.
void remove_left_instances(const Root& root);

}  // namespace howlate
