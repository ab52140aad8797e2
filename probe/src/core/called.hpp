// The name by which the caller calls this program, as used in its output.
#pragma once

#include <string>

namespace howlate {

// Texts say "howlate-probe "; a user who calls the program by another name, such as "./howlate probe", reads that name.
void call_program(std::string name);
std::string as_called(std::string text);

}  // namespace howlate
