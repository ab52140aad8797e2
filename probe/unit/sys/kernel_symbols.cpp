// Names of the kernel's addresses, from a kallsyms as the kernel writes it.
#include "sys/kernel_symbols.hpp"

#include <doctest/doctest.h>

#include "sys/fixture.hpp"

namespace howlate {
namespace {

using Names = std::map<std::int64_t, std::string>;

constexpr std::int64_t text_begin = -2130706432;  // 0xffffffff81000000

TEST_CASE("an address has the name of the function in which it lies, a module's too") {
  const Fixture machine;
  machine.write("/proc/kallsyms",
                "0000000000000000 A fixed_percpu_data\n"
                "ffffffff81000000 T _text\n"
                "ffffffff81000100 t first\n"
                "ffffffff81000180 d data_between\n"
                "ffffffff81000200 W second\n"
                "ffffffffc0000000 t in_module\t[howlate]\n");
  constexpr std::int64_t module_begin = -1073741824;  // 0xffffffffc0000000
  const std::set<std::int64_t> addresses{
      text_begin + 0x100, text_begin + 0x1ff, text_begin + 0x200, module_begin + 8, 4096, 0};
  CHECK(function_names(machine.root(), addresses) == Names{{text_begin + 0x100, "first"},
                                                           {text_begin + 0x1ff, "first"},
                                                           {text_begin + 0x200, "second"},
                                                           {module_begin + 8, "in_module"}});
}

TEST_CASE("where the kernel hides its addresses there are no names") {
  const Fixture machine;
  machine.write("/proc/kallsyms", "0000000000000000 T _text\n0000000000000000 t first\n");
  CHECK(function_names(machine.root(), {text_begin}).empty());
  CHECK(function_names(Fixture().root(), {text_begin}).empty());
}

TEST_CASE("lines that are no symbols are passed over") {
  const Fixture machine;
  machine.write("/proc/kallsyms",
                "\nffffffff81000000\nffffffff81000000 T\nzz T x\nffffffff81000000 T last\ncut");
  CHECK(function_names(machine.root(), {text_begin}) == Names{{text_begin, "last"}});
}

TEST_CASE("the texts of events are found by their addresses") {
  const Fixture machine;
  machine.write("/printk_formats",
                "0xffffffff81000000 : \"Rescheduling interrupts\"\n0x10 : \"a \\\"b\\\"\"\nnothing\n");
  CHECK(event_texts(machine.path()) == Names{{text_begin, "Rescheduling interrupts"}, {16, "a \\\"b\\\""}});
  CHECK(event_texts(machine.path() + "/nothing").empty());
}

}  // namespace
}  // namespace howlate
