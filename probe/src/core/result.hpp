// A value, or the sentence that says why there is none. The probe does not throw exceptions.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace howlate {

// The exit codes of probe and host alike (docs/architecture.md: Contracts).
enum class ExitCode : int {
  done = 0,          // done, or passed
  failed = 1,        // a threshold or a verdict failed
  usage = 2,         // wrong usage
  not_possible = 3,  // not possible here, with the reason
  broken = 4,        // something broke
  inconclusive = 5,
  session_over = 6,  // only from `howlate-probe session`: its keeper is gone (docs/ssh.md)
};

// What went wrong, in a sentence, and what the user can do about it.
struct Error {
  ExitCode code = ExitCode::broken;
  std::string message;      // "CPU 7 is not there: the machine has 0-1"
  std::string remedy;       // "choose --cpus from 0-1"; may be empty
  bool absent = false;      // the machine does not have the requested thing
  bool everywhere = false;  // no machine has it: not possible, whatever else is known of the machine
};

[[nodiscard]] inline Error usage_error(std::string message, std::string remedy = {}) {
  return {ExitCode::usage, std::move(message), std::move(remedy)};
}
[[nodiscard]] inline Error not_possible(std::string message, std::string remedy = {}) {
  return {ExitCode::not_possible, std::move(message), std::move(remedy)};
}
[[nodiscard]] inline Error nowhere_possible(std::string message, std::string remedy) {
  return {ExitCode::not_possible, std::move(message), std::move(remedy), false, true};
}
[[nodiscard]] inline Error broken(std::string message, std::string remedy = {}) {
  return {ExitCode::broken, std::move(message), std::move(remedy)};
}

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value)
      : state_(std::in_place_index<0>, std::move(value)) {}  // NOLINT(google-explicit-constructor)
  Result(Error error)
      : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }
  [[nodiscard]] T& value() { return std::get<0>(state_); }
  [[nodiscard]] const T& value() const { return std::get<0>(state_); }
  T& operator*() { return value(); }
  const T& operator*() const { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  [[nodiscard]] const Error& error() const { return std::get<1>(state_); }
  [[nodiscard]] T value_or(T otherwise) const { return ok() ? value() : std::move(otherwise); }

 private:
  std::variant<T, Error> state_;
};

// A Result without a value.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Error error) : error_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  [[nodiscard]] const Error& error() const { return *error_; }

 private:
  std::optional<Error> error_;
};

}  // namespace howlate
