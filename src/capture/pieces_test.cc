// SPDX-License-Identifier: Apache-2.0
#include "trainwire/capture/pieces.h"

#include "trainwire/base/error.h"
#include "trainwire/capture/test_files.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace tw::capture {
namespace {

/// `count` packets of 100 payload bytes, one a millisecond, from ten hosts: records of 16 + 54 +
/// 100 bytes.
FileBytes file_of(int count, const WriterOptions& options = {.format = FileFormat::Pcap,
                                                             .interfaces = {{.link_type = 1}}}) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    text += fmt::format("{}.{:03} {} > z  {}:{}\n", i / 1000, i % 1000,
                        static_cast<char>('a' + i % 10), 1 + 100 * i, 101 + 100 * i);
  }
  return written(text, options);
}

/// All packets as the pieces give them; fails when a guess was wrong.
std::vector<packet::Packet> in_pieces(const PiecedFile& file, TakenBy taken_by) {
  PieceReader reader(file, taken_by);
  std::vector<packet::Packet> all;
  Piece piece;
  std::int64_t offset = kPcapFileHeader;
  for (std::int64_t number = 0;; ++number) {
    reader.read(number, piece);
    if (!piece.begin.has_value()) return all;
    EXPECT_EQ(*piece.begin, offset) << "piece " << number;
    offset = piece.end;
    all.insert(all.end(), piece.packets.begin(),
               piece.packets.begin() + static_cast<std::ptrdiff_t>(piece.count));
  }
}

void expect_equal(const std::vector<packet::Packet>& found,
                  const std::vector<packet::Packet>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].time_ns, expected[i].time_ns) << i;
    EXPECT_EQ(found[i].source, expected[i].source) << i;
    EXPECT_EQ(found[i].sequence, expected[i].sequence) << i;
    EXPECT_EQ(found[i].payload_bytes, expected[i].payload_bytes) << i;
  }
}

TEST(PieceReader, GivesWhatReadingInOrderGivesWhereverItIsCut) {
  const TemporaryFolder folder;
  const FileBytes bytes = file_of(100);
  const std::string path = folder.file("x.pcap", bytes);
  const Reading whole = read_all(bytes);
  // Pieces of two to a dozen records, so that cuts fall on every byte of a record.
  for (std::int64_t piece_bytes = 400; piece_bytes < 2000; piece_bytes += 7) {
    const auto file = PiecedFile::open(path, piece_bytes);
    expect_equal(in_pieces(*file, TakenBy::Reader), whole.packets);
    expect_equal(in_pieces(*file, TakenBy::Another), whole.packets);
  }
}

TEST(PieceReader, GivesPiecesOfManyPackets) {
  const TemporaryFolder folder;
  // More than are decoded together, more than the first room holds, and no multiple of either.
  const FileBytes bytes = file_of(5001);
  const auto file = PiecedFile::open(folder.file("x.pcap", bytes), 1 << 20);
  const Reading whole = read_all(bytes);
  expect_equal(in_pieces(*file, TakenBy::Reader), whole.packets);
  expect_equal(in_pieces(*file, TakenBy::Another), whole.packets);
}

TEST(PieceReader, BeginsWhereItIsTold) {
  const TemporaryFolder folder;
  const auto file = PiecedFile::open(folder.file("x.pcap", file_of(30)), 10 * 170);
  PieceReader reader(*file);
  Piece piece;
  // Piece 1 is bytes 1,700 to 3,399: records 10 to 19 begin in it, at 24 + 170 k.
  reader.read(1, piece, 24 + 12 * 170);
  EXPECT_EQ(piece.begin, 24 + 12 * 170);
  EXPECT_EQ(piece.count, 8u);
  EXPECT_EQ(piece.end, 24 + 20 * 170);
}

TEST(PieceReader, TellsNewAddressesOnce) {
  const TemporaryFolder folder;
  const auto file = PiecedFile::open(folder.file("x.pcap", file_of(40)), 20 * 170);
  PieceReader reader(*file);
  Piece piece;
  reader.read(0, piece);
  EXPECT_EQ(piece.addresses.size(), 11u);  // a to j and z
  reader.read(1, piece);
  EXPECT_TRUE(piece.addresses.empty());
  EXPECT_GT(piece.count, 10u);
}

TEST(PieceReader, EndsWhereTheFileIsCutOff) {
  const TemporaryFolder folder;
  FileBytes bytes = file_of(10);
  bytes.resize(bytes.size() - 1);
  const auto file = PiecedFile::open(folder.file("x.pcap", bytes));
  PieceReader reader(*file);
  Piece piece;
  reader.read(0, piece);
  EXPECT_EQ(piece.count, 9u);
  EXPECT_TRUE(piece.ended);
  EXPECT_EQ(piece.end, 24 + 9 * 170);
  const auto rest = file->rest(piece.end);
  EXPECT_TRUE(read_all(*rest).packets.empty());
  ASSERT_TRUE(rest->damage().has_value());
  EXPECT_EQ(rest->damage()->offset, 24 + 9 * 170);
  EXPECT_EQ(rest->damage()->text, "the packet is cut off after 169 of 170 bytes");
}

TEST(PieceReader, ReadsNothingBehindTheEndOfAFileThatShrank) {
  const TemporaryFolder folder;
  const std::string path = folder.file("x.pcap", file_of(100));
  const auto file = PiecedFile::open(path, 1700);
  std::filesystem::resize_file(path, 24 + 20 * 170);
  PieceReader reader(*file);
  Piece piece;
  reader.read(5, piece);
  EXPECT_FALSE(piece.begin.has_value());
  EXPECT_EQ(piece.count, 0u);
  EXPECT_TRUE(piece.ended);
}

TEST(PiecedFile, ReadsOnFromARecord) {
  const TemporaryFolder folder;
  const FileBytes bytes = file_of(30);
  const auto file = PiecedFile::open(folder.file("x.pcap", bytes));
  const Reading rest = read_all(*file->rest(24 + 25 * 170));
  EXPECT_EQ(rest.packets.size(), 5u);
  EXPECT_EQ(rest.sources.front(), read_all(bytes).sources[25]);
  EXPECT_FALSE(rest.damage.has_value());
}

TEST(PiecedFile, IsOnlyForPlainPcapFiles) {
  const TemporaryFolder folder;
  EXPECT_EQ(PiecedFile::open("-"), nullptr);
  EXPECT_EQ(PiecedFile::open(folder.path()), nullptr);
  EXPECT_EQ(PiecedFile::open(folder.file("short", FileBytes(10))), nullptr);
  const FileBytes pcapng =
      file_of(3, {.format = FileFormat::Pcapng, .interfaces = {{.link_type = 1}}});
  EXPECT_EQ(PiecedFile::open(folder.file("x.pcapng", pcapng)), nullptr);
}

TEST(LikelyRecord, IsNoLongerThanTheSnapLength) {
  const WriterOptions options{.format = FileFormat::Pcap,
                              .interfaces = {{.link_type = 1, .snaplen = 200}}};
  FileBytes bytes = file_of(20, options);
  PcapFileHeader header;
  std::copy_n(bytes.begin(), header.size(), header.begin());
  // In the first record's payload, a header that claims all up to the fifth record: 594 bytes, more
  // than the snap length allows. The second record begins 100 bytes behind it.
  const auto fake = bytes.begin() + 24 + 70;
  std::copy_n(bytes.begin() + 24, 16, fake);
  for (const int length_at : {8, 12}) {
    fake[length_at] = std::byte{(4 * 170 - 70 - 16) % 256};
    fake[length_at + 1] = std::byte{(4 * 170 - 70 - 16) / 256};
  }
  const auto from_payload = std::span(bytes).subspan(24 + 70);
  EXPECT_EQ(likely_record(from_payload, header), 100u);
}

TEST(LikelyRecord, IsNoPlaceInZerosNorInText) {
  const FileBytes bytes = file_of(1);
  PcapFileHeader header;
  std::copy_n(bytes.begin(), header.size(), header.begin());
  EXPECT_FALSE(likely_record(FileBytes(5000), header).has_value());
  EXPECT_FALSE(likely_record(FileBytes(5000, std::byte{'x'}), header).has_value());
}

}  // namespace
}  // namespace tw::capture
