// Two network namespaces joined by a pair of virtual Ethernet cards, which nobody outside can see and which vanish with
// the process that made them.
#pragma once

#include <cstdint>

#include "core/result.hpp"
#include "sys/file.hpp"

namespace howlate {

struct VethPair {
  Fd near_icmp;               // a raw ICMP socket in the near namespace
  std::uint32_t far_address;  // IPv4, network byte order: answered by the kernel in the far namespace
};

// Makes them and leaves this process in the far namespace; the near one lives as long as the socket. As root directly, else
// in a user namespace of its own where the kernel allows that. Nothing outside is changed. The caller has asked to end with
// its parent: a new user namespace forgets that, so it is asked for again.
Result<VethPair> make_veth_pair();

}  // namespace howlate
