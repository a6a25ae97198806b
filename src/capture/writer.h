// SPDX-License-Identifier: Apache-2.0
// Writes capture files that tcpdump and Wireshark read: pcap or pcapng, in either byte order.
//
// Limits: a pcap file has one interface without a name or statistics, ticks in micro- or
// nanoseconds, and times from 1970 to 2106; times outside are moved to the nearest it can hold.

#pragma once

#include "trainwire/capture/file_facts.h"
#include "trainwire/capture/sink.h"
#include "trainwire/capture/time_scale.h"
#include "trainwire/packet/record.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace tw::capture {

enum class FileFormat { Pcap, Pcapng };

struct WriterOptions {
  FileFormat format = FileFormat::Pcapng;
  /// A packet longer than its interface's snap length (unless that is 0) is cut to it. The counters
  /// are not used: see Writer::statistics.
  std::vector<Interface> interfaces = {{.link_type = 1}};
  std::endian order = std::endian::native;
};

class Writer {
 public:
  /// Writes the file header. Throws SpecError when the format cannot express the interfaces,
  /// SystemError from the sink.
  Writer(std::unique_ptr<ByteSink> sink, WriterOptions options);

  /// The link of the record is not looked at. REQUIRES: record.interface exists. Throws
  /// SystemError.
  void write(const packet::Record& record);
  /// pcapng: a statistics block, by convention at the end of the file. pcap: nothing, for it has no
  /// place.
  void statistics(std::uint16_t interface, std::uint64_t received, std::uint64_t dropped);
  /// Everything is stored afterwards; the last call. Throws SystemError.
  void finish();

 private:
  void begin_pcap();
  void begin_pcapng();
  void describe(const Interface& interface);
  void write_pcap(const packet::Record& record, std::span<const std::byte> bytes);
  void write_pcapng(const packet::Record& record, std::span<const std::byte> bytes);

  std::unique_ptr<ByteSink> sink_;
  WriterOptions options_;
  std::vector<TimeScale> scales_;
  std::vector<std::byte> block_;  ///< being put together; kept to reuse its memory
};

}  // namespace tw::capture
