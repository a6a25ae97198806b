// SPDX-License-Identifier: Apache-2.0
#include "trainwire/capture/writer.h"

#include "trainwire/base/error.h"
#include "trainwire/capture/pcapng_blocks.h"
#include "trainwire/packet/byte_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace tw::capture {
namespace {

/// Appends numbers of one byte order to a block.
class Builder {
 public:
  Builder(std::vector<std::byte>& block, std::endian order) : block_(block), order_(order) {
    block_.clear();
  }

  template <class T>
  void put(T value) {
    const std::size_t at = block_.size();
    block_.resize(at + sizeof value);
    packet::store(block_.data() + at, value, order_);
  }
  void put_padded(std::span<const std::byte> bytes) {
    block_.insert(block_.end(), bytes.begin(), bytes.end());
    block_.resize(padded(block_.size()));
  }
  /// Of a block; its length is filled in by end().
  void begin(BlockType type) {
    put<std::uint32_t>(type);
    put<std::uint32_t>(0);
  }
  void end() {
    const auto length = static_cast<std::uint32_t>(block_.size() + 4);
    packet::store(block_.data() + 4, length, order_);
    put(length);
  }
  void option(OptionCode code, std::span<const std::byte> value) {
    put<std::uint16_t>(code);
    put(static_cast<std::uint16_t>(value.size()));
    put_padded(value);
  }
  void option(OptionCode code, std::uint64_t value) {
    put<std::uint16_t>(code);
    put<std::uint16_t>(8);
    put(value);
  }
  void end_options() { put<std::uint32_t>(kEndOfOptions); }

 private:
  std::vector<std::byte>& block_;
  std::endian order_;
};

bool fits_pcap(const std::vector<Interface>& interfaces) {
  return interfaces.size() == 1 && (interfaces[0].ticks_per_second == 1'000'000 ||
                                    interfaces[0].ticks_per_second == 1'000'000'000);
}

std::span<const std::byte> cut(std::span<const std::byte> bytes, std::uint32_t snaplen) {
  return snaplen == 0 ? bytes : bytes.first(std::min<std::size_t>(bytes.size(), snaplen));
}

}  // namespace

Writer::Writer(std::unique_ptr<ByteSink> sink, WriterOptions options)
    : sink_(std::move(sink)), options_(std::move(options)) {
  for (const Interface& interface : options_.interfaces) {
    scales_.emplace_back(interface.ticks_per_second);
  }
  options_.format == FileFormat::Pcap ? begin_pcap() : begin_pcapng();
}

void Writer::begin_pcap() {
  if (!fits_pcap(options_.interfaces)) {
    throw SpecError(
        "writing pcap: it holds one interface with micro- or nanoseconds; write pcapng");
  }
  const Interface& interface = options_.interfaces[0];
  constexpr std::uint32_t kNoLimit = 262144;
  Builder header(block_, options_.order);
  header.put<std::uint32_t>(interface.ticks_per_second == 1'000'000 ? 0xa1b2c3d4 : 0xa1b23c4d);
  header.put<std::uint16_t>(2);
  header.put<std::uint16_t>(4);
  header.put<std::uint64_t>(0);  // time zone and accuracy, always 0
  header.put<std::uint32_t>(interface.snaplen == 0 ? kNoLimit : interface.snaplen);
  header.put<std::uint32_t>(interface.link_type);
  sink_->write(block_);
}

void Writer::begin_pcapng() {
  Builder header(block_, options_.order);
  header.begin(kSectionHeader);
  header.put<std::uint32_t>(kByteOrderMagic);
  header.put<std::uint16_t>(1);
  header.put<std::uint16_t>(0);
  constexpr std::uint64_t kLengthUnknown = ~std::uint64_t{0};
  header.put<std::uint64_t>(kLengthUnknown);
  header.end();
  sink_->write(block_);
  for (const Interface& interface : options_.interfaces) describe(interface);
}

void Writer::describe(const Interface& interface) {
  const auto resolution = resolution_code(interface.ticks_per_second);
  if (!resolution.has_value() || interface.link_type > 0xffff) {
    throw SpecError(
        fmt::format("writing pcapng: it cannot express {} ticks per second or link type {}",
                    interface.ticks_per_second, interface.link_type));
  }
  Builder block(block_, options_.order);
  block.begin(kInterfaceDescription);
  block.put(static_cast<std::uint16_t>(interface.link_type));
  block.put<std::uint16_t>(0);
  block.put<std::uint32_t>(interface.snaplen);
  if (!interface.name.empty())
    block.option(kInterfaceName, std::as_bytes(std::span(interface.name)));
  block.option(kTimeResolution, std::as_bytes(std::span(&*resolution, 1)));
  block.end_options();
  block.end();
  sink_->write(block_);
}

void Writer::write(const packet::Record& record) {
  check(record.interface < options_.interfaces.size(), "a packet comes from a described interface");
  const auto bytes = cut(record.bytes, options_.interfaces[record.interface].snaplen);
  options_.format == FileFormat::Pcap ? write_pcap(record, bytes) : write_pcapng(record, bytes);
}

void Writer::write_pcap(const packet::Record& record, std::span<const std::byte> bytes) {
  const auto per_second = static_cast<std::uint64_t>(scales_[0].ticks_per_second());
  const std::uint64_t most = (std::uint64_t{1} << 32) * per_second - 1;
  const std::uint64_t ticks = std::min(scales_[0].ticks(record.time_ns), most);
  Builder header(block_, options_.order);
  header.put(static_cast<std::uint32_t>(ticks / per_second));
  header.put(static_cast<std::uint32_t>(ticks % per_second));
  header.put(static_cast<std::uint32_t>(bytes.size()));
  header.put(record.original_bytes);
  sink_->write(block_);
  sink_->write(bytes);
}

void Writer::write_pcapng(const packet::Record& record, std::span<const std::byte> bytes) {
  const std::uint64_t ticks = scales_[record.interface].ticks(record.time_ns);
  Builder block(block_, options_.order);
  block.begin(kEnhancedPacket);
  block.put<std::uint32_t>(record.interface);
  block.put(static_cast<std::uint32_t>(ticks >> 32));
  block.put(static_cast<std::uint32_t>(ticks));
  block.put(static_cast<std::uint32_t>(bytes.size()));
  block.put(record.original_bytes);
  block.put_padded(bytes);
  block.end();
  sink_->write(block_);
}

void Writer::statistics(std::uint16_t interface, std::uint64_t received, std::uint64_t dropped) {
  check(interface < options_.interfaces.size(), "statistics are of a described interface");
  if (options_.format == FileFormat::Pcap) return;
  Builder block(block_, options_.order);
  block.begin(kInterfaceStatistics);
  block.put<std::uint32_t>(interface);
  block.put<std::uint64_t>(0);  // time of the statistics: not kept
  block.option(kStatisticsReceived, received);
  block.option(kStatisticsDropped, dropped);
  block.end_options();
  block.end();
  sink_->write(block_);
}

void Writer::finish() { sink_->finish(); }

}  // namespace tw::capture
