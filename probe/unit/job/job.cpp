#include "job/job.hpp"

#include <doctest/doctest.h>

#include "core/json.hpp"
#include "core/random.hpp"

namespace howlate {
namespace {

std::string refused(std::string_view text) {
  const Result<Job> job = read_job(text);
  REQUIRE_FALSE(job.ok());
  CHECK(job.error().code == ExitCode::usage);
  return job.error().message;
}

std::string written(const Job& job) {
  std::string text;
  for (const JobLine& line : job) {
    JsonWriter json;
    json.begin_array();
    for (const std::string& word : line.argv) json.value(word);
    json.end_array();
    text += json.take() + '\n';
  }
  return text;
}

TEST_CASE("the six kinds of line are told apart by their first word") {
  const Result<Job> job = read_job(
      "[\"howlate-probe\", \"cyclic\"]\n[\"module\",\"veth\"]\n[\"disk\",\"/dev/ram0\",\"/var/tmp\"]\n"
      "[\"unload\",\"veth\"]\n[\"copy\",\"/proc/kallsyms\"]\n  [ \"/bin/echo\" , \"two words\" ]");
  REQUIRE(job.ok());
  REQUIRE(job->size() == 6);
  CHECK((*job)[0].kind == JobLine::LineKind::probe);
  CHECK((*job)[1].kind == JobLine::LineKind::module);
  CHECK((*job)[2].kind == JobLine::LineKind::disk);
  CHECK((*job)[3].kind == JobLine::LineKind::unload);
  CHECK((*job)[4].kind == JobLine::LineKind::copy);
  CHECK((*job)[5].kind == JobLine::LineKind::program);
  CHECK((*job)[5].argv == std::vector<std::string>{"/bin/echo", "two words"});
}

TEST_CASE("a bad line is refused with its number") {
  CHECK(refused("").find("no lines") != std::string::npos);
  CHECK(refused("[\"/bin/true\"]\n\n[\"/bin/true\"]").find("line 1") != std::string::npos);
  CHECK(refused("[\"/bin/true\"]\n[1]").find("line 1") != std::string::npos);
  CHECK(refused("{}").find("not an array") != std::string::npos);
  CHECK(refused("[]").find("empty array") != std::string::npos);
  CHECK(refused("[\"/bin/true\"] x").find("not JSON") != std::string::npos);
  CHECK(refused("[\"cyclic\"]").find("'cyclic'") != std::string::npos);
  CHECK(refused("[\"\"]").find("line 0") != std::string::npos);
  CHECK(refused("[\"/bin/echo\", \"a\\u0000b\"]").find("zero byte") != std::string::npos);
  CHECK(refused("[\"module\"]").find("names no module") != std::string::npos);
  CHECK(refused("[\"module\", \"../../x\"]").find("names no module") != std::string::npos);
  CHECK(refused("[\"module\", \"x\", \"a=\\\"\"]").find("parameter") != std::string::npos);
  CHECK(refused("[\"unload\"]").find("names no module") != std::string::npos);
  CHECK(refused("[\"unload\", \"a/b\"]").find("names no module") != std::string::npos);
  CHECK(refused("[\"unload\", \"x\", \"a=1\"]").find("names no module") != std::string::npos);
  CHECK(refused("[\"copy\"]").find("names no file of /proc") != std::string::npos);
  CHECK(refused("[\"copy\", \"/etc/shadow\"]").find("names no file of /proc") != std::string::npos);
  CHECK(refused("[\"disk\", \"/dev/ram0\"]").find("device and folder") != std::string::npos);
  CHECK(refused("[\"disk\", \"/etc/passwd\", \"/x\"]").find("device and folder") != std::string::npos);
}

TEST_CASE("parameters of a module are joined, and quoted where they hold blanks") {
  CHECK(module_parameters({JobLine::LineKind::module, {"module", "x"}}).empty());
  CHECK(module_parameters({JobLine::LineKind::module, {"module", "x", "a=1", "b", "c=d e"}}) ==
        "a=1 b c=\"d e\"");
}

TEST_CASE("whatever words a job holds, it reads back as it was written") {
  SplitMix random(1);
  for (int turn = 0; turn < 300; ++turn) {
    Job job;
    for (std::uint64_t lines = 1 + random.below(5); lines > 0; --lines) {
      JobLine line;
      line.argv.emplace_back("/p");
      for (std::uint64_t words = random.below(6); words > 0; --words) {
        std::string word;
        for (std::uint64_t letters = random.below(20); letters > 0; --letters)
          word +=
              static_cast<char>(1 + random.below(127));  // newlines, quotes, control letters: all but zero
        line.argv.push_back(word);
      }
      job.push_back(line);
    }
    const Result<Job> read = read_job(written(job));
    REQUIRE(read.ok());
    REQUIRE(read->size() == job.size());
    for (std::size_t i = 0; i < job.size(); ++i) CHECK((*read)[i].argv == job[i].argv);
  }
}

TEST_CASE("a damaged job is read or refused, and never read as more lines than it has") {
  SplitMix random(2);
  const std::string whole =
      "[\"howlate-probe\", \"cyclic\", \"--period=1ms\"]\n[\"module\", \"veth\", \"a=1\"]\n";
  for (int turn = 0; turn < 3000; ++turn) {
    std::string text = whole;
    for (std::uint64_t changes = 1 + random.below(3); changes > 0; --changes)
      text[random.below(text.size())] = static_cast<char>(random.below(256));
    const Result<Job> job = read_job(text);
    if (!job) {
      CHECK_FALSE(job.error().message.empty());
      continue;
    }
    CHECK(job->size() <= 4);
    for (const JobLine& line : *job) CHECK_FALSE(line.argv.empty());
  }
}

}  // namespace
}  // namespace howlate
