#include "loads/base/request.hpp"

#include <doctest/doctest.h>

#include "loads/base/member.hpp"
#include "loads/base/memory.hpp"

namespace howlate {
namespace {

using Words = std::vector<std::string>;

TEST_CASE("a spec is split into the words of a command line") {
  CHECK(*split_load_spec("cpu") == Words{"cpu"});
  CHECK(*split_load_spec("cpu:50,cpus=0,2,nice=10") ==
        Words{"cpu", "--target=50", "--cpus=0,2", "--nice=10"});
  CHECK(*split_load_spec("cpu,policy=fifo:50") == Words{"cpu", "--policy=fifo:50"});
  CHECK(*split_load_spec("hackbench:10,pipe") == Words{"hackbench", "--target=10", "--pipe"});
  CHECK(split_load_spec("").error().code == ExitCode::usage);
  CHECK(split_load_spec(":50").error().code == ExitCode::usage);
  CHECK(split_load_spec("cpu,,nice=1").error().code == ExitCode::usage);
  CHECK(split_load_spec("cpu:50,").error().code == ExitCode::usage);
}

TEST_CASE("a request is read with its defaults") {
  const auto request = read_load_request({"cpu:37.5"});
  REQUIRE(request.ok());
  CHECK(request->load->name == "cpu");
  CHECK(request->target == "37.5");
  CHECK(*request->target_cpu == doctest::Approx(0.375));
  CHECK(request->cpus == read_affinity());
  CHECK(request->policy.kind == SchedKind::other);
}

TEST_CASE("the target is one thing, whether after a colon or as an option") {
  CHECK(read_load_request({"cpu", "--target", "20"})->target == "20");
  CHECK(read_load_request({"cpu:20", "--target", "30"}).error().code == ExitCode::usage);
  CHECK(read_load_request({"cpu"})->target == "50");
}

TEST_CASE("same and other are what the measuring CPUs make them") {
  const std::vector<int> all = read_affinity();
  const std::vector<int> first = {all.front()};
  CHECK(read_load_request({"cpu,cpus=same"}, &first)->cpus == first);
  CHECK(read_load_request({"cpu,cpus=other"}, &all).error().code == ExitCode::usage);
  CHECK(read_load_request({"cpu,cpus=same"}).error().code == ExitCode::usage);
  if (all.size() > 1) {
    const auto other = read_load_request({"cpu,cpus=other"}, &first);
    CHECK(other->cpus == std::vector<int>(all.begin() + 1, all.end()));
    CHECK(other->words().back() == "--cpus=" + cpu_list_text(other->cpus));
  }
}

TEST_CASE("what cannot be is refused with a sentence") {
  const auto message = [](const Words& words, ExitCode code = ExitCode::usage) {
    const auto request = read_load_request(words);
    REQUIRE(!request.ok());
    CHECK(request.error().code == code);
    CHECK(!request.error().message.empty());
    return request.error().message + " " + request.error().remedy;
  };
  CHECK(message({"cup:50"}).find("cpu") != std::string::npos);
  CHECK(message({"cpu:101"}).find("101") != std::string::npos);
  CHECK(message({"cpu:-1"}).find("-1") != std::string::npos);
  CHECK(message({"cpu:x"}).find("\"x\"") != std::string::npos);
  CHECK(message({"cpu,cpus=4095"}, ExitCode::not_possible).find("4095") != std::string::npos);
  CHECK(message({"cpu,nice=20"}).find("20") != std::string::npos);
  CHECK(message({"cpu,policy=fifo:50,nice=1"}).find("nice") != std::string::npos);
  CHECK(message({"cpu,policy=deadline:1ms:2ms:3ms"}).find("deadline") != std::string::npos);
  CHECK(message({"cpu,polcy=other"}).find("--policy") != std::string::npos);
  CHECK(message({"none:5"}).find("target") != std::string::npos);
  CHECK(message({}).find("name") != std::string::npos);
  CHECK(message({"--json"}).find("name") != std::string::npos);
}

TEST_CASE("memory beyond half of what is available is refused") {
  constexpr std::int64_t gib = std::int64_t{1} << 30;
  CHECK(check_memory(gib, 2, "size", 4 * gib).ok());
  CHECK(check_memory(gib + 4096, 2, "size", 4 * gib).error().code == ExitCode::not_possible);
  CHECK(check_memory(INT64_MAX, 64, "size", 4 * gib).error().code == ExitCode::not_possible);
  CHECK(check_memory(1, 1, "size", gib).error().code == ExitCode::usage);
}

TEST_CASE("what all loads of a test would take together is refused, where each alone would do") {
  constexpr std::int64_t gib = std::int64_t{1} << 30;
  const std::vector<int> one = {read_affinity().front()};
  std::vector<LoadRequest> requests;
  for (const char* spec : {"cpu:50", "memory-alloc,cpus=same,size=1GiB", "memory-fault,cpus=same,size=1GiB"})
    requests.push_back(std::move(*read_load_request({spec}, &one)));
  CHECK(check_memory(gib, 1, "size", 3 * gib).ok());
  CHECK(check_memory_of_all(requests, 4 * gib).ok());
  const Status refused = check_memory_of_all(requests, 3 * gib);
  REQUIRE(!refused.ok());
  CHECK(refused.error().code == ExitCode::not_possible);
  requests.push_back(std::move(*read_load_request({"memory-access,cpus=same,working-set=8000000TiB"}, &one)));
  requests.push_back(std::move(*read_load_request({"memory-access,cpus=same,working-set=8000000TiB"}, &one)));
  CHECK(!check_memory_of_all(requests, INT64_MAX).ok());
}

TEST_CASE("hackbench knows what its tasks and their messages take") {
  const auto bytes = [](const char* spec) {
    const auto request = read_load_request({spec});
    REQUIRE(request.ok());
    return request->load->memory(request->params, 1);
  };
  CHECK(bytes("hackbench:2500,datasize=1MB") > 100'000'000'000);
  CHECK(bytes("hackbench:10") < 100'000'000);
  CHECK(bytes("hackbench:9000000000000000000,datasize=9000000000000000000") == INT64_MAX);
}

TEST_CASE("a product beyond 64 bits is the largest number") {
  CHECK(saturated_product({3, 4, 5}) == 60);
  CHECK(saturated_product({INT64_MAX, 2, 1}) == INT64_MAX);
  CHECK(saturated_product({INT64_MAX, 2, 0}) == 0);
}

TEST_CASE("a member is found in the outermost object alone") {
  const std::string_view line =
      R"({"name": "a\"b", "inner": {"results": 1, "x": "}"}, "list": [{"results": 2}], "results": {"a": [1, 2]}, "end": 5})";
  CHECK(json_member(line, "results") == R"({"a": [1, 2]})");
  CHECK(json_member(line, "name") == R"("a\"b")");
  CHECK(json_member(line, "end") == "5");
  CHECK(json_member(line, "x").empty());
  for (std::size_t cut = 0; cut < line.size(); ++cut)
    CHECK_NOTHROW(static_cast<void>(json_member(line.substr(0, cut), "end")));
  CHECK(json_member("", "a").empty());
  CHECK(json_member("{}", "a").empty());
}

}  // namespace
}  // namespace howlate
