// The keeper of a session (docs/ssh.md): the process that, on a machine which is measured from elsewhere, starts the
// jobs, outlives the connection that asked for them, keeps what they left until it is fetched, and in the end
// removes the session's folders, even if its owner never returns.
#pragma once

#include <cstdint>
#include <string>

#include "core/result.hpp"
#include "sys/file.hpp"

namespace howlate {

struct KeeperOptions {
  std::string folder;        // the session's: there, absolute, private
  std::string owner;         // who measures, reported on request
  std::int64_t keep_ns = 0;  // how long an idle session waits for its owner to come back
};

// Starts it as a process of its own, outside this one's session. When this returns, it accepts requests.
Status start_keeper(const KeeperOptions& options);

// Sends one request (a line without its end); the answer can be received from the descriptor.
//   state           its owner and what runs, as JSON
//   run NAME NS     starts the job in FOLDER/NAME/job with a lease: it is stopped after so long; started already is fine
//   renew NAME NS   a new lease from now on
//   wait NAME       answers when the job has ended: "ended CODE"
//   stop NAME       asks the job to end cleanly
//   drop NAME       removes what the job left
//   close           ends all, removes the session's folders, answers "closed" and is gone
Result<Fd> call_keeper(const std::string& folder, const std::string& request);

// Waits for the answer; "error ..." becomes an Error.
Result<std::string> keeper_answer(const Fd& call);

// Whether there is a keeper that answers.
bool has_keeper(const std::string& folder);

}  // namespace howlate
