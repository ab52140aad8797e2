#include "job/job.hpp"

#include <algorithm>

#include "core/json_read.hpp"

namespace howlate {
namespace {

constexpr std::string_view right_line = R"(a line is like ["howlate-probe", "cyclic", "--stream=stream"])";

Error wrong_line(std::size_t number, const std::string& what, std::string remedy = std::string(right_line)) {
  return usage_error("line " + std::to_string(number) + " of the job " + what, std::move(remedy));
}

bool is_module_name(std::string_view name) {
  const auto fits = [](char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
           (letter >= '0' && letter <= '9') || letter == '_' || letter == '-';
  };
  return !name.empty() && std::all_of(name.begin(), name.end(), fits);
}

Result<std::vector<std::string>> read_words(std::string_view text, std::size_t number) {
  const Result<JsonValue> value = JsonValue::parse(text);
  if (!value) return wrong_line(number, "is not JSON: " + value.error().message);
  if (value->kind() != JsonValue::JsonKind::array) return wrong_line(number, "is not an array");
  std::vector<std::string> words;
  for (const JsonValue& item : value->items()) {
    if (item.kind() != JsonValue::JsonKind::string)
      return wrong_line(number, "holds something that is not a string");
    if (item.text().find('\0') != std::string_view::npos)
      return wrong_line(number, "holds a zero byte, which no program can be given");
    words.emplace_back(item.text());
  }
  if (words.empty()) return wrong_line(number, "is an empty array");
  return words;
}

Status check_module(const JobLine& line, std::size_t number) {
  if (line.argv.size() < 2 || !is_module_name(line.argv[1]))
    return wrong_line(number, "names no module", R"(a module is like ["module", "veth"])");
  for (std::size_t at = 2; at < line.argv.size(); ++at)
    if (line.argv[at].empty() || line.argv[at].find_first_of("\"\n") != std::string::npos)
      return wrong_line(number, "holds a parameter that the kernel cannot be given",
                        R"(a parameter is like "rd_nr=1")");
  return {};
}

Result<JobLine> read_line(std::string_view text, std::size_t number) {
  Result<std::vector<std::string>> words = read_words(text, number);
  if (!words) return words.error();
  JobLine line{JobLine::LineKind::program, std::move(*words)};
  const std::string& first = line.argv.front();
  if (first == "howlate-probe") {
    line.kind = JobLine::LineKind::probe;
  } else if (first == "module") {
    line.kind = JobLine::LineKind::module;
    if (const Status status = check_module(line, number); !status) return status.error();
  } else if (first == "unload") {
    line.kind = JobLine::LineKind::unload;
    if (line.argv.size() != 2 || !is_module_name(line.argv[1]))
      return wrong_line(number, "names no module", R"(to unload one is like ["unload", "veth"])");
  } else if (first == "disk") {
    line.kind = JobLine::LineKind::disk;
    if (line.argv.size() != 3 || !line.argv[1].starts_with("/dev/") || !line.argv[2].starts_with("/"))
      return wrong_line(number, "names no device and folder",
                        R"(a disk is like ["disk", "/dev/ram0", "/var/tmp"])");
  } else if (first == "copy") {
    line.kind = JobLine::LineKind::copy;
    if (line.argv.size() != 2 || !line.argv[1].starts_with("/proc/"))
      return wrong_line(number, "names no file of /proc", R"(a copy is like ["copy", "/proc/kallsyms"])");
  } else if (!first.starts_with("/")) {
    return wrong_line(
        number, "begins with '" + first + "'",
        "Its first word is howlate-probe, module, unload, disk, copy, or a program's path from /");
  }
  return line;
}

}  // namespace

Result<Job> read_job(std::string_view text) {
  Job job;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    Result<JobLine> line = read_line(text.substr(0, end), job.size());
    if (!line) return line.error();
    job.push_back(std::move(*line));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (job.empty()) return usage_error("the job has no lines", std::string(right_line));
  return job;
}

std::string module_parameters(const JobLine& line) {
  std::string text;
  for (std::size_t at = 2; at < line.argv.size(); ++at) {
    const std::string& word = line.argv[at];
    if (at > 2) text += ' ';
    const std::size_t equals = word.find('=');
    if (word.find(' ') == std::string::npos || equals == std::string::npos) {
      text += word;
    } else {
      text += word.substr(0, equals + 1) + '"' + word.substr(equals + 1) + '"';
    }
  }
  return text;
}

}  // namespace howlate
