// What a killed probe left, undone by its guardian or by `restore`: of a journal that is whole, cut or damaged.
#include "sys/undo.hpp"

#include <doctest/doctest.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "knobs/base/command.hpp"
#include "knobs/base/set.hpp"
#include "knobs/machine.hpp"
#include "sys/journal.hpp"

namespace howlate {
namespace {

namespace fs = std::filesystem;

// The journal of a killed process that had set two knobs.
std::string left_journal(const Machine& machine) {
  in_a_killed_process([&] {
    const auto set = KnobSet::apply({"rt_throttling=off", "timer_migration=off"}, machine.context());
    ::raise(SIGKILL);
  });
  return read_journals(machine.state()).at(0).path;
}

std::string text_of(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

JournalOwner read_owner(const std::string& path) {
  for (const JournalFile& journal : read_journals(path.substr(0, path.rfind('/'))))
    if (journal.path == path) return journal.owner;
  return {};
}

TEST_CASE("a journal cut anywhere is read up to its last whole line") {
  const Machine machine;
  const std::string path = left_journal(machine);
  const std::string whole = text_of(path);
  std::size_t most = 0;
  for (std::size_t length = 0; length <= whole.size(); ++length) {
    std::ofstream(path) << whole.substr(0, length);
    const auto journals = read_journals(machine.state());
    REQUIRE(journals.size() == 1);
    CHECK(journals[0].settings.size() >= most);
    most = journals[0].settings.size();
  }
  CHECK(most == 2);
}

TEST_CASE("a journal that is not understood is kept, holds knobs back, and is not called restored") {
  const Machine machine;
  const std::string path = left_journal(machine);
  std::string whole = text_of(path);
  whole.replace(whole.find("journal-2"), 9, "journal-9");
  std::ofstream(path) << whole;
  CHECK(restore_command(machine.root()) == ExitCode::broken);
  CHECK(machine.read(runtime_file) == "-1");
  CHECK(machine.journals() == 1);
  const auto refused = KnobSet::apply({"timer_migration=on"}, machine.context());
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().message.find("not understood") != std::string::npos);
}

TEST_CASE("what can be read of a damaged journal is restored, and the journal is kept") {
  const Machine machine;
  const std::string path = left_journal(machine);
  std::string whole = text_of(path);
  const std::size_t last = whole.rfind("file\t");
  whole.replace(last, 4, "fi?e");
  std::ofstream(path) << whole;
  CHECK(restore_command(machine.root()) == ExitCode::broken);
  CHECK(machine.read(runtime_file) == "950000");
  CHECK(machine.read(migration_file) == "0");
  CHECK(machine.journals() == 1);
}

TEST_CASE("a journal whose first line is cut was never acted upon and goes") {
  const Machine machine;
  const std::string path = left_journal(machine);
  std::ofstream(path) << text_of(path).substr(0, 20);
  CHECK(restore_command(machine.root()) == ExitCode::done);
  CHECK(machine.journals() == 0);
}

TEST_CASE("what a guardian undoes is of its own process and of this boot alone") {
  const Machine machine;
  const JournalOwner owner = read_owner(left_journal(machine));
  const auto beside = KnobSet::apply({"nmi_watchdog=off"}, machine.context());
  REQUIRE(beside.ok());
  std::array<JournalOwner, 4> others = {owner, owner, owner, owner};
  others[0].pid += 1;
  others[1].start_ticks *= 10;  // the names of its journals would begin as ours
  others[2].boot_id = "00000000-0000-4000-8000-000000000000";
  others[3].pids = "pid:[1]";
  for (const JournalOwner& another : others) CHECK(undo_journals_of(another));
  CHECK(machine.read(runtime_file) == "-1");
  CHECK(machine.journals() == 2);
  CHECK(undo_journals_of(owner));
  CHECK(machine.read(runtime_file) == "950000");
  CHECK(machine.read(migration_file) == "1");
  CHECK(machine.read(watchdog_file) == "0");
  CHECK(machine.journals() == 1);
  CHECK(undo_journals_of(owner));  // there is nothing more
}

TEST_CASE("a guardian keeps a damaged journal for restore, and removes one that was never begun") {
  const Machine machine;
  const std::string path = left_journal(machine);
  const JournalOwner owner = read_owner(path);
  const std::string whole = text_of(path);
  std::ofstream(path) << whole + "fi?e\n";
  CHECK_FALSE(undo_journals_of(owner));
  CHECK(machine.read(runtime_file) == "950000");
  CHECK(machine.journals() == 1);
  std::ofstream(path) << whole.substr(0, 20);
  CHECK(undo_journals_of(owner));
  CHECK(machine.journals() == 0);
}

TEST_CASE("without a state folder a guardian makes none") {
  const Machine machine;
  CHECK(undo_journals_of({this_boot(), 1, 1, machine.context().root, {}}));
  CHECK_FALSE(fs::exists(machine.state()));
}

}  // namespace
}  // namespace howlate
