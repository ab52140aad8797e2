#include "cell/check_stream.hpp"

#include <cstdio>

#include "core/help.hpp"
#include "core/params.hpp"
#include "core/stream_check.hpp"
#include "core/text.hpp"
#include "sys/mapped_file.hpp"
#include "sys/standard.hpp"

namespace howlate {

ExitCode check_stream_command(const std::vector<std::string>& argv) {
  if (asks_for_help(argv)) {
    const std::string page = help_text({"howlate-probe check-stream FILE",
                                        "Says what a stream contains and whether it is intact.",
                                        "Exit code 4 if it is cut or damaged, and the byte where.",
                                        {},
                                        "howlate-probe check-stream run.stream"});
    std::fputs(page.c_str(), stdout);
    return ExitCode::done;
  }
  const Result<Params> params = Params::parse({}, argv, 1);
  if (!params) return complain(params.error());
  if (params->positionals().empty()) return complain(usage_error("check-stream needs the name of a file"));
  const std::string& path = params->positionals().front();
  const Result<MappedFile> file = MappedFile::open(path);
  if (!file) return complain(file.error());
  const StreamReport report = check_stream(file->bytes());
  std::fputs(describe(report).c_str(), stdout);
  if (report.sound()) return ExitCode::done;
  return complain(broken(in_quotes(path) + ": " + report.problem, "what stands before it can be used"));
}

}  // namespace howlate
