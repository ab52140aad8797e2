// network: ICMP echo requests at a rate, or as fast as they are answered (flood).
//
// Through a pair of virtual Ethernet cards between two network namespaces of its own, where that is allowed: nothing outside
// changes, and all of it vanishes with the process. Else over the loopback card, and labelled so. Over a real card only to
// an address that the user names (to=ADDRESS). A request holds 56 bytes, the time it was sent among them; one that is not
// answered within a second is lost. A flood sends the next request when the last one was answered, at least 100 a second.
// Disturbs: the network softirq (on veth and loopback it runs mostly in the sender's own context), with a card also its
// interrupts and NAPI.
#include <arpa/inet.h>
#include <linux/icmp.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string>

#include "core/text.hpp"
#include "loads/base/figures.hpp"
#include "loads/base/net_pair.hpp"
#include "loads/load.hpp"
#include "sys/clock.hpp"
#include "sys/file.hpp"

namespace howlate {
namespace {

constexpr Need modules[] = {{"veth", "card", "none"},
                            {"8139cp", "card", "rtl8139"},
                            {"e1000", "card", "e1000"},
                            {"e1000e", "card", "e1000e"}};
constexpr Need config[] = {{"NET"},
                           {"INET"},
                           {"NET_NS", "path", "veth"},
                           {"NETDEVICES", "path", "veth"},
                           {"VETH", "path", "veth"},
                           {"8139CP", "card", "rtl8139"},
                           {"E1000", "card", "e1000"},
                           {"E1000E", "card", "e1000e"}};
constexpr Need devices[] = {
    {"rtl8139", "card", "rtl8139"}, {"e1000", "card", "e1000"}, {"e1000e", "card", "e1000e"}};

constexpr ParamSpec options[] = {
    {"to", ParamType::text, "", "", "",
     "send to this IPv4 address over the machine's own network, instead of the virtual one"},
    {"path", ParamType::choice, "auto", "", "auto|veth|loopback",
     "veth: refuse if veth is not possible; loopback: do not try veth"},
    {"card", ParamType::choice, "none", "", "none|rtl8139|e1000|e1000e",
     "in a guest of the lab: through two cards of this model, with their driver and their interrupts"},
};

enum Figure : std::size_t { sent, received, lost, rtt_sum_ns, rtt_min_ns, rtt_max_ns, path, send_errors };
constexpr Times rtt_times = {received, rtt_sum_ns, rtt_min_ns, rtt_max_ns};
enum Path : std::int64_t { veth, loopback, card, card_pair };
constexpr const char* path_names[] = {"veth", "loopback", "card", "card_pair"};
constexpr std::int64_t rate_max = 1'000'000;

// Requests a second; 0 = flood.
Result<std::int64_t> read_rate(const std::string& text) {
  if (text == "flood") return std::int64_t{0};
  const Result<std::int64_t> rate = parse_count(text);
  if (rate && *rate >= 1 && *rate <= rate_max) return rate;
  return usage_error(in_quotes(text) + " is not a rate of packets",
                     "write packets a second from 1 to " + std::to_string(rate_max) +
                         ", like network:1000, or network:flood");
}

Result<std::uint32_t> read_address(const std::string& text) {
  struct in_addr address {};
  const bool ok = ::inet_pton(AF_INET, text.c_str(), &address) == 1;
  const std::uint32_t host = ntohl(address.s_addr);
  if (!ok)
    return usage_error(in_quotes(text) + " is not an IPv4 address", "write it in numbers, like 192.0.2.7");
  if (host == 0 || (host >> 28U) >= 0xe)
    return usage_error(in_quotes(text) + " is not the address of one machine", "name one machine");
  return static_cast<std::uint32_t>(address.s_addr);
}

Status check_card(const Params& params) {
  if (params.given("to") || params.given("path"))
    return usage_error("card= names the way, so to= and path= cannot", "give one of the three");
  const Result<CardModel> model = find_card_model(params.text("card"));
  return model ? check_card_pair(*model, Root()) : Status(model.error());
}

Status check(const Params& params, std::size_t /*workers*/) {
  if (const Result<std::int64_t> rate = read_rate(params.text("target")); !rate) return rate.error();
  if (params.text("card") != "none") return check_card(params);
  if (params.text("to").empty()) return {};
  if (params.given("path")) return usage_error("to= names the way, so path= cannot", "give one of the two");
  const Result<std::uint32_t> address = read_address(params.text("to"));
  return address ? Status() : Status(address.error());
}

struct Sender {
  Fd socket;
  std::uint32_t address = 0;
  Path path = card;
  bool raw = true;
};

// In the namespace that the machine is in. A ping socket needs no right where net.ipv4.ping_group_range has the group.
Result<Sender> open_plain(std::uint32_t address) {
  Sender way;
  way.address = address;
  way.path = (ntohl(address) >> 24U) == 127 ? loopback : card;
  way.socket = Fd(::socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_ICMP));
  if (!way.socket.valid()) {
    way.raw = false;
    way.socket = Fd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, IPPROTO_ICMP));
  }
  if (!way.socket.valid())
    return not_possible("this user may not send ICMP echo requests: " + errno_text(errno),
                        "run it as root or with CAP_NET_RAW, allow user namespaces, or write the group into "
                        "net.ipv4.ping_group_range");
  return way;
}

Result<Sender> through(Result<NetPair> pair, Path path) {
  if (!pair) return pair.error();
  Sender way;
  way.socket = std::move(pair->near_icmp);
  way.address = pair->far_address;
  way.path = path;
  return way;
}

Result<Sender> open_way(const Worker& worker) {
  if (worker.params.text("card") != "none") {
    const Result<CardModel> model = find_card_model(worker.params.text("card"));
    return model ? through(make_card_pair(*model, Root()), card_pair) : Result<Sender>(model.error());
  }
  if (!worker.params.text("to").empty()) {
    const Result<std::uint32_t> address = read_address(worker.params.text("to"));
    return address ? open_plain(*address) : Result<Sender>(address.error());
  }
  const std::string& wanted = worker.params.text("path");
  // Opened first: once in a namespace of its own, the process has no way back to the machine's loopback.
  Result<Sender> plain = open_plain(htonl(INADDR_LOOPBACK));
  if (wanted == "loopback") return plain;
  Result<Sender> pair = through(make_veth_pair(), veth);
  if (pair || wanted == "veth") return pair;
  if (!plain)
    return not_possible(pair.error().message + "; and over loopback " + plain.error().message,
                        plain.error().remedy);
  worker.warn("the load goes over loopback, not through virtual cards: " + pair.error().message);
  return plain;
}

std::uint16_t checksum(const char* data, std::size_t bytes) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < bytes; i += 2) {
    std::uint16_t word;
    std::memcpy(&word, data + i, sizeof word);
    sum += word;
  }
  while ((sum >> 16U) != 0) sum = (sum & 0xffffU) + (sum >> 16U);
  return static_cast<std::uint16_t>(~sum);
}

// Sends requests, takes answers, and keeps the account: sent = received + lost + still on the way.
class Pinger {
 public:
  Pinger(Sender way, WorkerSlot& slot)
      : way_(std::move(way)), slot_(slot), id_(static_cast<std::uint16_t>(::getpid())) {
    put_figure(slot_, path, way_.path);
  }

  Status prepare() const {
    if (way_.raw) {
      // Only answers: on loopback our own requests would come in as well.
      const std::uint32_t filter = ~(1U << ICMP_ECHOREPLY);
      if (::setsockopt(way_.socket.get(), SOL_RAW, ICMP_FILTER, &filter, sizeof filter) != 0)
        return broken("cannot filter ICMP: " + errno_text(errno));
    }
    struct sockaddr_in to {};
    to.sin_family = AF_INET;
    to.sin_addr.s_addr = way_.address;
    if (::connect(way_.socket.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0)
      return not_possible("there is no way to that address: " + errno_text(errno),
                          "look at the machine's routes");
    return {};
  }

  void send_one() {
    expire();
    if (head_ - tail_ == sent_at_.size())
      return;  // the oldest is younger than a second: more cannot be told apart
    std::array<char, 64> packet{};
    struct icmphdr header {};
    header.type = ICMP_ECHO;
    header.un.echo.id = htons(id_);
    header.un.echo.sequence = htons(static_cast<std::uint16_t>(head_));
    std::memcpy(packet.data(), &header, sizeof header);
    const std::int64_t now_ns = monotonic_now_ns();
    std::memcpy(packet.data() + sizeof header, &now_ns, sizeof now_ns);
    header.checksum = checksum(packet.data(), packet.size());
    std::memcpy(packet.data(), &header, sizeof header);
    if (::send(way_.socket.get(), packet.data(), packet.size(), MSG_DONTWAIT) < 0) {
      add_figure(slot_, send_errors, 1);
      return;
    }
    sent_at_[static_cast<std::size_t>(head_ % sent_at_.size())] = now_ns;
    ++head_;
    add_figure(slot_, sent, 1);
    slot_.add_units(1);
  }

  // Takes what has come; waits for more until the given time, in a flood until the newest request is answered.
  void receive(std::int64_t until_ns) {
    for (;;) {
      while (take_one()) {
      }
      const std::int64_t left_ns = until_ns - monotonic_now_ns();
      if (left_ns <= 0 || (flood_ && newest_answered())) return;
      struct pollfd fd {
        way_.socket.get(), POLLIN, 0
      };
      const struct timespec left = timespec_of(left_ns);
      ::ppoll(&fd, 1, &left, nullptr);
    }
  }

  void flood() { flood_ = true; }

  // New cards pass nothing until the kernel has seen that they are linked, which may take it a second. What was sent
  // until then is forgotten.
  Status wait_until_linked() {
    const std::int64_t end_ns = monotonic_now_ns() + 5 * second_ns;
    while (figure(slot_, received) == 0) {
      if (monotonic_now_ns() > end_ns)
        return not_possible("the two cards do not pass anything", "try network with path=loopback");
      send_one();
      receive(monotonic_now_ns() + second_ns / 100);
    }
    sent_at_.fill(0);
    head_ = tail_ = 0;
    for (const Figure one : {sent, received, lost, rtt_sum_ns, rtt_min_ns, rtt_max_ns, send_errors})
      put_figure(slot_, one, 0);
    slot_.units.store(0, std::memory_order_relaxed);
    return {};
  }

 private:
  [[nodiscard]] bool newest_answered() const {
    return head_ > tail_ && sent_at_[static_cast<std::size_t>((head_ - 1) % sent_at_.size())] == 0;
  }

  bool take_one() {
    std::array<char, 256> packet;
    const ssize_t got = ::recv(way_.socket.get(), packet.data(), packet.size(), MSG_DONTWAIT);
    if (got < 0) return errno == EINTR || errno == ECONNREFUSED;
    const std::size_t ip_bytes = way_.raw ? static_cast<std::size_t>(packet[0] & 0xf) * 4 : 0;
    struct icmphdr header {};
    std::int64_t at_ns = 0;
    if (static_cast<std::size_t>(got) < ip_bytes + sizeof header + sizeof at_ns) return true;
    std::memcpy(&header, packet.data() + ip_bytes, sizeof header);
    if (header.type != ICMP_ECHOREPLY || (way_.raw && header.un.echo.id != htons(id_))) return true;
    std::memcpy(&at_ns, packet.data() + ip_bytes + sizeof header, sizeof at_ns);
    // The slot of its number, if that is still the request that it answers.
    std::int64_t& slot = sent_at_[ntohs(header.un.echo.sequence)];
    if (slot == 0 || slot != at_ns) return true;
    slot = 0;
    add_time(slot_, rtt_times, monotonic_now_ns() - at_ns);
    return true;
  }

  void expire() {
    const std::int64_t old_ns = monotonic_now_ns() - second_ns;
    for (; tail_ < head_; ++tail_) {
      std::int64_t& slot = sent_at_[static_cast<std::size_t>(tail_ % sent_at_.size())];
      if (slot > old_ns) return;
      if (slot != 0) add_figure(slot_, lost, 1);
      slot = 0;
    }
  }

  Sender way_;
  WorkerSlot& slot_;
  std::uint16_t id_;
  bool flood_ = false;
  std::array<std::int64_t, 65536>
      sent_at_{};  // by sequence number: when it was sent, 0 once it is answered or lost
  std::uint64_t head_ = 0, tail_ = 0;
};

Status work(Worker& worker) {
  const Result<std::int64_t> rate = read_rate(worker.params.text("target"));
  if (!rate) return rate.error();
  Result<Sender> way = open_way(worker);
  if (!way) return way.error();
  const bool own_cards = way->path == veth || way->path == card_pair;
  const auto pinger = std::make_unique<Pinger>(std::move(*way), worker.slot);
  if (const Status status = pinger->prepare(); !status) return status;
  if (own_cards)
    if (const Status status = pinger->wait_until_linked(); !status) return status;
  worker.say_ready();
  if (*rate == 0) {
    pinger->flood();
    for (;;) {
      pinger->send_one();
      pinger->receive(monotonic_now_ns() + second_ns / 100);
    }
  }
  const double gap_ns = static_cast<double>(second_ns) / static_cast<double>(*rate);
  for (Pace pace(gap_ns, monotonic_now_ns());;) {
    pinger->send_one();
    pinger->receive(pace.next_ns(monotonic_now_ns()));
  }
}

void results(const WorkerSlot& slot, JsonWriter& json) {
  const std::int64_t on_the_way = figure(slot, sent) - figure(slot, received) - figure(slot, lost);
  json.member("path", path_names[figure(slot, path)]).member("sent", figure(slot, sent));
  json.member("received", figure(slot, received)).member("lost", figure(slot, lost));
  json.member("on_the_way", on_the_way).member("send_errors", figure(slot, send_errors));
  tell_times(json, "rtt_ns", slot, rtt_times);
}

}  // namespace

extern const Load load_network;
const Load load_network = {
    .name = "network",
    .summary = "ICMP echo requests at a rate or as a flood, between two network namespaces of its own",
    .unit = "packets",
    .target = {"target", ParamType::text, "1000", "1/s", "", "packets a second, or flood"},
    .params = options,
    .alone = "flood",
    .action = {.name = "packets", .wanted = 10},
    .spread = Spread::one,
    .check = check,
    .work = work,
    .results = results,
    .modules = modules,
    .config = config,
    .devices = devices,
};

}  // namespace howlate
