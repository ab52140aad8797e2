// What a test, a load or a timer can use beside the probe: a kernel module, a device of a virtual machine, an option of the kernel's config.
#pragma once

#include <string_view>

namespace howlate {

// Always, or where an option has this value.
struct Need {
  std::string_view name;
  std::string_view option = {};
  std::string_view value = {};
  std::string_view parameters = {};  // of a module, with spaces between them: "rd_nr=1 rd_size=196608"
};

}  // namespace howlate
