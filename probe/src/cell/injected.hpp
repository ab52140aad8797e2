// Delays that a cell of a schedule makes on purpose (--inject): planned from its schedule, made beside its threads, and kept as the
// table `injections`.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "cell/cell.hpp"
#include "cell/sink.hpp"
#include "core/json.hpp"
#include "inject/injection.hpp"

namespace howlate {

class Injected {
 public:
  explicit Injected(const InjectWish& wish) : wish_(wish) {}
  Injected(const Injected&) = delete;
  Injected& operator=(const Injected&) = delete;

  [[nodiscard]] Status check(const CellPlan& plan, const Root& root) const;
  // In the main thread while there is no other. Lanes of a kind that is made in their work get that work.
  Status set_up(CellPlan& plan, const std::vector<int>& allowed, const Root& root);
  void begin(std::int64_t t0_ns) { status_ = run_->begin(t0_ns); }
  void end();  // after the lanes have ended
  [[nodiscard]] const Status& status() const { return status_; }

  void write_in_force(JsonWriter& json) const;
  void write_table(JsonWriter& json, std::size_t id) const;
  void write_rows(Sink& sink, std::size_t id, std::int64_t t0_ns) const;

 private:
  // What a lane's loop calls in its work.
  struct Worker {
    InjectionRun* run;
    const LoopContext* loop;
    std::size_t lane;
  };
  static void work(void* context, const Sample& sample);

  InjectWish wish_;
  InjectPlan plan_;
  std::vector<Worker> workers_;
  std::unique_ptr<InjectionRun> run_;
  std::vector<MadeDelay> made_;
  Status status_;
};

}  // namespace howlate
