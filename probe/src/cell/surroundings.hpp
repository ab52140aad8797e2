// What surrounds every measurement, whatever is measured: signals, knobs, loads, the machine read before and after; and how a cell's
// result leaves the process. In the order of a cell: begin(), read_before(), (measuring), read_after(), end(), write_trailer(),
// print_report(). A cell that cannot begin: give_up().
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cell/account.hpp"
#include "cell/cell.hpp"
#include "cell/loads.hpp"
#include "cell/others.hpp"
#include "cell/sink.hpp"
#include "knobs/base/set.hpp"
#include "sys/file.hpp"
#include "sys/throttling.hpp"

namespace howlate {

class Surroundings {
 public:
  Surroundings(Cell& cell, std::vector<int> allowed, std::vector<int> measuring)
      : cell_(cell), allowed_(std::move(allowed)), measuring_(std::move(measuring)), asking_(measuring_) {}

  // The CPUs that a load's cpus=same and cpus=other refer to, where they are not all that have a thread of the test. Before begin().
  void loads_beside(std::vector<int> asking) { asking_ = std::move(asking); }

  // Whether knobs and loads can be had; changes and starts nothing.
  [[nodiscard]] Status check() const;
  // Takes the signals that end a process, applies the knobs, starts the loads, and moves the calling thread off the measuring CPUs
  // where there are others. Before any thread is started and before memory is locked. Loads that need something to be held
  // against run alone for a stretch first, unless the cell itself measures loads alone. A signal that comes before the loads are
  // there ends them, and is an error.
  Status begin(bool with_reference = true);
  // For a cell that measured nothing: ends what was started, and reports a knob that stays changed.
  Error give_up(Error error);

  void read_before(CellOutcome& outcome);  // clock source, SMIs, frequencies, heat, the loads' CPU time
  void read_after(CellOutcome& outcome);   // the same again, with a warning where something changed
  void end(CellOutcome& outcome);          // stops the loads, finds out who else ran, restores the knobs

  [[nodiscard]] const Fd& signals() const { return signals_; }
  [[nodiscard]] LoadSet& loads() { return loads_; }
  Status enter_cpuset() { return knobs_.enter_cpuset(); }
  [[nodiscard]] std::string loads_json() const;
  [[nodiscard]] std::string knobs_json() const { return knobs_.to_json(); }
  [[nodiscard]] const Status& restored() const { return restored_; }  // the knobs; after end()

 private:
  Status start_loads(bool with_reference);
  [[nodiscard]] KnobContext knob_context() const;
  void look_for_throttling(CellOutcome& outcome);
  void look_for_others(CellOutcome& outcome);

  Cell& cell_;
  std::vector<int> allowed_;
  std::vector<int> measuring_;
  std::vector<int> asking_;  // of these, for the loads
  Fd signals_;
  KnobSet knobs_;
  LoadSet loads_;
  TasksSeen tasks_before_;
  std::optional<RtThrottling> rt_throttling_;
  bool its_own_reference_ = false;  // the loads are to be held against what they do in this cell
  Status restored_;
};

// What is in `all` and not in `some`; both sorted.
std::vector<int> without(const std::vector<int>& all, const std::vector<int>& some);

// The file of --stream, or nowhere.
Status open_sink(const Params& params, Sink& sink);
Status write_trailer(Sink& sink, const CellOutcome& outcome, const std::vector<Warning>& warnings);
// On standard output what --json or --quiet leave of it; the warnings on standard error where it is quiet.
void print_report(Cell& cell, const std::function<std::string()>& json,
                  const std::function<std::string()>& text);

}  // namespace howlate
