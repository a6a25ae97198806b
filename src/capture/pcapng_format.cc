// SPDX-License-Identifier: Apache-2.0
#include "trainwire/capture/pcapng_format.h"

#include "trainwire/base/error.h"
#include "trainwire/capture/pcapng_blocks.h"
#include "trainwire/capture/time_scale.h"
#include "trainwire/packet/byte_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <vector>

namespace tw::capture {
namespace {

/// A packet with its options stays far below; a larger block of a kind that we must hold is damage.
constexpr std::uint32_t kMostBlockBytes = 1 << 24;
constexpr std::size_t kMostInterfaces = std::numeric_limits<std::uint16_t>::max();
constexpr std::size_t kMostNameBytes = 256;

/// Calls visit(code, value) for every well-formed option.
template <class Visit>
void for_each_option(std::span<const std::byte> options, std::endian order, Visit visit) {
  while (options.size() >= 4) {
    const auto code = packet::load<std::uint16_t>(options.data(), order);
    const std::size_t length = packet::load<std::uint16_t>(options.data() + 2, order);
    if (code == kEndOfOptions || 4 + length > options.size()) return;
    visit(code, options.subspan(4, length));
    options = options.subspan(std::min(4 + padded(length), options.size()));
  }
}

std::optional<std::uint64_t> number64(std::span<const std::byte> value, std::endian order) {
  if (value.size() != 8) return std::nullopt;
  return packet::load<std::uint64_t>(value.data(), order);
}

std::string printable(std::span<const std::byte> bytes) {
  std::string text;
  for (const std::byte b : bytes.first(std::min(bytes.size(), kMostNameBytes))) {
    const auto c = static_cast<char>(b);
    text += c >= ' ' && c <= '~' ? c : '?';
  }
  return text;
}

class PcapngFormat final : public Format {
 public:
  explicit PcapngFormat(ByteSource& source) : Format(source) { facts_.format = "pcapng"; }

  bool next(packet::Record& record) override;
  std::size_t read(std::span<packet::Packet> into, packet::AddressTable& addresses) override {
    return read_with(*this, into, addresses);
  }

 private:
  /// Of the current section.
  struct SectionInterface {
    TimeScale scale;
    packet::Link link;
    std::uint32_t snaplen;
    bool has_statistics = false;
  };

  template <class T>
  T field(std::size_t offset) const {
    return packet::load<T>(cursor_.at() + offset, order_);
  }
  Interface& facts_of(std::size_t id) { return facts_.interfaces[first_interface_ + id]; }

  bool hold_block(std::uint32_t length);
  bool next_other(std::uint32_t type, std::uint32_t length, packet::Record& record,
                  bool& is_packet);
  bool enhanced_packet(std::uint32_t length, packet::Record& record);
  bool obsolete_packet(std::uint32_t length, packet::Record& record);
  bool simple_packet(std::uint32_t length, packet::Record& record);
  bool packet(std::uint32_t length, std::size_t header, std::uint32_t id, packet::Record& record);
  bool begin_section();
  bool describe_interface(std::uint32_t length);
  bool take_statistics(std::uint32_t length);
  bool skip_unknown(std::uint32_t length);
  void count_drops(std::uint32_t id, std::uint64_t drops);
  bool stop_here(std::string text) { return stop(cursor_.offset(), std::move(text)); }
  bool stop_too_short(std::uint32_t length) {
    return stop_here(fmt::format("a block of {} bytes is too short for its kind", length));
  }

  std::endian order_ = std::endian::native;
  std::vector<SectionInterface> interfaces_;
  std::size_t first_interface_ = 0;
  std::int64_t last_time_ns_ = 0;
};

bool PcapngFormat::next(packet::Record& record) {
  while (!ended_) {
    if (!cursor_.need(kBlockFrame)) return stop_at_end("a block's header", kBlockFrame);
    const auto type = field<std::uint32_t>(0);
    const auto length = field<std::uint32_t>(4);
    if (type == kEnhancedPacket) [[likely]]
      return enhanced_packet(length, record);
    bool is_packet = false;
    if (!next_other(type, length, record, is_packet)) return false;
    if (is_packet) return true;
  }
  return false;
}

/// All blocks but the commonest. False when reading ended.
bool PcapngFormat::next_other(std::uint32_t type, std::uint32_t length, packet::Record& record,
                              bool& is_packet) {
  switch (type) {
    case kSectionHeader:
      return begin_section();
    case kInterfaceDescription:
      return describe_interface(length);
    case kInterfaceStatistics:
      return take_statistics(length);
    case kSimplePacket:
      return is_packet = simple_packet(length, record);
    case kObsoletePacket:
      return is_packet = obsolete_packet(length, record);
    default:
      return skip_unknown(length);
  }
}

/// Makes the block readable as a whole and compares its two lengths.
bool PcapngFormat::hold_block(std::uint32_t length) {
  if (length < kBlockFrame || length % 4 != 0 || length > kMostBlockBytes) {
    return stop_here(fmt::format("a block claims a length of {} bytes, which cannot be", length));
  }
  if (!cursor_.need(length)) return stop_at_end("a block", length);
  const auto again = field<std::uint32_t>(length - 4);
  if (again == length) [[likely]]
    return true;
  return stop_here(fmt::format("a block's lengths differ: {} in front, {} behind", length, again));
}

bool PcapngFormat::begin_section() {
  constexpr std::size_t kFixed = kBlockFrame + 16;
  if (!cursor_.need(kFixed)) return stop_at_end("a section header", kFixed);
  for (const std::endian order : {std::endian::little, std::endian::big}) {
    if (packet::load<std::uint32_t>(cursor_.at() + 8, order) == kByteOrderMagic) order_ = order;
  }
  if (field<std::uint32_t>(8) != kByteOrderMagic) {
    return stop_here("a section header has no byte-order mark");
  }
  const auto version = field<std::uint16_t>(12);
  if (version != 1) {
    return stop_here(
        fmt::format("a section is of pcapng version {}; only version 1 is known", version));
  }
  const auto length = field<std::uint32_t>(4);
  if (!hold_block(length)) return false;
  if (length < kFixed) return stop_too_short(length);
  interfaces_.clear();
  first_interface_ = facts_.interfaces.size();
  cursor_.skip(length);
  return true;
}

bool PcapngFormat::describe_interface(std::uint32_t length) {
  constexpr std::size_t kFixed = 8;
  if (!hold_block(length)) return false;
  if (length < kBlockFrame + kFixed) return stop_too_short(length);
  if (facts_.interfaces.size() >= kMostInterfaces) {
    return stop_here(fmt::format("more than {} interfaces", kMostInterfaces));
  }
  Interface interface { .link_type = field<std::uint16_t>(8), .snaplen = field<std::uint32_t>(12) };
  std::uint8_t resolution = 6;  // microseconds unless stated
  std::int64_t offset_seconds = 0;
  const std::span options(cursor_.at() + 8 + kFixed, length - kBlockFrame - kFixed);
  for_each_option(options, order_, [&](std::uint16_t code, std::span<const std::byte> value) {
    if (code == kInterfaceName) interface.name = printable(value);
    if (code == kTimeResolution && value.size() == 1) {
      resolution = packet::load_native<std::uint8_t>(value.data());
    }
    if (code == kTimeOffset) {
      offset_seconds = static_cast<std::int64_t>(number64(value, order_).value_or(0));
    }
  });
  const auto ticks = ticks_per_second_of(resolution);
  if (!ticks.has_value()) {
    return stop_here(
        fmt::format("an interface has an unknown time resolution (code {})", resolution));
  }
  interface.ticks_per_second = *ticks;
  facts_.nanoseconds = facts_.nanoseconds || *ticks >= 1'000'000'000;
  interfaces_.push_back({.scale = TimeScale(*ticks, offset_seconds),
                         .link = packet::link_of(interface.link_type),
                         .snaplen = interface.snaplen});
  facts_.interfaces.push_back(std::move(interface));
  cursor_.skip(length);
  return true;
}

bool PcapngFormat::take_statistics(std::uint32_t length) {
  constexpr std::size_t kFixed = 12;
  if (!hold_block(length)) return false;
  if (length < kBlockFrame + kFixed) return stop_too_short(length);
  const auto id = field<std::uint32_t>(8);
  if (id >= interfaces_.size()) {
    return stop_here(fmt::format("statistics of an interface {} that is not described", id));
  }
  std::optional<std::uint64_t> received, dropped, system_dropped;
  const std::span options(cursor_.at() + 8 + kFixed, length - kBlockFrame - kFixed);
  for_each_option(options, order_, [&](std::uint16_t code, std::span<const std::byte> value) {
    if (code == kStatisticsReceived) received = number64(value, order_);
    if (code == kStatisticsDropped) dropped = number64(value, order_);
    if (code == kStatisticsSystemDropped) system_dropped = number64(value, order_);
  });
  if (received.has_value()) facts_of(id).received = received;
  if (dropped.has_value() || system_dropped.has_value()) {
    facts_of(id).dropped = dropped.value_or(0) + system_dropped.value_or(0);
    interfaces_[id].has_statistics = true;
  }
  cursor_.skip(length);
  return true;
}

void PcapngFormat::count_drops(std::uint32_t id, std::uint64_t drops) {
  if (interfaces_[id].has_statistics) return;
  facts_of(id).dropped = facts_of(id).dropped.value_or(0) + drops;
}

/// What enhanced and obsolete packet blocks have in common: from the time on, they are alike.
bool PcapngFormat::packet(std::uint32_t length, std::size_t header, std::uint32_t id,
                          packet::Record& record) {
  if (length < kBlockFrame + header) return stop_too_short(length);
  if (id >= interfaces_.size()) {
    return stop_here(fmt::format("a packet of an interface {} that is not described", id));
  }
  const auto captured = field<std::uint32_t>(20);
  const auto original = field<std::uint32_t>(24);
  const std::size_t most = length - kBlockFrame - header;
  if (captured > std::min<std::size_t>(most, kMostCapturedBytes) || original > kMostOriginalBytes) {
    return stop_here(
        fmt::format("a packet claims {} captured and {} original bytes in a block of {} bytes",
                    captured, original, length));
  }
  const std::uint64_t ticks =
      std::uint64_t{field<std::uint32_t>(12)} << 32 | field<std::uint32_t>(16);
  const SectionInterface& interface = interfaces_[id];
  last_time_ns_ = interface.scale.nanoseconds(ticks);
  record = {
      .bytes = {cursor_.at() + 8 + header, captured},
      .original_bytes = original,
      .time_ns = last_time_ns_,
      .interface = static_cast<std::uint16_t>(first_interface_ + id),
      .link = interface.link,
  };
  return true;
}

bool PcapngFormat::enhanced_packet(std::uint32_t length, packet::Record& record) {
  constexpr std::size_t kFixed = 20;
  if (!hold_block(length)) return false;
  const auto id = field<std::uint32_t>(8);
  if (!packet(length, kFixed, id, record)) return false;
  const std::size_t used = kBlockFrame + kFixed + padded(record.bytes.size());
  if (length > used) {
    const std::span options(cursor_.at() + used - 4, length - used);
    for_each_option(options, order_, [&](std::uint16_t code, std::span<const std::byte> value) {
      if (code == kDropCount) count_drops(id, number64(value, order_).value_or(0));
    });
  }
  cursor_.skip(length);
  return true;
}

bool PcapngFormat::obsolete_packet(std::uint32_t length, packet::Record& record) {
  constexpr std::size_t kFixed = 20;
  if (!hold_block(length)) return false;
  const std::uint32_t id = field<std::uint16_t>(8);
  if (!packet(length, kFixed, id, record)) return false;
  const auto drops = field<std::uint16_t>(10);
  constexpr std::uint16_t kNotCounted = 0xffff;
  if (drops != kNotCounted && drops != 0) count_drops(id, drops);
  cursor_.skip(length);
  return true;
}

bool PcapngFormat::simple_packet(std::uint32_t length, packet::Record& record) {
  constexpr std::size_t kFixed = 4;
  if (!hold_block(length)) return false;
  if (length < kBlockFrame + kFixed) return stop_too_short(length);
  if (interfaces_.empty()) return stop_here("a packet before any interface is described");
  const auto original = field<std::uint32_t>(8);
  const SectionInterface& interface = interfaces_.front();
  std::size_t captured = std::min<std::size_t>(original, length - kBlockFrame - kFixed);
  if (interface.snaplen != 0) captured = std::min<std::size_t>(captured, interface.snaplen);
  if (captured > kMostCapturedBytes || original > kMostOriginalBytes) {
    return stop_here(fmt::format("a packet claims {} original bytes, which cannot be", original));
  }
  record = {
      .bytes = {cursor_.at() + 8 + kFixed, captured},
      .original_bytes = original,
      .time_ns = last_time_ns_,
      .interface = static_cast<std::uint16_t>(first_interface_),
      .link = interface.link,
  };
  cursor_.skip(length);
  return true;
}

bool PcapngFormat::skip_unknown(std::uint32_t length) {
  if (length < kBlockFrame || length % 4 != 0) {
    return stop_here(fmt::format("a block claims a length of {} bytes, which cannot be", length));
  }
  const std::int64_t offset = cursor_.offset();
  if (!cursor_.skip_far(length - 4) || !cursor_.need(4)) {
    return stop(offset, cursor_.source().failure().value_or(
                            fmt::format("a block of {} bytes is cut off", length)));
  }
  const auto again = field<std::uint32_t>(0);
  cursor_.skip(4);
  if (again == length) return true;
  return stop(offset,
              fmt::format("a block's lengths differ: {} in front, {} behind", length, again));
}

}  // namespace

bool is_pcapng(std::span<const std::byte> first_bytes) {
  return first_bytes.size() >= 4 &&
         packet::load_native<std::uint32_t>(first_bytes.data()) == kSectionHeader;
}

std::unique_ptr<Format> pcapng_format(ByteSource& source) {
  return std::make_unique<PcapngFormat>(source);
}

}  // namespace tw::capture
