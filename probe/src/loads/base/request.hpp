// The request for a load: parses NAME[:TARGET][,option=value...] and the words after it into checked values.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/params.hpp"
#include "core/result.hpp"
#include "loads/load.hpp"
#include "sys/sched.hpp"

namespace howlate {

struct LoadRequest {
  const Load* load = nullptr;
  Params params;                     // "target", the load's own and the common ones
  std::string target;                // as given or by default
  std::optional<double> target_cpu;  // share of the CPUs given, where the load is held at one
  std::vector<int> cpus;
  SchedPolicy policy;  // its nice is the caller's where none was given

  // The words that ask for the same again, with the CPUs as numbers: what a test runs after `howlate-probe
  // load`.
  [[nodiscard]] std::vector<std::string> words() const;
  [[nodiscard]] std::size_t workers() const;  // processes that work
  // Checks what the load needs from the machine, before any worker is started.
  [[nodiscard]] Status check() const;
  std::vector<std::string> given;  // the words as read: NAME, --target=..., --option=...
};

// "cpu:50,cpus=0,2,nice=10" -> {"cpu", "--target=50", "--cpus=0,2", "--nice=10"}. The numbers of a CPU list
// may be parted by commas: a piece that begins with a digit goes on with the CPUs before it.
Result<std::vector<std::string>> split_load_spec(std::string_view spec);

// `argv`: a SPEC and then options. Their words alone: `cpus` and `policy` are not read yet.
Result<LoadRequest> read_load_words(const std::vector<std::string>& argv);
// The same, with CPUs and policy. `measuring_cpus` gives `same` and `other` their meaning; without it they
// are refused.
Result<LoadRequest> read_load_request(const std::vector<std::string>& argv,
                                      const std::vector<int>* measuring_cpus = nullptr);

}  // namespace howlate
