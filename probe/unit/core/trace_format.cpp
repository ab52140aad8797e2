// The kernel's descriptions of events, and values read by them.
#include "core/trace_format.hpp"

#include <doctest/doctest.h>

#include <cstring>

#include "trace/made_page.hpp"

namespace howlate {
namespace {

// As Linux 6.18 writes it.
const std::string handler = "name: irq_handler_entry\nID: 225\nformat:\n" + common_fields +
                            "\tfield:int irq;\toffset:8;\tsize:4;\tsigned:1;\n"
                            "\tfield:__data_loc char[] name;\toffset:12;\tsize:4;\tsigned:0;\n\n"
                            "print fmt: \"irq=%d name=%s\", REC->irq, __get_str(name)\n";

template <class Value>
void put(std::vector<std::byte>& event, std::size_t at, Value value) {
  std::memcpy(event.data() + at, &value, sizeof value);
}

TEST_CASE("an event's description names its id and fields") {
  const auto format = parse_trace_format(handler);
  REQUIRE(format.has_value());
  CHECK(format->name == "irq_handler_entry");
  CHECK(format->id == 225);
  REQUIRE(format->fields.size() == 6);
  const TraceField* const irq = find_field(format->fields, "irq");
  REQUIRE(irq != nullptr);
  CHECK(irq->offset == 8);
  CHECK(irq->is_signed);
  CHECK(find_field(format->fields, "nothing") == nullptr);
  CHECK(find_field(format->fields, "name")->elsewhere);
}

TEST_CASE("the names of arrays and pointers are without what surrounds them") {
  const auto fields = parse_trace_fields(
      "\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
      "\tfield:void * function;\toffset:24;\tsize:8;\tsigned:0;\n"
      "\tfield:unsigned long caller[8];\toffset:16;\tsize:64;\tsigned:0;\n");
  REQUIRE(fields.size() == 3);
  CHECK(fields[0].name == "prev_comm");
  CHECK(fields[1].name == "function");
  CHECK(fields[2].name == "caller");
}

TEST_CASE("a description without name, id or common fields is none") {
  for (const std::string from : {"name: irq", "ID:", "common_type"}) {
    std::string text = handler;
    text.replace(text.find(from), from.size(), "x");
    CHECK_FALSE(parse_trace_format(text).has_value());
  }
  CHECK_FALSE(parse_trace_format("").has_value());
}

TEST_CASE("lines that are no fields are passed over, whatever they hold") {
  for (const std::string line :
       {"field:", "field:int;", "field:int x;\toffset:-1;\tsize:4;", "field:int x;\toffset:4;",
        "field:int x\toffset:4;\tsize:4", ";;;;", "field: ;offset:1;size:1;signed:1;"})
    CHECK(parse_trace_fields(line).empty());
}

TEST_CASE("numbers of each size keep their sign") {
  std::vector<std::byte> event(16);
  put(event, 0, std::int8_t{-2});
  put(event, 2, std::int16_t{-3});
  put(event, 4, std::int32_t{-4});
  put(event, 8, std::int64_t{-5});
  const auto number = [&](std::uint32_t at, std::uint32_t bytes, bool is_signed) {
    return number_in({"", at, bytes, is_signed, false}, event);
  };
  CHECK(number(0, 1, true) == -2);
  CHECK(number(0, 1, false) == 254);
  CHECK(number(2, 2, true) == -3);
  CHECK(number(2, 2, false) == 65533);
  CHECK(number(4, 4, true) == -4);
  CHECK(number(4, 4, false) == 4294967292);
  CHECK(number(8, 8, false) == -5);
  CHECK_FALSE(number(12, 8, false).has_value());
  CHECK_FALSE(number(16, 1, false).has_value());
  CHECK_FALSE(number(4'000'000'000, 4, false).has_value());
  CHECK_FALSE(number(0, 3, false).has_value());
}

TEST_CASE("a text is in its field, or where its field says") {
  std::vector<std::byte> event(32);
  std::memcpy(event.data() + 8, "timer", 6);
  CHECK(text_in({"", 8, 16, false, false}, event) == "timer");
  CHECK(text_in({"", 8, 3, false, false}, event) == "tim");
  put(event, 0, std::uint32_t{6U << 16U | 8U});
  CHECK(text_in({"", 0, 4, false, true}, event) == "timer");
  put(event, 0, std::uint32_t{600U << 16U | 8U});
  CHECK(text_in({"", 0, 4, false, true}, event).empty());
  CHECK(text_in({"", 30, 4, false, true}, event).empty());
}

}  // namespace
}  // namespace howlate
