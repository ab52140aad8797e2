#include "facts/base/command.hpp"

#include <sys/stat.h>

#include <cstdio>

#include "core/help.hpp"
#include "core/params.hpp"
#include "facts/fact.hpp"
#include "sys/standard.hpp"

namespace howlate {
namespace {

constexpr ParamSpec facts_options[] = {
    {"json", ParamType::flag, "", "", "", "print one JSON object (docs/facts.md)"},
    {"root", ParamType::text, "/", "", "",
     "read /proc, /sys, /dev, /etc and /boot below this folder: a captured machine"},
};

FactList gather(const Root& tree, bool brief = false) {
  FactList list;
  for (const FactGroup* const group : facts())
    if (group->brief || !brief) group->gather(tree, list);
  return list;
}

}  // namespace

std::string facts_json(std::string_view root) {
  return gather(Root(root)).to_json();
}

std::string brief_facts_json(std::string_view root) {
  return gather(Root(root), true)
      .brief_json({{"kernel_release", "kernel.release"},
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
        "What this machine is and how it is configured, as far as that can make a task late. Changes "
        "nothing.";
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
  const FactList list = gather(Root(root));
  const std::string text = params->flag("json") ? list.to_json() + "\n" : list.to_text();
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    return complain(broken("the facts could not be written to standard output", "is the disk full?"));
  }
  return ExitCode::done;
}

}  // namespace howlate
