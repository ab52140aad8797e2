// The probe's version, from CMake's project(VERSION): stated nowhere else.
#pragma once

#include <string_view>

namespace howlate {

std::string_view version();

}  // namespace howlate
