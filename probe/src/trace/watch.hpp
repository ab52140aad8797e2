// What the recorder does for `--explain`: it looks at each sample, and where one is a case (trace/cases.hpp) reads the trace
// of that thread's CPUs up to the end of its stretch, and keeps the pages that a case needs. While nothing is wanted
// nobody reads, and the kernel overwrites. Runs on the recorder's thread, without allocation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/trace_page.hpp"
#include "sys/memory.hpp"
#include "sys/trace_ring.hpp"
#include "trace/cases.hpp"
#include "trace/page_store.hpp"

namespace howlate {

struct WatchSpec {
  CaseSpec cases;
  PageLayout layout;
  std::vector<std::vector<int>> cpus;  // of each thread: where it may run
  std::int64_t begun_ns = 0;           // since when the trace is recorded (CLOCK_MONOTONIC)
};

class TraceWatch {
 public:
  // So long after the end of its stretch a case's pages are read: the ring's last page, which the kernel still writes, is
  // copied event by event, with interrupts off.
  static constexpr std::int64_t settle_ns = 10'000'000;
  // So far before a case's stretch pages are kept too, as long as there is room.
  static constexpr std::int64_t look_back_ns = 2'000'000;

  TraceWatch(const WatchSpec& spec, TracePages& source, TouchedPages memory);

  void note(std::size_t thread, const Sample& sample, std::int64_t t0_ns) {
    cases_.note(thread, sample, t0_ns);
  }
  // Reads for the cases that are over by `now_ns`. `pace` is called before each page.
  void round(std::int64_t now_ns, const std::function<void()>& pace);
  // The trace was stopped: reads for all others.
  void finish();

  [[nodiscard]] Cases& cases() { return cases_; }
  [[nodiscard]] const Cases& cases() const { return cases_; }
  [[nodiscard]] const PageStore& store() const { return store_; }
  [[nodiscard]] const WatchSpec& spec() const { return spec_; }
  [[nodiscard]] std::int64_t pages_read() const { return pages_read_; }
  [[nodiscard]] std::int64_t reading_ns() const { return reading_ns_; }    // of all of them
  [[nodiscard]] std::int64_t page_ns_max() const { return page_ns_max_; }  // the longest

  // Whether the trace of this CPU is the thread's.
  [[nodiscard]] bool runs_on(std::size_t thread, int cpu) const;

 private:
  struct Cpu {
    int number = 0;
    std::int64_t read_to_ns = 0;  // the last event that was read
    std::int64_t from_ns =
        INT64_MAX;  // where the last case begins for which it was read: a later one may share its pages
  };
  void read_for(std::size_t thread, std::int64_t end_ns, const std::function<void()>& pace);
  bool read_page(int cpu);
  void read_cpu(Cpu& cpu, std::size_t thread, std::int64_t end_ns, const std::function<void()>& pace);
  void note_blocked(const Cpu& cpu, std::size_t thread, std::int64_t end_ns);
  void keep(KeptPage& page, std::size_t thread);
  void retime_scratch(KeptPage& page);
  [[nodiscard]] bool needed(const KeptPage& page) const;

  WatchSpec spec_;
  TracePages& source_;
  TouchedPages memory_;
  PageStore store_;
  Cases cases_;
  std::vector<Cpu> cpus_;
  std::int64_t wanted_from_ns_ = 0;  // of the cases for which it reads
  std::int64_t pages_read_ = 0, reading_ns_ = 0, page_ns_max_ = 0;
};

}  // namespace howlate
