#include "job/ext4.hpp"

#include <algorithm>
#include <bit>
#include <initializer_list>
#include <string>
#include <string_view>

namespace howlate {
namespace {

constexpr std::uint64_t block_bytes = Ext4Block::bytes;
constexpr std::uint32_t blocks_per_group = 8 * Ext4Block::bytes;
constexpr std::uint32_t inodes_per_group = 64;
constexpr std::uint32_t inode_bytes = 256;
constexpr std::uint32_t table_blocks = inodes_per_group * inode_bytes / Ext4Block::bytes;
constexpr std::uint32_t journal_blocks = 1024;
constexpr std::uint32_t root_inode = 2, journal_inode = 8, lost_inode = 11, inodes_used = 11;
constexpr std::uint64_t least_blocks = 2048, most_blocks = std::uint64_t{1} << 22U;

// Of a group, from its first block.
struct Group {
  std::uint32_t first = 0, blocks = 0;
  std::uint32_t bitmap = 0, inode_bitmap = 0, table = 0;  // block numbers
  std::uint32_t used_blocks = 0, used_inodes = 0, folders = 0;
};

void put(Ext4Block& block, std::size_t at, std::uint64_t number, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i, number >>= 8U) block.data[at + i] = number & 0xffU;
}
void put16(Ext4Block& block, std::size_t at, std::uint64_t number) {
  put(block, at, number, 2);
}
void put32(Ext4Block& block, std::size_t at, std::uint64_t number) {
  put(block, at, number, 4);
}
void put32_big(Ext4Block& block, std::size_t at, std::uint32_t number) {  // the journal is big endian
  for (std::size_t i = 0; i < 4; ++i) block.data[at + i] = (number >> (24 - 8 * i)) & 0xffU;
}

class Maker {
 public:
  explicit Maker(std::uint32_t blocks) : blocks_(blocks) {
    for (std::uint32_t first = 0; first < blocks; first += blocks_per_group) {
      Group group{first, std::min(blocks - first, blocks_per_group)};
      const std::uint32_t own = first == 0 ? 2 : 0;  // superblock and descriptors
      group.bitmap = first + own;
      group.inode_bitmap = group.bitmap + 1;
      group.table = group.inode_bitmap + 1;
      group.used_blocks = own + 2 + table_blocks;
      groups_.push_back(group);
    }
    Group& home = groups_.front();
    root_ = home.used_blocks;
    lost_ = root_ + 1;
    journal_ = lost_ + 1;
    home.used_blocks += 2 + journal_blocks;
    home.used_inodes = inodes_used;
    home.folders = 2;
  }

  std::vector<Ext4Block> make() {
    superblock();
    descriptors();
    for (const Group& group : groups_) bitmaps_and_table(group);
    folder(root_, root_inode, root_inode, true);
    folder(lost_, lost_inode, root_inode, false);
    journal();
    std::sort(made_.begin(), made_.end(),
              [](const auto& one, const auto& two) { return one.number < two.number; });
    return std::move(made_);
  }

 private:
  Ext4Block& add(std::uint64_t number) { return made_.emplace_back(Ext4Block{number, {}}); }

  void superblock() {
    Ext4Block& block = add(0);
    const auto field = [&](std::size_t at, std::uint64_t number) { put32(block, 1024 + at, number); };
    std::uint32_t free_blocks = blocks_;
    for (const Group& group : groups_) free_blocks -= group.used_blocks;
    const auto inodes = static_cast<std::uint32_t>(groups_.size()) * inodes_per_group;
    field(0, inodes);
    field(4, blocks_);
    field(12, free_blocks);
    field(16, inodes - inodes_used);
    field(24, 2);  // blocks of 1024 << 2
    field(28, 2);
    field(32, blocks_per_group);
    field(36, blocks_per_group);
    field(40, inodes_per_group);
    field(52, 0xffff0000);   // never to be checked for the number of mounts
    field(56, 0x0001ef53);   // magic; clean
    field(60, 1);            // go on after an error
    field(76, 1);            // revision with features
    field(84, lost_inode);   // the first that is free for files
    field(88, inode_bytes);  // and group 0
    field(92, 0x4 | 0x200);  // has_journal, sparse_super2: no copies of this block
    field(96, 0x2 | 0x40);   // filetype, extents
    field(100, 0x2 | 0x40);  // large_file, extra_isize
    for (std::size_t at = 0; at < 16; ++at) block.data[1024 + 104 + at] = uuid(at);
    field(224, journal_inode);
    for (std::size_t at = 0; at < 4; ++at)
      field(236 + 4 * at, 0x9e3779b9U * (at + 1));  // seed of folder hashes
    put(block, 1024 + 252, 1, 1);                   // half MD4
    field(348, 32 | (32U << 16U));                  // extra bytes of an inode: least, wanted
    field(352, 1);                                  // signed folder hash
  }

  static std::uint8_t uuid(std::size_t at) { return static_cast<std::uint8_t>("howlate-scratch1"[at]); }

  void descriptors() {
    Ext4Block& block = add(1);
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      const Group& group = groups_[i];
      const std::size_t at = 32 * i;
      put32(block, at, group.bitmap);
      put32(block, at + 4, group.inode_bitmap);
      put32(block, at + 8, group.table);
      put16(block, at + 12, group.blocks - group.used_blocks);
      put16(block, at + 14, inodes_per_group - group.used_inodes);
      put16(block, at + 16, group.folders);
    }
  }

  // A bit for each that is in use; those behind the end count as used.
  void bitmap(std::uint32_t number, std::uint32_t used, std::uint32_t all) {
    Ext4Block& block = add(number);
    for (std::uint32_t bit = 0; bit < 8 * block_bytes; ++bit)
      if (bit < used || bit >= all)
        block.data[bit / 8] = static_cast<std::uint8_t>(block.data[bit / 8] | 1U << (bit % 8));
  }

  void bitmaps_and_table(const Group& group) {
    bitmap(group.bitmap, group.used_blocks, group.blocks);
    bitmap(group.inode_bitmap, group.used_inodes, inodes_per_group);
    for (std::uint32_t i = 0; i < table_blocks; ++i) {
      Ext4Block& block = add(group.table + i);
      if (group.first != 0 || i != 0) continue;
      inode(block, root_inode, 041777, 3, root_, 1);
      inode(block, lost_inode, 040700, 2, lost_, 1);
      inode(block, journal_inode, 0100600, 1, journal_, journal_blocks);
    }
  }

  // One extent holds all of it.
  static void inode(Ext4Block& block, std::uint32_t number, std::uint32_t mode, std::uint32_t links,
                    std::uint32_t first, std::uint32_t blocks) {
    const std::size_t at = std::size_t{number - 1} * inode_bytes;
    put16(block, at, mode);
    put32(block, at + 4, blocks * block_bytes);
    put16(block, at + 26, links);
    put32(block, at + 28, blocks * (block_bytes / 512));
    put32(block, at + 32, 0x80000);  // extents
    put16(block, at + 40, 0xf30a);   // head of the extents: magic, one of four is used, depth 0
    put16(block, at + 42, 1);
    put16(block, at + 44, 4);
    put16(block, at + 56, blocks);  // the extent: from 0, so many, there
    put32(block, at + 60, first);
    put16(block, at + 128, 32);  // extra bytes of this inode
  }

  void folder(std::uint32_t number, std::uint32_t self, std::uint32_t parent, bool holds_lost) {
    Ext4Block& block = add(number);
    const auto entry = [&](std::size_t at, std::uint32_t inode, std::size_t length, std::string_view name) {
      put32(block, at, inode);
      put16(block, at + 4, length);
      put(block, at + 6, name.size(), 1);
      put(block, at + 7, 2, 1);  // a folder
      std::copy(name.begin(), name.end(), block.data.begin() + static_cast<std::ptrdiff_t>(at) + 8);
    };
    entry(0, self, 12, ".");
    entry(12, parent, holds_lost ? 12 : block_bytes - 12, "..");
    if (holds_lost) entry(24, lost_inode, block_bytes - 24, "lost+found");
  }

  // Empty: it begins at its block 1 with transaction 1, and there is nothing to replay.
  void journal() {
    Ext4Block& block = add(journal_);
    put32_big(block, 0, 0xc03b3998);
    put32_big(block, 4, 4);  // superblock, version 2
    put32_big(block, 12, block_bytes);
    put32_big(block, 16, journal_blocks);
    put32_big(block, 20, 1);
    put32_big(block, 24, 1);
    for (std::size_t at = 0; at < 16; ++at) block.data[48 + at] = uuid(at);
    put32_big(block, 64, 1);  // one file system uses it
  }

  std::uint32_t blocks_;
  std::vector<Group> groups_;
  std::uint32_t root_ = 0, lost_ = 0, journal_ = 0;
  std::vector<Ext4Block> made_;
};

}  // namespace

Result<std::vector<Ext4Block>> make_ext4(std::uint64_t device_bytes) {
  std::uint64_t blocks = device_bytes / block_bytes;
  // A last group that is too small for its own tables is left out.
  if (blocks % blocks_per_group != 0 && blocks % blocks_per_group < 2 * (2 + table_blocks))
    blocks -= blocks % blocks_per_group;
  if (blocks < least_blocks || blocks > most_blocks)
    return not_possible("a device of " + std::to_string(device_bytes) + " bytes takes no scratch file system",
                        "It may have from 8 MiB to 16 GiB");
  return Maker(static_cast<std::uint32_t>(blocks)).make();
}

}  // namespace howlate
