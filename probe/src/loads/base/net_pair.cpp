#include "loads/base/net_pair.hpp"

#include <arpa/inet.h>
#include <linux/if_link.h>
#include <linux/sockios.h>
#include <linux/veth.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/text.hpp"
#include "loads/base/rtnetlink.hpp"
#include "sys/clock.hpp"
#include "sys/process.hpp"

namespace howlate {
namespace {

// From the range that is set aside for measurements between networks (RFC 2544).
constexpr std::uint32_t near_host = 0xc6120001;  // 198.18.0.1
constexpr std::uint32_t far_host = 0xc6120002;   // 198.18.0.2
constexpr std::uint8_t prefix_bits = 30;
constexpr char near_name[] = "howlate0";
constexpr char far_name[] = "howlate1";

constexpr std::array card_models = {
    CardModel{"rtl8139", "0x10ec", "0x8139"},
    CardModel{"e1000", "0x8086", "0x100e"},
    CardModel{"e1000e", "0x8086", "0x10d3"},
};
// How the addresses of the lab's cards begin (src/howlate/lab/devices.py): locally administered, so no manufacturer's.
constexpr std::string_view lab_address = "02:68:6c:";
// The kernel gives the cards back some time after the last process of a namespace has ended.
constexpr std::int64_t cards_within_ns = 5'000'000'000;

Error refused(std::string_view what, int error) {
  return not_possible("cannot " + std::string(what) + ": " + errno_text(error));
}

Status create_veth(const Fd& far_netlink, int near_namespace) {
  RtMessage message(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, ifinfomsg{});
  message.attribute(IFLA_IFNAME, far_name);
  const std::size_t info = message.open(IFLA_LINKINFO);
  message.attribute(IFLA_INFO_KIND, "veth");
  const std::size_t data = message.open(IFLA_INFO_DATA);
  const std::size_t peer = message.open(VETH_INFO_PEER);
  message.plain(ifinfomsg{});
  message.attribute(IFLA_IFNAME, near_name);
  message.attribute(IFLA_NET_NS_FD, &near_namespace, sizeof near_namespace);
  message.close(peer);
  message.close(data);
  message.close(info);
  const int error = message.ask(far_netlink);
  return error == 0 ? Status() : refused("make a pair of virtual Ethernet cards", error);
}

// The index is asked of the socket's own namespace.
Result<int> index_of(const Fd& any_socket, const std::string& name) {
  struct ifreq request {};
  name.copy(request.ifr_name, sizeof request.ifr_name - 1);
  if (::ioctl(any_socket.get(), SIOCGIFINDEX, &request) != 0) return refused("find the card " + name, errno);
  return request.ifr_ifindex;
}

// Gives a card its address and switches it on.
Status bring_up(const Fd& netlink, const Fd& any_socket, const std::string& name, std::uint32_t host) {
  const Result<int> index = index_of(any_socket, name);
  if (!index) return index.error();
  ifaddrmsg own{};
  own.ifa_family = AF_INET;
  own.ifa_prefixlen = prefix_bits;
  own.ifa_index = static_cast<std::uint32_t>(*index);
  const std::uint32_t address = htonl(host);
  RtMessage with_address(RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, own);
  with_address.attribute(IFA_LOCAL, &address, sizeof address)
      .attribute(IFA_ADDRESS, &address, sizeof address);
  if (const int error = with_address.ask(netlink); error != 0)
    return refused("give the card " + name + " its address", error);
  ifinfomsg link{};
  link.ifi_index = *index;
  link.ifi_flags = IFF_UP;
  link.ifi_change = IFF_UP;
  RtMessage up(RTM_NEWLINK, 0, link);
  const int error = up.ask(netlink);
  return error == 0 ? Status() : refused("switch the card " + name + " on", error);
}

// Out of a namespace's own file: "No space left on device" would be read as a disk's.
Error no_namespace(const char* which, int error) {
  if (error != ENOSPC) return refused(which, error);
  return not_possible(
      "the limit of namespaces (user.max_net_namespaces, user.max_user_namespaces) is reached",
      "raise it, or take path=loopback");
}

Status enter_first_namespace() {
  if (::unshare(CLONE_NEWNET) == 0) return {};
  const pid_t parent = ::getppid();
  if (::unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) return no_namespace("make a network namespace", errno);
  return end_with_parent(SIGKILL, parent);
}

// Two namespaces, and in each what configures a card there.
struct Namespaces {
  Fd near, far;  // rtnetlink
  Fd near_icmp, far_socket;
  Fd near_handle, far_handle;
};

// This process is in the far one then.
Result<Namespaces> make_namespaces() {
  if (const Status status = enter_first_namespace(); !status) return status.error();
  Result<Fd> near = open_rtnetlink();
  if (!near) return near.error();
  Namespaces made;
  made.near = std::move(*near);
  made.near_icmp = Fd(::socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_ICMP));
  if (!made.near_icmp.valid()) return refused("open a raw ICMP socket", errno);
  made.near_handle = Fd(::ioctl(made.near.get(), SIOCGSKNS));
  if (::unshare(CLONE_NEWNET) != 0) return no_namespace("make a second network namespace", errno);
  Result<Fd> far = open_rtnetlink();
  if (!far) return far.error();
  made.far = std::move(*far);
  made.far_socket = Fd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!made.far_socket.valid()) return refused("open a socket", errno);
  made.far_handle = Fd(::ioctl(made.far.get(), SIOCGSKNS));
  if (!made.near_handle.valid() || !made.far_handle.valid())
    return refused("name the network namespace", errno);
  return made;
}

Result<NetPair> brought_up(Namespaces made, const std::string& near, const std::string& far) {
  for (const Status& status : {bring_up(made.far, made.far_socket, far, far_host),
                               bring_up(made.near, made.near_icmp, near, near_host)})
    if (!status) return status.error();
  return NetPair{std::move(made.near_icmp), htonl(far_host)};
}

Status move_card(const Fd& netlink, int index, int to_namespace) {
  ifinfomsg link{};
  link.ifi_index = index;
  RtMessage message(RTM_NEWLINK, 0, link);
  message.attribute(IFLA_NET_NS_FD, &to_namespace, sizeof to_namespace);
  const int error = message.ask(netlink);
  return error == 0 ? Status() : refused("move a card into a network namespace", error);
}

// The one that ran before has just ended, perhaps.
std::vector<std::string> awaited_cards(const CardModel& model, const Root& root) {
  const std::int64_t end_ns = monotonic_now_ns() + cards_within_ns;
  for (;;) {
    std::vector<std::string> cards = lab_cards(model, root);
    if (cards.size() == 2 || monotonic_now_ns() > end_ns) return cards;
    const struct timespec pause = timespec_of(10'000'000);
    ::nanosleep(&pause, nullptr);
  }
}

}  // namespace

Result<NetPair> make_veth_pair() {
  Result<Namespaces> made = make_namespaces();
  if (!made) return made.error();
  if (const Status status = create_veth(made->far, made->near_handle.get()); !status) return status.error();
  return brought_up(std::move(*made), near_name, far_name);
}

Result<CardModel> find_card_model(std::string_view name) {
  const auto* found = std::ranges::find(card_models, name, &CardModel::name);
  if (found == card_models.end()) return usage_error(in_quotes(name) + " is no model of a card");
  return *found;
}

Status check_card_pair(const CardModel& model, const Root& root) {
  // Readable by root alone, as whom everything in a guest runs.
  const Result<std::string> first = root.read_link("/proc/1/exe");
  if (first && *first == "/init") return {};
  return not_possible(
      "this machine has no pair of cards " + std::string(model.name) +
          " that may be flooded: only a guest of the lab has one",
      "measure it with `howlate lab run`, or leave card= out; over a card of this machine, to an "
      "address whose owner agrees: to=ADDRESS");
}

std::vector<std::string> lab_cards(const CardModel& model, const Root& root) {
  std::vector<std::pair<std::string, std::string>> found;  // by address
  for (const std::string& name : root.list("/sys/class/net")) {
    const std::string folder = "/sys/class/net/" + name;
    const auto reads = [&](const char* file) { return root.read_text(folder + file).value_or(""); };
    if (reads("/address").starts_with(lab_address) && reads("/device/vendor") == model.vendor &&
        reads("/device/device") == model.device)
      found.emplace_back(reads("/address"), name);
  }
  std::ranges::sort(found);
  std::vector<std::string> names;
  for (const auto& card : found) names.push_back(card.second);
  return names;
}

Result<NetPair> make_card_pair(const CardModel& model, const Root& root) {
  const Result<Fd> outside = open_rtnetlink();
  if (!outside) return outside.error();
  const std::vector<std::string> cards = awaited_cards(model, root);
  if (cards.size() != 2)
    return not_possible("the guest has " + std::to_string(cards.size()) + " of the lab's two cards " +
                            std::string(model.name),
                        "use a kernel that has their driver (docs/loads/network.md)");
  std::array<int, 2> indices{};
  for (std::size_t i = 0; i < cards.size(); ++i) {
    const Result<int> index = index_of(*outside, cards[i]);
    if (!index) return index.error();
    indices[i] = *index;
  }
  Result<Namespaces> made = make_namespaces();
  if (!made) return made.error();
  for (const Status& status : {move_card(*outside, indices[0], made->near_handle.get()),
                               move_card(*outside, indices[1], made->far_handle.get())})
    if (!status) return status.error();
  return brought_up(std::move(*made), cards[0], cards[1]);
}

}  // namespace howlate
