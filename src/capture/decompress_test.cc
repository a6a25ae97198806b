// SPDX-License-Identifier: Apache-2.0
#include "trainwire/capture/decompress.h"

#include "trainwire/base/error.h"
#include "trainwire/capture/test_files.h"

#include <gmock/gmock.h>
#include <zlib.h>

#include <cstdlib>

namespace tw::capture {
namespace {

using testing::HasSubstr;

FileBytes gzipped(std::span<const std::byte> bytes) {
  z_stream stream{};
  constexpr int kGzip = 16;
  EXPECT_EQ(::deflateInit2(&stream, 6, Z_DEFLATED, MAX_WBITS + kGzip, 8, Z_DEFAULT_STRATEGY), Z_OK);
  FileBytes out(::deflateBound(&stream, bytes.size()) + 32);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(::deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(out.size() - stream.avail_out);
  ::deflateEnd(&stream);
  return out;
}

FileBytes zstd_packed(std::span<const std::byte> bytes) {
  FileBytes out;
  const auto sink = zstd_sink(memory_sink(out));
  sink->write(bytes);
  sink->finish();
  return out;
}

FileBytes packed(std::span<const std::byte> bytes, Compression compression) {
  return compression == Compression::Gzip ? gzipped(bytes) : zstd_packed(bytes);
}

/// Bytes that neither repeat nor end at a round number, larger than any window.
FileBytes long_content() {
  FileBytes bytes(3'000'001);
  std::uint32_t state = 1;
  for (std::byte& b : bytes) {
    state = state * 1664525 + 1013904223;
    b = static_cast<std::byte>(state >> 27);  // five random bits: compresses a little
  }
  return bytes;
}

FileBytes unpacked(const FileBytes& stored, std::size_t piece,
                   std::optional<std::string>* failure = nullptr) {
  const auto source = decompressed(memory_source(stored), compression_of(stored));
  FileBytes result;
  auto window = source->advance(0, piece);
  while (!window.empty()) {
    const std::size_t taken = std::min(piece, window.size());
    result.insert(result.end(), window.begin(),
                  window.begin() + static_cast<std::ptrdiff_t>(taken));
    window = source->advance(taken, piece);
  }
  if (failure != nullptr) *failure = source->failure();
  return result;
}

TEST(CompressionOf, KnowsTheMagicNumbers) {
  EXPECT_EQ(compression_of(gzipped({})), Compression::Gzip);
  EXPECT_EQ(compression_of(zstd_packed({})), Compression::Zstd);
  EXPECT_EQ(compression_of(HandMade(std::endian::little).u32(0x184d2a53).done()), Compression::Zstd)
      << "skippable frame";
  EXPECT_EQ(compression_of(HandMade(std::endian::little).u32(0xa1b2c3d4).done()),
            Compression::None);
  EXPECT_EQ(compression_of({}), Compression::None);
}

TEST(Decompressed, GivesTheSameBytesInPiecesOfAnySize) {
  const FileBytes content = long_content();
  for (const Compression compression : {Compression::Gzip, Compression::Zstd}) {
    const FileBytes stored = packed(content, compression);
    for (const std::size_t piece : {1001u, 65536u, 2'000'000u}) {
      EXPECT_TRUE(unpacked(stored, piece) == content) << name_of(compression) << ' ' << piece;
    }
  }
}

TEST(Decompressed, JoinsMembersAndFrames) {
  const FileBytes content = long_content();
  const std::span all(content);
  for (const Compression compression : {Compression::Gzip, Compression::Zstd}) {
    FileBytes stored = packed(all.first(1000), compression);
    stored = joined(stored, packed({}, compression));
    stored = joined(stored, packed(all.subspan(1000), compression));
    std::optional<std::string> failure;
    EXPECT_TRUE(unpacked(stored, 4096, &failure) == content) << name_of(compression);
    EXPECT_EQ(failure, std::nullopt);
  }
}

TEST(Decompressed, DeliversWhatCameBeforeACut) {
  const FileBytes content = long_content();
  for (const Compression compression : {Compression::Gzip, Compression::Zstd}) {
    FileBytes stored = packed(content, compression);
    stored.resize(stored.size() / 2);
    std::optional<std::string> failure;
    const FileBytes result = unpacked(stored, 4096, &failure);
    // Half of the compressed bytes hold about half of the content.
    EXPECT_GT(result.size(), content.size() / 3) << name_of(compression);
    EXPECT_TRUE(std::equal(result.begin(), result.end(), content.begin()));
    EXPECT_THAT(failure.value(), HasSubstr("the data end early"));
  }
}

TEST(Decompressed, NamesWhereTheDataAreBroken) {
  for (const Compression compression : {Compression::Gzip, Compression::Zstd}) {
    FileBytes stored = packed(long_content(), compression);
    for (std::size_t i = 100'000; i < 100'100; ++i) stored[i] = std::byte{0xff};
    std::optional<std::string> failure;
    unpacked(stored, 4096, &failure);
    EXPECT_THAT(failure.value(), HasSubstr(std::string(name_of(compression)) + " at byte "));
  }
}

TEST(Decompressed, IgnoresZerosButNotStrangersBehindGzip) {
  const FileBytes content = long_content();
  std::optional<std::string> failure;
  EXPECT_TRUE(unpacked(joined(gzipped(content), FileBytes(1000)), 4096, &failure) == content);
  EXPECT_EQ(failure, std::nullopt);
  EXPECT_TRUE(unpacked(joined(gzipped(content), FileBytes(10, std::byte{'x'})), 4096, &failure) ==
              content);
  EXPECT_THAT(failure.value(), HasSubstr("what follows is not gzip"));
}

TEST(Reader, ReadsBothFormatsInsideBothCompressions) {
  for (const FileFormat format : {FileFormat::Pcap, FileFormat::Pcapng}) {
    const FileBytes plain = written("0 a > b 1:11\n0.1 b > a ack 11", {.format = format});
    for (const Compression compression : {Compression::Gzip, Compression::Zstd}) {
      const auto reading = read_all(packed(plain, compression));
      EXPECT_EQ(reading.packets.size(), 2u);
      EXPECT_EQ(reading.facts.compression, name_of(compression));
      EXPECT_FALSE(reading.damage.has_value());
    }
  }
}

TEST(Reader, ReportsDamageOfTheCompressionWhereThePacketsEnd) {
  std::string text;
  for (int i = 0; i < 500; ++i)
    text += "+0.001 a > b 1:11 id " + std::to_string(i * 7919 % 65536) + "\n";
  const FileBytes plain = written(text, {.format = FileFormat::Pcap});
  FileBytes stored = gzipped(plain);
  stored.resize(stored.size() / 2);
  const auto reading = read_all(stored);
  EXPECT_GT(reading.packets.size(), 100u);
  EXPECT_LT(reading.packets.size(), 500u);
  ASSERT_TRUE(reading.damage.has_value());
  // Records of 16 + 64 bytes behind a header of 24.
  EXPECT_EQ(reading.damage->offset, static_cast<std::int64_t>(24 + 80 * reading.packets.size()));
  EXPECT_THAT(reading.damage->text, HasSubstr("gzip at byte"));
}

TEST(Reader, SaysWhatIsInsideACompressedStranger) {
  const std::string_view text = "step,time\n1,2\n";
  EXPECT_THAT(
      [&] { read_capture(gzipped(std::as_bytes(std::span(text))), "log.gz"); },
      testing::ThrowsMessage<DataError>(HasSubstr("reading log.gz: gzip around: this is text")));
  const FileBytes broken = HandMade(std::endian::big).u32(0x1f8b'0800).done();
  EXPECT_THAT([&] { read_capture(broken, "x.gz"); },
              testing::ThrowsMessage<DataError>(HasSubstr("the data end early")));
}

}  // namespace
}  // namespace tw::capture
