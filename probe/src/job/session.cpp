#include "job/session.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <iterator>

#include "core/help.hpp"
#include "core/json.hpp"
#include "core/params.hpp"
#include "core/stream.hpp"
#include "core/text.hpp"
#include "core/version.hpp"
#include "job/keeper.hpp"
#include "job/session_folder.hpp"
#include "sys/file.hpp"
#include "sys/mapped_file.hpp"
#include "sys/standard.hpp"

namespace howlate {
namespace {

constexpr ParamSpec options[] = {
    {"owner", ParamType::text, "", "", "", "open: who measures, shown to others who ask"},
    {"keep", ParamType::duration, "15min", "ns", "", "open: how long an idle session waits for its owner"},
    {"lease", ParamType::duration, "1min", "ns", "", "run, renew: stop the job after this time"},
    {"room", ParamType::bytes, "0", "B", "", "run: the room that its results need"},
    {"place", ParamType::text, "", "", "", "run: where there may be room if the session's own place has none",
     true},
    {"bytes", ParamType::count, "", "1", "", "run: the length of the job, which comes on standard input"},
    {"from", ParamType::count, "0", "1", "", "send: the byte to begin with"},
};

struct Call {
  Params params;
  std::string folder;
  std::string name;
};

std::string word(const Params& params, std::size_t at) {
  return params.positionals().size() > at ? params.positionals()[at] : std::string();
}

Status written(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t many = ::write(STDOUT_FILENO, bytes.data(), bytes.size());
    if (many < 0 && errno == EINTR) continue;
    if (many < 0) return broken("standard output cannot be written: " + errno_text(errno));
    bytes = bytes.subspan(static_cast<std::size_t>(many));
  }
  return {};
}

Status say(const std::string& line) {
  const std::string whole = line + '\n';
  return written(std::as_bytes(std::span(whole)));
}

Status asked(const Call& call, const std::string& request) {
  const Result<Fd> sent = call_keeper(call.folder, request);
  if (!sent) return sent.error();
  const Result<std::string> answer = keeper_answer(*sent);
  return answer ? say(*answer) : answer.error();
}

// What this program is, to compare with what was sent.
Status open_session(const Call& call) {
  const Result<MappedFile> self = MappedFile::open("/proc/self/exe");
  if (!self) return self.error();
  const Status started = start_keeper({call.folder, call.params.text("owner"), call.params.integer("keep")});
  if (!started) return started;
  JsonWriter json;
  json.begin_object().member("probe", version()).member("bytes", self->bytes().size());
  return say(json.member("crc32c", crc32c(self->bytes())).end_object().take());
}

std::string lease_of(const Call& call) {
  return std::to_string(call.params.integer("lease"));
}

// A connection that ends early looks like the end of the input: the length tells.
Status run_job_of(const Call& call) {
  const std::string job((std::istreambuf_iterator<char>(std::cin)), std::istreambuf_iterator<char>());
  if (static_cast<std::int64_t>(job.size()) != call.params.integer("bytes"))
    return broken("only " + std::to_string(job.size()) + " bytes of the job arrived");
  const Status made =
      make_work(call.folder, call.name, job, call.params.integer("room"), call.params.texts("place"));
  if (!made) return made;
  return asked(call, "run " + call.name + ' ' + lease_of(call));
}

// What was added to a file since the last time, to standard output.
class Growing {
 public:
  explicit Growing(std::string path) : path_(std::move(path)) {}

  Status pass_on() {
    if (!file_.valid()) file_ = Fd(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
    std::array<std::byte, 65536> bytes{};
    for (ssize_t got = 0; file_.valid() && (got = ::read(file_.get(), bytes.data(), bytes.size())) > 0;)
      if (const Status status = written(std::span(bytes).first(static_cast<std::size_t>(got))); !status)
        return status;
    return {};
  }

 private:
  std::string path_;
  Fd file_;
};

// Until the job has ended: what it says, once a second; then what became of it. Ends early if nobody reads.
Status follow(const Call& call) {
  const Result<Fd> sent = call_keeper(call.folder, "wait " + call.name);
  if (!sent) return sent.error();
  const std::string work = call.folder + '/' + call.name;
  Growing output(work + '/' + word(call.params, 3));
  std::array<struct pollfd, 2> fds = {{{sent->get(), POLLIN, 0}, {STDOUT_FILENO, 0, 0}}};
  while ((fds[0].revents & (POLLIN | POLLHUP)) == 0) {
    if (const Status status = output.pass_on(); !status) return status;
    ::poll(fds.data(), fds.size(), 1000);
    if ((fds[1].revents & (POLLERR | POLLHUP)) != 0) return broken("nobody reads");
  }
  const Result<std::string> answer = keeper_answer(*sent);
  if (!answer) return answer.error();
  if (const Status status = output.pass_on(); !status) return status;
  return say("\nended " + work_report(work, std::atoi(answer->c_str() + answer->find(' ') + 1)));
}

// "SIZE CRC32C" and the bytes.
Status send_file(const Call& call) {
  const std::string path = call.folder + '/' + call.name + '/' + word(call.params, 3);
  if (::access(path.c_str(), F_OK) != 0) return not_possible("there is no " + path);
  const Result<MappedFile> file = MappedFile::open(path);
  if (!file) return file.error();
  const auto bytes = file->bytes();
  const auto from = static_cast<std::size_t>(call.params.integer("from"));
  if (from > bytes.size()) return usage_error(path + " has only " + std::to_string(bytes.size()) + " bytes");
  if (const Status head = say(std::to_string(bytes.size()) + ' ' + std::to_string(crc32c(bytes))); !head)
    return head;
  return written(bytes.subspan(from));
}

Status list_sessions(const Call& call) {
  const std::vector<std::string>& words = call.params.positionals();
  for (const std::string& folder : living_sessions({words.begin() + 1, words.end()})) {
    const Result<Fd> sent = call_keeper(folder, "state");
    const Result<std::string> state = sent ? keeper_answer(*sent) : Result<std::string>(sent.error());
    if (!state) continue;  // it has ended meanwhile
    JsonWriter json;
    json.begin_object().member("folder", folder).member_raw("state", *state).end_object();
    if (const Status said = say(json.take()); !said) return said;
  }
  return {};
}

struct Verb {
  std::string_view name;
  std::size_t words;  // folder, name, file
  std::function<Status(const Call&)> call;
};

const std::vector<Verb>& verbs() {
  static const std::vector<Verb> all = {
      {"open", 1, open_session},
      {"run", 2, run_job_of},
      {"follow", 3, follow},
      {"send", 3, send_file},
      {"renew", 2, [](const Call& call) { return asked(call, "renew " + call.name + ' ' + lease_of(call)); }},
      {"stop", 2, [](const Call& call) { return asked(call, "stop " + call.name); }},
      {"drop", 2, [](const Call& call) { return asked(call, "drop " + call.name); }},
      {"close", 1, [](const Call& call) { return asked(call, "close"); }},
      {"list", 0, list_sessions},
  };
  return all;
}

std::string help() {
  return help_text(
      {"howlate-probe session VERB FOLDER [NAME [FILE]] [options]",
       "What howlate calls on a machine that it measures over SSH: jobs that outlive the connection.",
       "open FOLDER        keep a session in this folder, apart from the caller\n"
       "run FOLDER NAME    start a job, whose text comes on standard input\n"
       "follow FOLDER NAME FILE   print what the job writes into the file, and how it ended\n"
       "send FOLDER NAME FILE     \"SIZE CRC32C\" and the file's bytes\n"
       "renew FOLDER NAME  a new lease from now on\n"
       "stop, drop FOLDER NAME    end the job cleanly; remove what it left\n"
       "close FOLDER       end all and remove the folder\n"
       "list PLACE...      the sessions below these folders; removes what dead ones left",
       {{"Options", options}},
       "howlate-probe session list /dev/shm /tmp"});
}

Status check(const Verb& verb, const Call& call) {
  if (call.params.positionals().size() < verb.words + 1)
    return usage_error("session " + std::string(verb.name) + " needs more words",
                       "See howlate-probe session --help");
  if (verb.words > 0 && !call.folder.starts_with('/'))
    return usage_error("the session's folder " + in_quotes(call.folder) + " does not begin with /");
  if (verb.words > 1 && !is_work_name(call.name))
    return usage_error(in_quotes(call.name) + " cannot be a job's name");
  if (verb.name == "run" && !call.params.is_set("bytes")) return usage_error("a job needs --bytes");
  return {};
}

}  // namespace

ExitCode session_command(const std::vector<std::string>& argv) {
  if (argv.empty() || asks_for_help(argv)) {
    std::fputs(help().c_str(), stdout);
    return argv.empty() ? ExitCode::usage : ExitCode::done;
  }
  std::vector<std::string_view> names;
  for (const Verb& verb : verbs()) {
    names.push_back(verb.name);
    if (verb.name != argv.front()) continue;
    const Result<Params> params = Params::parse({options}, argv, 16);
    if (!params) return complain(params.error());
    const Call call{*params, word(*params, 1), word(*params, 2)};
    Status status = check(verb, call);
    if (status) status = verb.call(call);
    return status ? ExitCode::done : complain(status.error());
  }
  return complain(unknown_name("verb", argv.front(), names));
}

}  // namespace howlate
