#include "loads/base/veth.hpp"

#include <arpa/inet.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <linux/veth.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "sys/process.hpp"

namespace howlate {
namespace {

// Of the range that is set aside for measurements between networks (RFC 2544).
constexpr std::uint32_t near_host = 0xc6120001;  // 198.18.0.1
constexpr std::uint32_t far_host = 0xc6120002;   // 198.18.0.2
constexpr std::uint8_t prefix_bits = 30;
constexpr char near_name[] = "howlate0";
constexpr char far_name[] = "howlate1";

// One rtnetlink request: a header, the family's own header, attributes that may be nested.
class Message {
 public:
  template <class Own>
  Message(std::uint16_t type, std::uint16_t flags, const Own& own) {
    nlmsghdr header{};
    header.nlmsg_type = type;
    header.nlmsg_flags = static_cast<std::uint16_t>(NLM_F_REQUEST | NLM_F_ACK | flags);
    header.nlmsg_seq = 1;
    append(&header, sizeof header);
    append(&own, sizeof own);
  }
  Message& attribute(std::uint16_t type, const void* value, std::size_t bytes) {
    rtattr head{};
    head.rta_type = type;
    head.rta_len = static_cast<std::uint16_t>(RTA_LENGTH(bytes));
    append(&head, sizeof head);
    append(value, bytes);
    return *this;
  }
  Message& attribute(std::uint16_t type, std::string_view text) {
    return attribute(type, std::string(text).c_str(), text.size() + 1);
  }
  std::size_t open(std::uint16_t type) {
    const std::size_t at = bytes_.size();
    attribute(type, nullptr, 0);
    return at;
  }
  void close(std::size_t at) {
    const auto length = static_cast<std::uint16_t>(bytes_.size() - at);
    std::memcpy(bytes_.data() + at, &length, sizeof length);  // rta_len is the first field
  }
  // What stands inside an attribute without being one itself.
  template <class Own>
  void plain(const Own& own) {
    append(&own, sizeof own);
  }

  // Sends it and reads the kernel's answer: 0 or an errno.
  int ask(const Fd& socket) {
    const auto length = static_cast<std::uint32_t>(bytes_.size());
    std::memcpy(bytes_.data(), &length, sizeof length);  // nlmsg_len is the first field
    if (::send(socket.get(), bytes_.data(), bytes_.size(), 0) < 0) return errno;
    alignas(nlmsghdr) char answer[8192];
    const ssize_t got = ::recv(socket.get(), answer, sizeof answer, 0);
    if (got < 0) return errno;
    nlmsghdr header{};
    nlmsgerr error{};
    if (static_cast<std::size_t>(got) < sizeof header + sizeof error) return EPROTO;
    std::memcpy(&header, answer, sizeof header);
    std::memcpy(&error, answer + sizeof header, sizeof error);
    return header.nlmsg_type == NLMSG_ERROR ? -error.error : EPROTO;
  }

 private:
  void append(const void* data, std::size_t bytes) {
    const std::size_t at = bytes_.size();
    bytes_.resize(at + NLMSG_ALIGN(bytes));
    if (bytes > 0) std::memcpy(bytes_.data() + at, data, bytes);
  }
  std::vector<char> bytes_;
};

Error refused(std::string_view what, int error) {
  return not_possible("cannot " + std::string(what) + ": " + errno_text(error));
}

Result<Fd> open_netlink() {
  Fd socket(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
  if (!socket.valid()) return refused("open rtnetlink", errno);
  return socket;
}

Status create_pair(const Fd& far_netlink, int near_namespace) {
  Message message(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, ifinfomsg{});
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

// Gives a card its address and switches it on. The index is asked of the socket's own namespace.
Status bring_up(const Fd& netlink, const Fd& any_socket, const char* name, std::uint32_t host) {
  struct ifreq request {};
  std::strncpy(request.ifr_name, name, sizeof request.ifr_name - 1);
  if (::ioctl(any_socket.get(), SIOCGIFINDEX, &request) != 0) return refused("find the virtual card", errno);
  ifaddrmsg own{};
  own.ifa_family = AF_INET;
  own.ifa_prefixlen = prefix_bits;
  own.ifa_index = static_cast<std::uint32_t>(request.ifr_ifindex);
  const std::uint32_t address = htonl(host);
  Message with_address(RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, own);
  with_address.attribute(IFA_LOCAL, &address, sizeof address)
      .attribute(IFA_ADDRESS, &address, sizeof address);
  if (const int error = with_address.ask(netlink); error != 0)
    return refused("give a virtual card its address", error);
  ifinfomsg link{};
  link.ifi_index = request.ifr_ifindex;
  link.ifi_flags = IFF_UP;
  link.ifi_change = IFF_UP;
  Message up(RTM_NEWLINK, 0, link);
  const int error = up.ask(netlink);
  return error == 0 ? Status() : refused("switch a virtual card on", error);
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

}  // namespace

Result<VethPair> make_veth_pair() {
  if (const Status status = enter_first_namespace(); !status) return status.error();
  const Result<Fd> near = open_netlink();
  if (!near) return near.error();
  VethPair pair{Fd(::socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_ICMP)), htonl(far_host)};
  if (!pair.near_icmp.valid()) return refused("open a raw ICMP socket", errno);
  const Fd near_namespace(::ioctl(near->get(), SIOCGSKNS));
  if (!near_namespace.valid()) return refused("name the network namespace", errno);
  if (::unshare(CLONE_NEWNET) != 0) return no_namespace("make a second network namespace", errno);
  const Result<Fd> far = open_netlink();
  if (!far) return far.error();
  const Fd far_socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!far_socket.valid()) return refused("open a socket", errno);
  for (const Status& status :
       {create_pair(*far, near_namespace.get()), bring_up(*far, far_socket, far_name, far_host),
        bring_up(*near, pair.near_icmp, near_name, near_host)})
    if (!status) return status.error();
  return pair;
}

}  // namespace howlate
