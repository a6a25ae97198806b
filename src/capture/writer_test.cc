// SPDX-License-Identifier: Apache-2.0
#include "trainwire/capture/writer.h"

#include "trainwire/base/error.h"
#include "trainwire/capture/test_files.h"

#include <gmock/gmock.h>

namespace tw::capture {
namespace {

TEST(Writer, CutsToTheSnapLengthAndKeepsTheOriginalOne) {
  for (const FileFormat format : {FileFormat::Pcap, FileFormat::Pcapng}) {
    const auto reading = read_all(written(
        "0 a > b 1:1001", {.format = format, .interfaces = {{.link_type = 1, .snaplen = 61}}}));
    EXPECT_EQ(reading.packets.at(0).captured_bytes, 61u);
    EXPECT_EQ(reading.packets.at(0).wire_bytes, 1054u);
    EXPECT_EQ(reading.facts.interfaces.at(0).snaplen, 61u);
  }
}

TEST(Writer, RefusesWhatTheFormatCannotExpress) {
  FileBytes file;
  const auto make = [&](WriterOptions options) { Writer(memory_sink(file), std::move(options)); };
  const Interface ethernet{.link_type = 1};
  EXPECT_THROW(make({.format = FileFormat::Pcap, .interfaces = {ethernet, ethernet}}), SpecError);
  EXPECT_THROW(make({.format = FileFormat::Pcap,
                     .interfaces = {{.link_type = 1, .ticks_per_second = 1024}}}),
               SpecError);
  EXPECT_THROW(make({.interfaces = {{.link_type = 1, .ticks_per_second = 3}}}), SpecError);
  EXPECT_THROW(make({.interfaces = {{.link_type = 70000}}}), SpecError);
}

TEST(Writer, RefusesPacketsOfUnknownInterfaces) {
  FileBytes file;
  Writer writer(memory_sink(file), {});
  const LadderFrame frame = ladder("0 a > b 1:2").at(0);
  EXPECT_THROW(writer.write(record_of(frame, 1)), std::logic_error);
  EXPECT_THROW(writer.statistics(1, 0, 0), std::logic_error);
}

TEST(Writer, MovesTimesThatPcapCannotHold) {
  // 2^32 seconds are in February 2106; the last nanosecond before is what remains.
  FileBytes file;
  Writer writer(memory_sink(file), {.format = FileFormat::Pcap});
  LadderFrame frame = ladder("0 a > b 1:2").at(0);
  frame.time_ns = 5'000'000'000'000'000'000;
  writer.write(record_of(frame));
  frame.time_ns = -1;
  writer.write(record_of(frame));
  writer.finish();
  EXPECT_EQ(read_all(file).packets.at(0).time_ns, 4'294'967'295'999'999'999);
  EXPECT_EQ(read_all(file).packets.at(1).time_ns, 0);
}

TEST(FileSink, ReportsAFullDisk) {
  const auto sink = file_sink("/dev/full");
  sink->write(FileBytes(10));
  EXPECT_THAT([&] { sink->finish(); },
              testing::ThrowsMessage<SystemError>(testing::HasSubstr("No space left")));
}

}  // namespace
}  // namespace tw::capture
