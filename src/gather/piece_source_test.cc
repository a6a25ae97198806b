// SPDX-License-Identifier: Apache-2.0
#include "trainwire/gather/piece_source.h"

#include "trainwire/capture/test_files.h"
#include "trainwire/gather/stream_source.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>

namespace tw::gather {
namespace {

using capture::FileBytes;
using capture::TemporaryFolder;

/// Records of 170 bytes from hosts that change slowly, so that later pieces have new ones.
FileBytes file_of(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    text += fmt::format("{}.{:03} {} > {}  {}:{}\n", i / 1000, i % 1000,
                        static_cast<char>('a' + i / 50 % 24), static_cast<char>('b' + i / 50 % 24),
                        1 + 100 * i, 101 + 100 * i);
  }
  return capture::written(text,
                          {.format = capture::FileFormat::Pcap, .interfaces = {{.link_type = 1}}});
}

struct Taken {
  std::vector<packet::Packet> packets = {};
  std::vector<packet::Address> addresses = {};
  std::optional<capture::Damage> damage = {};
};

Taken take_all(Source& source) {
  Taken taken;
  while (const Batch* batch = source.next()) {
    taken.packets.insert(taken.packets.end(), batch->packets.begin(), batch->packets.end());
    taken.addresses.insert(taken.addresses.end(), batch->addresses.begin(), batch->addresses.end());
  }
  taken.damage = source.damage();
  return taken;
}

Taken in_order(const std::string& path) {
  Numbering numbering;
  StreamSource source({.path = path, .reader = capture::open_capture(path)}, numbering, nullptr);
  return take_all(source);
}

Taken in_pieces(const std::string& path, std::int64_t piece_bytes, std::size_t helpers) {
  Numbering numbering;
  PieceSource source(capture::PiecedFile::open(path, piece_bytes), {}, numbering, helpers);
  return take_all(source);
}

/// Makes piece `number` of 1,700 bytes seem to begin 24 bytes too early. Records begin at 24 + 170
/// k, so the last 24 bytes of one, all payload, are the first of the piece: a header of 16 and 8
/// bytes captured lead to the true record behind.
void mislead(FileBytes& bytes, std::size_t number) {
  constexpr std::size_t kHeader = 16;
  const auto at = bytes.begin() + static_cast<std::ptrdiff_t>(1700 * number);
  std::copy_n(at + 24, kHeader, at);
  const auto captured = at + 8;
  const auto original = at + 12;
  std::fill(captured, at + kHeader, std::byte{0});
  *captured = *original = std::byte{8};
}

void expect_equal(const Taken& found, const Taken& expected) {
  ASSERT_EQ(found.packets.size(), expected.packets.size());
  for (std::size_t i = 0; i < found.packets.size(); ++i) {
    ASSERT_EQ(found.packets[i].time_ns, expected.packets[i].time_ns) << i;
    ASSERT_EQ(found.packets[i].source, expected.packets[i].source) << i;
    ASSERT_EQ(found.packets[i].destination, expected.packets[i].destination) << i;
    ASSERT_EQ(found.packets[i].sequence, expected.packets[i].sequence) << i;
  }
  EXPECT_EQ(found.addresses, expected.addresses);
  ASSERT_EQ(found.damage.has_value(), expected.damage.has_value());
  if (found.damage) {
    EXPECT_EQ(found.damage->offset, expected.damage->offset);
    EXPECT_EQ(found.damage->text, expected.damage->text);
  }
}

TEST(PieceSource, GivesWhatOneThreadGives) {
  const TemporaryFolder folder;
  const std::string path = folder.file("x.pcap", file_of(2000));
  const Taken expected = in_order(path);
  ASSERT_EQ(expected.packets.size(), 2000u);
  for (const std::size_t helpers : {1u, 2u, 5u}) {
    for (const std::int64_t piece_bytes : {500, 1700, 4000, 1'000'000}) {
      expect_equal(in_pieces(path, piece_bytes, helpers), expected);
    }
  }
}

TEST(PieceSource, ReadsOnInOrderWhereAPieceHoldsNoRecord) {
  const TemporaryFolder folder;
  const std::string path = folder.file("x.pcap", file_of(300));
  // Pieces of 100 bytes: many a record begins in the piece before and ends in the one behind.
  expect_equal(in_pieces(path, 100, 2), in_order(path));
}

TEST(PieceSource, GoesOnInPiecesBehindAWrongGuess) {
  const TemporaryFolder folder;
  FileBytes bytes = file_of(5000);
  for (const std::size_t number : {100u, 101u, 300u}) mislead(bytes, number);
  const std::string path = folder.file("x.pcap", bytes);
  expect_equal(in_pieces(path, 1700, 2), in_order(path));

  // A piece holds ten records, or eleven; read in order there would be batches of 1,024.
  FileBytes once = file_of(5000);
  mislead(once, 100);
  Numbering numbering;
  PieceSource source(capture::PiecedFile::open(folder.file("y.pcap", once), 1700), {}, numbering,
                     2);
  std::size_t packets = 0;
  while (const Batch* batch = source.next()) {
    EXPECT_LE(batch->packets.size(), 11u);
    packets += batch->packets.size();
  }
  EXPECT_EQ(packets, 5000u);
}

TEST(PieceSource, ReadsOnInOrderWhereGuessesAreOftenWrong) {
  const TemporaryFolder folder;
  FileBytes bytes = file_of(3000);
  for (std::size_t number = 1; number < 300; ++number) mislead(bytes, number);
  const std::string path = folder.file("x.pcap", bytes);
  expect_equal(in_pieces(path, 1700, 2), in_order(path));
}

TEST(PieceSource, FindsDamageAsOneThreadDoes) {
  const TemporaryFolder folder;
  const FileBytes whole = file_of(1000);
  FileBytes cut = whole;
  cut.resize(cut.size() - 33);
  const std::string cut_path = folder.file("cut.pcap", cut);
  expect_equal(in_pieces(cut_path, 4000, 2), in_order(cut_path));

  FileBytes broken = whole;
  std::fill_n(broken.begin() + 24 + 500 * 170, 16, std::byte{0xff});
  const std::string broken_path = folder.file("broken.pcap", broken);
  const Taken taken = in_pieces(broken_path, 4000, 2);
  EXPECT_EQ(taken.packets.size(), 500u);
  expect_equal(taken, in_order(broken_path));
}

TEST(PieceSource, ReadsAHeaderWithoutPackets) {
  const TemporaryFolder folder;
  const Taken taken = in_pieces(folder.file("x.pcap", file_of(0)), 4000, 1);
  EXPECT_TRUE(taken.packets.empty());
  EXPECT_FALSE(taken.damage.has_value());
}

TEST(PieceSource, EndsWhereAFileThatShrinksEnds) {
  const TemporaryFolder folder;
  const std::string path = folder.file("x.pcap", file_of(5000));
  Numbering numbering;
  PieceSource source(capture::PiecedFile::open(path, 1700), {}, numbering, 1);
  ASSERT_NE(source.next(), nullptr);
  std::filesystem::resize_file(path, 24 + 1000 * 170);
  std::size_t packets = 0;
  while (const Batch* batch = source.next()) packets += batch->packets.size();
  EXPECT_LE(packets, 1000u);
  EXPECT_FALSE(source.damage().has_value());
}

TEST(PieceSource, StopsEarly) {
  const TemporaryFolder folder;
  const std::string path = folder.file("x.pcap", file_of(5000));
  Numbering numbering;
  PieceSource source(capture::PiecedFile::open(path, 1700), {}, numbering, 2);
  ASSERT_NE(source.next(), nullptr);
  source.stop();
  EXPECT_FALSE(source.damage().has_value());
}

}  // namespace
}  // namespace tw::gather
