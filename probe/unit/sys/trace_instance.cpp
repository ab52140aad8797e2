// A trace instance: in the journal first, gone with its owner, and removed by the next probe where its owner was killed.
#include "sys/trace_instance.hpp"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <functional>

#include "sys/fixture.hpp"
#include "sys/tracefs.hpp"

namespace howlate {
namespace {

namespace fs = std::filesystem;

const std::string instances = "/sys/kernel/tracing/instances";

// A machine with tracefs and a place for journals.
class Traced {
 public:
  Traced() {
    fs::create_directories(fixture_.path() + instances);
    fs::create_directories(fixture_.path() + "/run");
  }

  [[nodiscard]] Root root() const { return fixture_.root(); }
  [[nodiscard]] std::size_t count() const { return count_in(fixture_.path() + instances); }
  [[nodiscard]] std::size_t journals() const {
    return count_in(fixture_.path() + "/run/howlate") - 1;
  }  // but for the lock

 private:
  static std::size_t count_in(const std::string& folder) {
    const auto begin = fs::directory_iterator(folder);
    return static_cast<std::size_t>(std::distance(begin, fs::directory_iterator()));
  }
  Fixture fixture_;
};

Status make_one(const Root& root, Changes& changes) {
  const auto tracefs = Tracefs::open(root);
  if (!tracefs) return tracefs.error();
  const auto made = TraceInstance::make(tracefs->folder(), "howlate-" + std::to_string(::getpid()), changes);
  return made ? Status() : Status(made.error());
}

void in_a_killed_process(const std::function<void()>& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    body();
    ::raise(SIGKILL);
  }
  ::waitpid(child, nullptr, 0);
}

TEST_CASE("an instance goes with its owner") {
  const Traced machine;
  {
    Changes changes(machine.root());
    REQUIRE(make_one(machine.root(), changes).ok());
    CHECK(machine.count() == 1);
    CHECK(machine.journals() == 1);
  }
  CHECK(machine.count() == 0);
  CHECK(machine.journals() == 0);
}

TEST_CASE("what a killed probe left is removed by the next one, and what a living one has is not") {
  const Traced machine;
  in_a_killed_process([&] {
    Changes changes(machine.root());
    if (!make_one(machine.root(), changes)) ::_exit(1);
    ::raise(SIGKILL);
  });
  CHECK(machine.count() == 1);
  Changes changes(machine.root());
  REQUIRE(make_one(machine.root(), changes).ok());
  CHECK(machine.count() == 2);
  remove_left_instances(machine.root());
  CHECK(machine.count() == 1);
  CHECK(machine.journals() == 1);
}

TEST_CASE("where there is no tracing it is said, and nothing is left in the journal") {
  const Fixture bare;
  CHECK_FALSE(Tracefs::open(bare.root()).ok());
  const Traced machine;
  Changes changes(machine.root());
  CHECK_FALSE(TraceInstance::make(bare.path() + "/nothing", "howlate-1", changes).ok());
  CHECK(machine.journals() == 0);
}

}  // namespace
}  // namespace howlate
