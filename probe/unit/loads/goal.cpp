#include "loads/base/goal.hpp"

#include <doctest/doctest.h>

#include "loads/base/request.hpp"

namespace howlate {
namespace {

Goal asked(const std::string& spec) {
  const auto request = read_load_request({spec});
  REQUIRE(request.ok());
  return goal_of(*request->load, request->params);
}

Goal did(const std::string& spec, double achieved, std::optional<double> reference = {}) {
  Goal goal = asked(spec);
  goal.achieved = achieved;
  goal.reference = reference;
  goal.actions = 100;
  goal.duration_ns = 30'000'000;
  return goal;
}

TEST_CASE("every load declares what it must achieve, and in which unit") {
  CHECK(asked("cpu:37.5").unit == "CPU");
  CHECK(*asked("cpu:37.5").target == doctest::Approx(0.375));
  CHECK(asked("disk:10MiB/s").unit == "B/s");
  CHECK(*asked("disk:10MiB/s").target == doctest::Approx(10 * 1024 * 1024));
  CHECK(asked("network:500").unit == "packets/s");
  CHECK(*asked("network:500").target == doctest::Approx(500));
  CHECK(asked("none").unit.empty());
  for (const Load* load : loads()) {
    if (load->spread == Spread::none) continue;
    CHECK_MESSAGE((load->held || !load->unit.empty()), load->name);
    CHECK_MESSAGE(load->action.wanted > 0, load->name);
    // How long an action takes is the load's to say where no rate does.
    if (load->held) CHECK_MESSAGE(load->action.length_ns > 0, load->name);
    if (load->alone.empty() && !load->held) CHECK_MESSAGE(load->action.length_ns == 0, load->name);
  }
}

TEST_CASE("a load that asks for as much as the machine gives has no target of its own") {
  for (const char* spec : {"disk:max", "network:flood", "hackbench:10"}) {
    CHECK_MESSAGE(!asked(spec).target, spec);
    CHECK_MESSAGE(!did(spec, 5).share(), spec);  // nothing to hold it against yet
    CHECK_MESSAGE(*did(spec, 5, 20).share() == doctest::Approx(0.25), spec);
  }
}

TEST_CASE("a share is of the target, but of no more than the loads do together with nothing beside them") {
  CHECK(*did("cpu:100", 0.3).share() == doctest::Approx(0.3));
  CHECK(*did("cpu:100", 0.3, 0.5).share() == doctest::Approx(0.6));
  CHECK(*did("cpu:50", 0.45, 0.9).share() == doctest::Approx(0.9));
  CHECK(!did("cpu:0", 0).share());
}

TEST_CASE("below half a load was not there, and the sentence says what it was held against") {
  CHECK(did("cpu:100", 0.5).not_loaded("cpu:100").empty());
  CHECK(did("cpu:100,nice=10", 0.00005).not_loaded("cpu:100,nice=10") ==
        "not loaded: the load cpu:100,nice=10 achieved 0.005 % of its CPUs, 100 % were asked for");
  CHECK(did("disk:10MB/s", 4.9e6).not_loaded("disk:10MB/s") ==
        "not loaded: the load disk:10MB/s achieved 4.9 MB/s, 10 MB/s were asked for");
  CHECK(did("hackbench:10", 1000, 34'200).not_loaded("hackbench:10") ==
        "not loaded: the load hackbench:10 achieved 1000 messages/s, 34200 messages/s with nothing measured "
        "beside it");
  CHECK(did("hackbench:10", 17'100, 34'200).not_loaded("hackbench:10").empty());
}

TEST_CASE("a load that did nothing of what it does was not there, whatever it was held against") {
  Goal goal = did("disk:10MB/s", 9e6);
  goal.actions = 0;
  CHECK(goal.not_loaded("disk:10MB/s") ==
        "not loaded: the load disk:10MB/s completed no fsyncs in the 30 ms of the cell");
  goal = did("cpu:0", 0);
  goal.actions = 0;
  CHECK(goal.not_loaded("cpu:0").empty());  // nothing was asked of it
}

TEST_CASE("disk takes a rate or max") {
  CHECK(read_load_request({"disk:max"}).ok());
  CHECK(!read_load_request({"disk:most"}).ok());
  CHECK(!read_load_request({"disk,size=max"}).ok());
}

}  // namespace
}  // namespace howlate
