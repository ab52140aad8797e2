// The name by which the caller calls this program, in what it prints.
#pragma once

#include <string>

namespace howlate {

// Texts say "howlate-probe "; whoever calls the program by another name, such as "./howlate probe", reads that one.
void call_program(std::string name);
std::string as_called(std::string text);

}  // namespace howlate
