// Who is below this kernel, as the processor says.
#pragma once

#include <string>

namespace howlate {

// The name that a hypervisor gives itself in CPUID leaf 0x40000000, "unnamed" if it gives none; empty on bare hardware, and on other
// machines than x86.
std::string cpuid_hypervisor();
// That of QEMU where it does not run a guest's instructions but translates them: the lab's guests in virtual time.
inline constexpr const char* translating_hypervisor = "TCGTCGTCGTCG";

}  // namespace howlate
