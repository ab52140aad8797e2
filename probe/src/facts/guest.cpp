// What a guest's kernel made of its command line: the words that it handed to /init because nobody in the kernel
// knows them, and the words of modules that it has. Only where the first process is the lab's /init: elsewhere the
// environment of the first process is somebody's own.
#include <algorithm>
#include <string>
#include <vector>

#include "facts/fact.hpp"

namespace howlate {
namespace {

// The kernel puts these two there itself.
bool is_the_kernels_own(const std::string& word) {
  return word == "HOME=/" || word == "TERM=linux";
}

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : " ") + word;
  return out;
}

Result<std::string> handed_to_init(const Root& tree) {
  const auto arguments = tree.read("/proc/1/cmdline");
  if (!arguments) return arguments.error();
  const auto environment = tree.read("/proc/1/environ");
  if (!environment) return environment.error();
  std::vector<std::string> words = parts_of(*arguments, '\0');
  if (!words.empty()) words.erase(words.begin());
  std::vector<std::string> variables = parts_of(*environment, '\0');
  std::erase_if(variables, is_the_kernels_own);
  words.insert(words.end(), variables.begin(), variables.end());
  return joined(words);
}

// "module.name=value" where /sys/module/module/parameters/name is there. Parameters without permissions have no file.
bool has_file(const Root& tree, const std::string& word) {
  std::string name = word.substr(0, word.find('='));
  const std::size_t dot = name.find('.');
  if (dot == std::string::npos || name.find('/') != std::string::npos) return false;
  std::ranges::replace(name, '-', '_');
  return tree.exists("/sys/module/" + name.substr(0, dot) + "/parameters/" + name.substr(dot + 1));
}

Result<std::string> parameters_of_modules(const Root& tree) {
  const auto line = tree.read_text("/proc/cmdline");
  if (!line) return line.error();
  std::vector<std::string> words = parts_of(*line, ' ');
  std::erase_if(words, [&tree](const std::string& word) { return !has_file(tree, word); });
  return joined(words);
}

void gather_guest(const Root& tree, FactList& facts) {
  const auto first = tree.read_link("/proc/1/exe");
  if (!first || *first != "/init") return;
  facts.text_of("kernel.handed_to_init", handed_to_init(tree));
  facts.text_of("kernel.parameters_of_modules", parameters_of_modules(tree));
}

}  // namespace

extern const FactGroup fact_guest;
const FactGroup fact_guest = {"guest", gather_guest};

}  // namespace howlate
