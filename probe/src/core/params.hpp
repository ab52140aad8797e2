// Parameters as data: a test, timer or load declares a table of ParamSpec, and the command line, `--help`,
// `list --json` and the stream's header are all made from it. No second list anywhere.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.hpp"
#include "core/result.hpp"

namespace howlate {

enum class ParamType {
  flag,      // --dither, or --dither=false
  count,     // non-negative integer
  integer,   // signed integer
  real,      // 0.5
  duration,  // carries a unit: 20us, 1ms, 2s, 250ns, 1min, 1h; at most ten years; held in ns
  bytes,     // 4KiB, 10MiB, 1GB, 512; held in B
  rate,      // bytes per second: 10MiB/s; held in B/s
  percent,   // 50 or 50%; held as a real 0..100
  cpus,      // 0-3,5 | all
  choice,    // one of `choices`
  text,
};

struct ParamSpec {
  std::string_view name;  // as on the command line, without dashes: "period"
  ParamType type;
  std::string_view fallback;  // default, spelt as on the command line; "" = not set
  std::string_view unit;      // of the held value: "ns", "B", "B/s", "%", "1" or ""
  std::string_view
      choices;  // for choice: "skip|backlog|as-published"; for cpus, rate: words beside it ("all" is one of cpus)
  std::string_view help;  // one line
  bool repeated = false;  // may be given several times (all values are kept, in order)
  bool scales = false;    // says how much is measured: a study's --scale multiplies it
};

// The longest duration that an option takes: ten years of 365 days.
inline constexpr std::int64_t duration_ns_max = 315'360'000'000'000'000;

// Parsed and checked values, by name. Asking for a name that no table declared is a programming error
// (asserted).
class Params {
 public:
  // Reads "--name value", "--name=value" and "--flag". An unknown option is a usage error that names the
  // nearest. The first `positional` words that are not options are kept in order in positionals().
  static Result<Params> parse(const std::vector<std::span<const ParamSpec>>& tables,
                              const std::vector<std::string>& argv, std::size_t positionals = 0);

  [[nodiscard]] bool declares(std::string_view name) const;
  [[nodiscard]] bool is_set(std::string_view name) const;  // given, or has a default
  [[nodiscard]] bool given(std::string_view name) const;   // on the command line
  // The value in force where it is not the one given (a random seed, the CPU chosen): only for texts and
  // to_json().
  void put(std::string_view name, std::string text);
  [[nodiscard]] bool flag(std::string_view name) const;
  [[nodiscard]] std::int64_t integer(
      std::string_view name) const;                          // count, integer, duration (ns), bytes, rate
  [[nodiscard]] double number(std::string_view name) const;  // the same, 0 where it is not set
  [[nodiscard]] double real(std::string_view name) const;    // real, percent
  [[nodiscard]] const std::string& text(std::string_view name) const;  // choice, text, cpus: as given
  [[nodiscard]] const std::vector<std::string>& texts(
      std::string_view name) const;  // repeated ones, as given
  [[nodiscard]] const std::vector<std::string>& positionals() const { return positionals_; }
  // Every parameter that is set with the value in force, spelt as given or by default, for the stream's
  // header: {"period": "1ms", "dither": true, "load": ["cpu:50"], ...} - flags as booleans, repeated ones as
  // arrays.
  [[nodiscard]] std::string to_json() const;
  // The names of the parameters that were given, sorted.
  [[nodiscard]] std::vector<std::string_view> given_names() const;
  // The parameters that were given, in the one spelling that equal values have: a period of 1000us as 1ms, a
  // count of 0100 as 100.
  [[nodiscard]] std::string given_json() const;

 private:
  struct Value {
    const ParamSpec* spec = nullptr;
    bool given = false;
    std::vector<std::string> texts;
    std::int64_t integer = 0;
    double real = 0;
  };
  friend class ParamsReader;
  [[nodiscard]] const Value& at(std::string_view name) const;
  static void write(JsonWriter& json, const std::string& name, const Value& value, bool canonical);

  std::map<std::string, Value, std::less<>> values_;
  std::vector<std::string> positionals_;
};

// Whether the option "period" lies within these limits.
Status check_period(const Params& params, std::int64_t least_ns, std::int64_t most_ns);

// Each parses the whole text, or says what is wrong with it and gives a valid example.
Result<std::int64_t> parse_duration_ns(std::string_view text);
Result<std::int64_t> parse_bytes(std::string_view text);
Result<std::int64_t> parse_rate(std::string_view text);
Result<std::int64_t> parse_count(std::string_view text);
// "0-3,5" -> {0,1,2,3,5}, sorted, without repeats; "all" is left to the caller (empty vector).
Result<std::vector<int>> parse_cpu_list(std::string_view text);

}  // namespace howlate
