// The folders of a session (docs/ssh.md): the layout, the search for room, and the removal.
//
//   PLACE/howlate.TOKEN/howlate-probe     the program
//   PLACE/howlate.TOKEN/door              the keeper's socket
//   PLACE/howlate.TOKEN/NAME/             of one job: job, out/ (a folder, or a link to one elsewhere), errors, restored
//   OTHER/howlate.TOKEN/                  where PLACE has no room for results: NAME/, and `home`, a link to the first
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/result.hpp"

namespace howlate {

// A job's name: letters, digits, '-' and '_'.
bool is_work_name(const std::string& name);

// Makes FOLDER/NAME with its job, and its out/ where there is room for so many bytes: in the session's own
// place if that is not memory or they are few, else in one of the others.
Status make_work(const std::string& folder, const std::string& name, const std::string& job,
                 std::int64_t room, const std::vector<std::string>& others);
void remove_work(const std::string& folder, const std::string& name);

// All folders of the session.
void remove_session(const std::string& folder);

// Whether one of the job's lines ended by a signal. A killed probe restores nothing.
bool any_line_was_killed(const std::string& work);

// What the job left behind, as JSON: {"code", "lines": [{"status", "stderr"}...], "free_bytes", "errors", "restored"}.
std::string work_report(const std::string& work, int code);

// The sessions of this user below these places, and what is left of some whose keeper is gone: that is removed,
// unless it is a few seconds old. The folders of those that can be asked.
std::vector<std::string> living_sessions(const std::vector<std::string>& places);

}  // namespace howlate
