// One rtnetlink request: a header, the family's own header, attributes that may be nested.
#pragma once

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "sys/file.hpp"

namespace howlate {

class RtMessage {
 public:
  template <class Own>
  RtMessage(std::uint16_t type, std::uint16_t flags, const Own& own) {
    nlmsghdr header{};
    header.nlmsg_type = type;
    header.nlmsg_flags = static_cast<std::uint16_t>(NLM_F_REQUEST | NLM_F_ACK | flags);
    header.nlmsg_seq = 1;
    append(&header, sizeof header);
    append(&own, sizeof own);
  }
  RtMessage& attribute(std::uint16_t type, const void* value, std::size_t bytes) {
    rtattr head{};
    head.rta_type = type;
    head.rta_len = static_cast<std::uint16_t>(RTA_LENGTH(bytes));
    append(&head, sizeof head);
    append(value, bytes);
    return *this;
  }
  RtMessage& attribute(std::uint16_t type, std::string_view text) {
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
  // Data inside an attribute that is not an attribute itself.
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

inline Result<Fd> open_rtnetlink() {
  Fd socket(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
  if (!socket.valid()) return not_possible("cannot open rtnetlink: " + errno_text(errno));
  return socket;
}

}  // namespace howlate
