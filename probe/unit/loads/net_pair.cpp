// Which cards of a machine may be flooded: the lab's alone.
#include "loads/base/net_pair.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace howlate {
namespace {

class Machine {
 public:
  Machine() {
    std::string folder = (std::filesystem::temp_directory_path() / "howlate-cards-XXXXXX").string();
    folder_ = ::mkdtemp(folder.data());
  }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;
  ~Machine() { std::filesystem::remove_all(folder_); }

  void add(const std::string& name, const std::string& address, const std::string& vendor,
           const std::string& device) const {
    const std::filesystem::path card = folder_ / "sys/class/net" / name;
    std::filesystem::create_directories(card / "device");
    std::ofstream(card / "address") << address << '\n';
    std::ofstream(card / "device/vendor") << vendor << '\n';
    std::ofstream(card / "device/device") << device << '\n';
  }
  void first_process(const char* program) const {
    std::filesystem::create_directories(folder_ / "proc/1");
    std::filesystem::remove(folder_ / "proc/1/exe");
    std::filesystem::create_symlink(program, folder_ / "proc/1/exe");
  }
  [[nodiscard]] Root root() const { return Root(folder_.string()); }

 private:
  std::filesystem::path folder_;
};

TEST_CASE("the lab's cards are known by address and model, in order, and no other card is taken") {
  const Machine machine;
  machine.add("eth0", "02:68:6c:00:00:02", "0x10ec", "0x8139");
  machine.add("eth1", "02:68:6c:00:00:01", "0x10ec", "0x8139");
  machine.add("eth2", "52:54:00:12:34:56", "0x10ec", "0x8139");
  machine.add("eth3", "02:68:6c:01:00:01", "0x8086", "0x100e");
  CHECK(lab_cards(*find_card_model("rtl8139"), machine.root()) == std::vector<std::string>{"eth1", "eth0"});
  CHECK(lab_cards(*find_card_model("e1000"), machine.root()) == std::vector<std::string>{"eth3"});
  CHECK_FALSE(find_card_model("ne2k"));
}

TEST_CASE("only a guest of the lab has cards to flood") {
  const Machine machine;
  const CardModel model = *find_card_model("rtl8139");
  CHECK(check_card_pair(model, machine.root()).error().code == ExitCode::not_possible);
  machine.first_process("/usr/lib/systemd/systemd");
  CHECK(check_card_pair(model, machine.root()).error().remedy.find("lab run") != std::string::npos);
  machine.first_process("/init");
  CHECK(check_card_pair(model, machine.root()));
}

}  // namespace
}  // namespace howlate
