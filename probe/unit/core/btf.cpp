// The kernel's description of its types: fields in fields, what tracepoints are called with, and bytes that are no BTF.
#include "core/btf.hpp"

#include <doctest/doctest.h>

#include "trace/made_btf.hpp"

namespace howlate {
namespace {

std::string some_types() {
  MadeBtf made;
  const auto u32 = made.integer("unsigned int", 4), u64 = made.integer("unsigned long", 8),
             bool_type = made.integer("_Bool", 1), letter = made.integer("char", 1);
  const auto both = made.structure("", 8, {{"whole", u64, 0}, {"count", u32, 32}}, 5);
  const auto info = made.structure("thread_info", 16, {{"flags", made.constant(u64), 0}, {"", both, 64}});
  const auto task = made.structure("task_struct", 64,
                                   {{"thread_info", made.alias("info_t", info), 0},
                                    {"pid", u32, 128},
                                    {"comm", made.array(letter, 16), 160}});
  made.tracepoint("sched_switch", {bool_type, made.pointer(made.constant(task)), made.pointer(letter), u32});
  made.enumeration("trace_flag_type", {{"TRACE_FLAG_IRQS_OFF", 1}, {"TRACE_FLAG_BH_OFF", 128}});
  const auto count = made.variable("__preempt_count", u32), other = made.variable("hrtimer_bases", u64);
  made.variable("jiffies", u64);
  made.section(".data..percpu", 4, {count, other});
  made.named_function("bpf_rdonly_cast");
  return made.bytes();
}

TEST_CASE("a field is found by its path, through typedefs and unions without a name") {
  const auto btf = Btf::parse(some_types());
  REQUIRE(btf);
  const auto at = [&](std::string_view path) {
    const auto field = btf->field("task_struct", path);
    REQUIRE(field);
    return std::pair{field->offset, field->bytes};
  };
  CHECK(at("pid") == std::pair{16U, 4U});
  CHECK(at("comm") == std::pair{20U, 16U});
  CHECK(at("thread_info.flags") == std::pair{0U, 8U});
  CHECK(at("thread_info.whole") == std::pair{8U, 8U});
  CHECK(at("thread_info.count") == std::pair{12U, 4U});
  CHECK_FALSE(btf->field("task_struct", "prio"));
  CHECK_FALSE(btf->field("task_struct", "pid.flags"));
  CHECK_FALSE(btf->field("mm_struct", "pid"));
}

TEST_CASE("a tracepoint says what it is called with") {
  const auto btf = Btf::parse(some_types());
  REQUIRE(btf);
  const auto type = btf->typedef_id("btf_trace_sched_switch");
  REQUIRE(type);
  const auto params = btf->params_of(*type);
  REQUIRE(params);
  REQUIRE(params->size() == 5);
  CHECK((*params)[0].pointer);
  CHECK_FALSE((*params)[1].pointer);
  CHECK((*params)[1].bytes == 1);
  CHECK((*params)[2].pointee == "task_struct");
  CHECK((*params)[3].pointer);
  CHECK((*params)[3].pointee.empty());
  CHECK((*params)[4].bytes == 4);
  CHECK_FALSE(btf->typedef_id("btf_trace_sched_waking"));
}

TEST_CASE("a variable of each CPU is told from others, and an enumerator by its value") {
  const auto btf = Btf::parse(some_types());
  REQUIRE(btf);
  const auto count = btf->percpu_variable("__preempt_count"), other = btf->percpu_variable("hrtimer_bases");
  REQUIRE(count);
  REQUIRE(other);
  CHECK(count->number + 1 == other->number);
  CHECK(count->offset == 0);
  CHECK(other->offset == 8);
  CHECK(count->bytes == 4);
  CHECK_FALSE(btf->percpu_variable("jiffies"));
  CHECK_FALSE(btf->percpu_variable("pcpu_hot"));
  CHECK(btf->enumerator("trace_flag_type", "TRACE_FLAG_BH_OFF") == 128U);
  CHECK_FALSE(btf->enumerator("trace_flag_type", "TRACE_FLAG_NMI"));
}

TEST_CASE("functions and structures have numbers") {
  const auto btf = Btf::parse(some_types());
  REQUIRE(btf);
  CHECK(btf->function_id("bpf_rdonly_cast"));
  CHECK_FALSE(btf->function_id("__preempt_count"));
  CHECK(btf->structure_id("task_struct"));
  CHECK_FALSE(btf->structure_id("bpf_rdonly_cast"));
}

TEST_CASE("bytes that are cut anywhere are refused, or answer without reading beyond their end") {
  const std::string whole = some_types();
  CHECK_FALSE(Btf::parse(""));
  CHECK_FALSE(Btf::parse(std::string(100, '\0')));
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) CHECK_FALSE(Btf::parse(whole.substr(0, bytes)));
  for (std::size_t at = 24; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x7f);
    const auto btf = Btf::parse(damaged);
    if (!btf) continue;
    static_cast<void>(btf->field("task_struct", "thread_info.count"));
    static_cast<void>(btf->function_id("bpf_rdonly_cast"));
    if (const auto type = btf->typedef_id("btf_trace_sched_switch")) static_cast<void>(btf->params_of(*type));
  }
}

TEST_CASE("types that contain themselves end") {
  MadeBtf made;
  made.alias("a", 2);
  made.alias("b", 1);
  made.structure("s", 8, {{"x", 1, 0}, {"", 3, 0}});
  const auto btf = Btf::parse(made.bytes());
  REQUIRE(btf);
  CHECK_FALSE(btf->field("s", "x"));
  CHECK_FALSE(btf->field("s", "y"));
}

}  // namespace
}  // namespace howlate
