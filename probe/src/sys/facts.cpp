#include "sys/facts.hpp"

#include <sys/stat.h>

#include <cstdio>

#include "core/help.hpp"
#include "core/params.hpp"
#include "sys/facts_list.hpp"
#include "sys/standard.hpp"

namespace howlate {
namespace {

constexpr ParamSpec facts_options[] = {
    {"json", ParamType::flag, "", "", "", "as one JSON object (docs/facts.md)"},
    {"root", ParamType::text, "/", "", "",
     "read /proc, /sys, /dev, /etc and /boot below this folder: a captured machine"},
};

FactList gather(const Tree& tree) {
  FactList facts;
  gather_files(tree, facts);
  gather_kernel(tree, facts);
  gather_config(tree, facts);
  gather_cpus(tree, facts);
  gather_irqs(tree, facts);
  gather_tasks(tree, facts);
  gather_caller(tree, facts);
  gather_traces(tree, facts);
  gather_guest(tree, facts);
  return facts;
}

}  // namespace

std::string facts_json(std::string_view root) {
  return gather(Tree(root)).to_json();
}

std::string brief_facts_json(std::string_view root) {
  const Tree tree(root);
  FactList facts;
  gather_files(tree, facts);
  gather_kernel(tree, facts);
  return facts.brief_json({{"kernel_release", "kernel.release"},
                           {"kernel_version", "kernel.version"},
                           {"machine", "kernel.machine"},
                           {"cpus_online", "cpu.online"},
                           {"clocksource", "clock.source"},
                           {"cmdline", "kernel.cmdline"}});
}

ExitCode facts_command(const std::vector<std::string>& argv) {
  if (asks_for_help(argv)) {
    HelpPage page;
    page.usage = "howlate-probe facts [--json] [--root DIR]";
    page.summary =
        "What this machine is and how it is set, as far as it can make a task late. Changes nothing.";
    page.sections = {{"Options", facts_options}};
    page.example = "howlate-probe facts --json > facts.json";
    std::fputs(help_text(page).c_str(), stdout);
    return ExitCode::done;
  }
  const auto params = Params::parse({facts_options}, argv);
  if (!params) return complain(params.error());
  const std::string root = params->text("root");
  struct stat folder {};
  if (::stat(root.c_str(), &folder) != 0 || !S_ISDIR(folder.st_mode)) {
    return complain(
        usage_error("--root " + root + " is not a folder", "give the folder that holds proc/ and sys/"));
  }
  const FactList facts = gather(Tree(root));
  const std::string text = params->flag("json") ? facts.to_json() + "\n" : facts.to_text();
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    return complain(broken("the facts could not be written to standard output", "is the disk full?"));
  }
  return ExitCode::done;
}

}  // namespace howlate
