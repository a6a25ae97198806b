// SPDX-License-Identifier: Apache-2.0
#include "trainwire/capture/reader.h"

#include "trainwire/base/error.h"
#include "trainwire/capture/test_files.h"
#include "trainwire/os/file_descriptor.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <thread>

namespace tw::capture {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

/// `count` segments of one stream, 1 ms apart.
std::string segments(int count) {
  std::string text;
  for (int i = 0; i < count; ++i)
    text += "+0.001 a > b " + std::to_string(1 + 10 * i) + ":" + std::to_string(11 + 10 * i) + "\n";
  return text;
}

TEST(OpenCapture, StreamsAFileLargerThanItsWindow) {
  // 10,000 records of 80 bytes are 800 kB, more than one window: records straddle its end.
  const TemporaryFolder folder;
  const std::string path =
      folder.file("x.pcap", written(segments(10'000), {.format = FileFormat::Pcap}));
  const auto reader = open_capture(path);
  EXPECT_EQ(reader->facts().file_bytes, 24 + 80 * 10'000);
  const auto reading = read_all(*reader);
  ASSERT_EQ(reading.packets.size(), 10'000u);
  for (std::uint32_t i = 0; i < 10'000; ++i)
    ASSERT_EQ(reading.packets[i].sequence, 1'000'001 + 10 * i);
  EXPECT_EQ(reader->position(), 24 + 80 * 10'000);
  EXPECT_FALSE(reading.damage.has_value());
}

/// Standard input replaced by the reading end of a pipe for as long as the object lives.
class PipedStdin {
 public:
  PipedStdin() : saved_(::dup(STDIN_FILENO)) {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe(ends.data()), 0);
    ::dup2(ends[0], STDIN_FILENO);
    ::close(ends[0]);
    writing_ = os::FileDescriptor(ends[1]);
  }
  PipedStdin(const PipedStdin&) = delete;
  PipedStdin& operator=(const PipedStdin&) = delete;
  ~PipedStdin() {
    ::dup2(saved_, STDIN_FILENO);
    ::close(saved_);
  }
  os::FileDescriptor& writing() { return writing_; }

 private:
  int saved_;
  os::FileDescriptor writing_;
};

TEST(OpenCapture, ReadsStandardInputInWhateverPiecesItComes) {
  const FileBytes plain = written(segments(100), {});
  FileBytes compressed;
  const auto sink = zstd_sink(memory_sink(compressed));
  sink->write(plain);
  sink->finish();
  for (const FileBytes& file : {plain, compressed}) {
    PipedStdin input;
    std::jthread feeder([&] {
      std::span<const std::byte> rest(file);
      for (std::size_t piece = 1; !rest.empty(); piece = piece * 3 + 1) {
        const std::size_t n = std::min(piece, rest.size());
        os::write_all(input.writing(), rest.first(n), "the pipe");
        rest = rest.subspan(n);
      }
      input.writing().close("the pipe");
    });
    const auto reading = read_all(*open_capture("-"));
    EXPECT_EQ(reading.packets.size(), 100u);
    EXPECT_EQ(reading.facts.file_bytes, 0);
    EXPECT_FALSE(reading.damage.has_value());
  }
}

TEST(OpenCapture, GivesLivePacketsBeforeThePipeEnds) {
  PipedStdin input;
  os::write_all(input.writing(), written(segments(2), {.format = FileFormat::Pcap}), "the pipe");
  const auto reader = open_capture("-");
  std::array<packet::Packet, 2> two;
  EXPECT_EQ(reader->read(two), 2u);  // would wait for ever if it asked for more than it needs
}

TEST(OpenCapture, SaysWhyItCannotRead) {
  const TemporaryFolder folder;
  const std::string missing = folder.path() / "missing.pcap";
  EXPECT_THAT([&] { open_capture(missing); },
              ThrowsMessage<SystemError>("opening " + missing + ": No such file or directory"));
  EXPECT_THAT(
      [&] { open_capture(folder.path()); },
      ThrowsMessage<SystemError>(HasSubstr("it is a folder; name the capture files in it")));
  const std::string empty = folder.file("empty.pcap", {});
  EXPECT_THAT([&] { open_capture(empty); },
              ThrowsMessage<DataError>(HasSubstr("reading " + empty + ": the file is empty")));
  const std::string_view text = "a,b\n1,2\n";
  const std::string csv = folder.file("x.csv", std::as_bytes(std::span(text)));
  EXPECT_THAT([&] { open_capture(csv); },
              ThrowsMessage<DataError>(HasSubstr("text (it begins \"a,b\")")));
}

/// Root may read everything: acts as another user for as long as the object lives.
class NotRoot {
 public:
  NotRoot() { changed_ = ::geteuid() == 0 && ::seteuid(kNobody) == 0; }
  NotRoot(const NotRoot&) = delete;
  NotRoot& operator=(const NotRoot&) = delete;
  ~NotRoot() { EXPECT_TRUE(!changed_ || ::seteuid(0) == 0); }

 private:
  static constexpr uid_t kNobody = 65534;
  bool changed_;
};

TEST(OpenCapture, SaysWhenItMayNotRead) {
  const TemporaryFolder folder;
  const std::string path = folder.file("x.pcap", written("0 a > b 1:11", {}));
  ::chmod(path.c_str(), 0);
  const NotRoot user;
  if (::geteuid() == 0) GTEST_SKIP() << "root cannot act as another user here";
  EXPECT_THAT([&] { open_capture(path); },
              ThrowsMessage<SystemError>(HasSubstr("Permission denied; its owner or root may")));
}

TEST(ReadCapture, RefusesWhatIsShorterThanAMagicNumber) {
  for (std::size_t n = 1; n < 4; ++n) {
    const FileBytes file = written("0 a > b 1:11", {.format = FileFormat::Pcap});
    EXPECT_THAT([&] { read_capture(std::span(file).first(n), "x"); },
                ThrowsMessage<DataError>(HasSubstr("too few for any capture")))
        << n;
  }
}

TEST(Reader, GivesRecordsThatDecodeToItsPackets) {
  const FileBytes file = written(segments(5), {.interfaces = {{.link_type = 1, .snaplen = 60}}});
  const auto packets = read_all(file).packets;
  const auto reader = read_capture(file, "x");
  packet::Record record;
  std::size_t count = 0;
  for (; reader->next(record); ++count) {
    EXPECT_EQ(record.bytes.size(), 60u);
    EXPECT_EQ(reader->decoded(record).sequence, packets.at(count).sequence);
    EXPECT_EQ(record.time_ns, packets.at(count).time_ns);
  }
  EXPECT_EQ(count, 5u);
  EXPECT_FALSE(reader->next(record));
}

TEST(Reader, AgreesWhateverTheBatch) {
  const FileBytes file = written(segments(100), {});
  for (const std::size_t batch : {1u, 7u, 99u, 100u, 101u}) {
    std::vector<packet::Packet> packets(batch);
    const auto reader = read_capture(file, "x");
    std::size_t sum = 0;
    while (const std::size_t count = reader->read(packets)) sum += count;
    EXPECT_EQ(sum, 100u) << batch;
  }
}

}  // namespace
}  // namespace tw::capture
