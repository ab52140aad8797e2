// Two network namespaces joined by two Ethernet cards, which nobody outside can see: a pair of virtual cards, or two cards that a guest
// of the lab has for this and nothing else. The namespaces vanish with the process that made them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "sys/file.hpp"
#include "sys/root.hpp"

namespace howlate {

struct NetPair {
  Fd near_icmp;               // a raw ICMP socket in the near namespace
  std::uint32_t far_address;  // IPv4, network byte order: answered by the kernel in the far namespace
};

// Makes them and leaves this process in the far namespace; the near one lives as long as the socket. As root directly, else
// in a user namespace of its own where the kernel allows that. Nothing outside is changed. The caller has asked to end with
// its parent: a new user namespace forgets that, so it is asked for again.
Result<NetPair> make_veth_pair();

// A model of card that the lab can give a guest, two at a time: by QEMU's name, and by its PCI numbers.
struct CardModel {
  std::string_view name;
  std::string_view vendor, device;
};
Result<CardModel> find_card_model(std::string_view name);

// Only a guest of the lab has cards that are made to be flooded; every other machine's are somebody's.
Status check_card_pair(const CardModel& model, const Root& root);

// The interfaces of the lab's pair of this model that are in this network namespace, in order: two, or fewer.
std::vector<std::string> lab_cards(const CardModel& model, const Root& root);

// As make_veth_pair, with one card of the lab's pair in each namespace; they come back when the namespaces are gone.
Result<NetPair> make_card_pair(const CardModel& model, const Root& root);

}  // namespace howlate
