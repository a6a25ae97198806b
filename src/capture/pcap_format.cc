// SPDX-License-Identifier: Apache-2.0
#include "trainwire/capture/pcap_format.h"

#include "trainwire/base/error.h"
#include "trainwire/packet/byte_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <limits>

namespace tw::capture {
namespace {

constexpr std::size_t kFileHeader = kPcapFileHeader;

/// What the magic number tells.
struct Variant {
  std::endian order;
  bool nanoseconds;
  std::size_t record_header;
};

std::optional<Variant> variant_of(std::span<const std::byte> first_bytes) {
  if (first_bytes.size() < 4) return std::nullopt;
  for (const std::endian order : {std::endian::little, std::endian::big}) {
    switch (packet::load<std::uint32_t>(first_bytes.data(), order)) {
      case 0xa1b2c3d4:
        return Variant{order, false, 16};
      case 0xa1b23c4d:
        return Variant{order, true, 16};
      case 0xa1b2cd34:
        return Variant{order, false, 24};
      default:
        break;
    }
  }
  return std::nullopt;
}

class PcapFormat final : public Format {
 public:
  PcapFormat(ByteSource& source, const Variant& variant) : Format(source), variant_(variant) {
    facts_.format = "pcap";
    facts_.nanoseconds = variant.nanoseconds;
    read_file_header();
  }
  PcapFormat(ByteSource& source, const Variant& variant, const PcapPart& part)
      : Format(source, part.begin), variant_(variant), end_(part.end) {
    facts_.format = "pcap";
    facts_.nanoseconds = variant.nanoseconds;
    take_file_header(part.header.data());
  }

  bool next(packet::Record& record) override;
  std::size_t read(std::span<packet::Packet> into, packet::AddressTable& addresses) override {
    // The loop is compiled for each byte order, so that it does not ask for every field.
    return variant_.order == std::endian::little ? read_in<std::endian::little>(into, addresses)
                                                 : read_in<std::endian::big>(into, addresses);
  }

 private:
  template <std::endian order>
  std::size_t read_in(std::span<packet::Packet> into, packet::AddressTable& addresses);
  template <std::endian order>
  bool next_in(packet::Record& record);
  void read_file_header();
  bool take_file_header(const std::byte* header);
  bool stop_at_lengths(std::uint32_t captured, std::uint32_t original);

  Variant variant_;
  packet::Link link_ = packet::Link::Unknown;
  std::int64_t end_ = std::numeric_limits<std::int64_t>::max();  ///< of what is to be read
};

void PcapFormat::read_file_header() {
  if (!cursor_.need(kFileHeader)) {
    stop_at_end("the file header", kFileHeader);
    return;
  }
  if (take_file_header(cursor_.at())) cursor_.skip(kFileHeader);
}

bool PcapFormat::take_file_header(const std::byte* header) {
  const auto version = packet::load<std::uint16_t>(header + 4, variant_.order);
  if (version != 2) {
    return stop(0, fmt::format("the file is of pcap version {}; only version 2 is known", version));
  }
  // The upper half of the last field holds the length of a frame check sequence, if any.
  const std::uint32_t link_type = packet::load<std::uint32_t>(header + 20, variant_.order) & 0xffff;
  link_ = packet::link_of(link_type);
  facts_.interfaces.push_back(
      {.link_type = link_type,
       .snaplen = packet::load<std::uint32_t>(header + 16, variant_.order),
       .ticks_per_second = variant_.nanoseconds ? 1'000'000'000 : 1'000'000});
  return true;
}

bool PcapFormat::stop_at_lengths(std::uint32_t captured, std::uint32_t original) {
  return stop(cursor_.offset(),
              fmt::format("a packet claims {} captured and {} original bytes, which cannot be",
                          captured, original));
}

template <std::endian order>
[[gnu::always_inline]] inline bool PcapFormat::next_in(packet::Record& record) {
  if (ended_ || cursor_.offset() >= end_) return false;
  const auto field = [this](std::size_t offset) {
    return packet::load<std::uint32_t>(cursor_.at() + offset, order);
  };
  const std::size_t header = variant_.record_header;
  if (!cursor_.need(header)) return stop_at_end("the packet's header", header);
  const std::uint32_t captured = field(8);
  const std::uint32_t original = field(12);
  if ((captured > kMostCapturedBytes) | (original > kMostOriginalBytes)) {
    return stop_at_lengths(captured, original);
  }
  if (!cursor_.need(header + captured)) return stop_at_end("the packet", header + captured);
  const std::int64_t seconds = field(0);
  const std::int64_t fraction = field(4);
  record = {
      .bytes = {cursor_.at() + header, captured},
      .original_bytes = original,
      .time_ns = seconds * 1'000'000'000 + fraction * (variant_.nanoseconds ? 1 : 1000),
      .interface = 0,
      .link = link_,
  };
  cursor_.skip(header + captured);
  return true;
}

template <std::endian order>
std::size_t PcapFormat::read_in(std::span<packet::Packet> into, packet::AddressTable& addresses) {
  std::size_t count = 0;
  packet::Record record;
  while (count < into.size() && next_in<order>(record))
    packet::decode(record, addresses, into[count++]);
  return count;
}

bool PcapFormat::next(packet::Record& record) {
  return variant_.order == std::endian::little ? next_in<std::endian::little>(record)
                                               : next_in<std::endian::big>(record);
}

/// Walks along record headers that make sense.
class Chain {
 public:
  Chain(std::span<const std::byte> bytes, const Variant& variant, std::uint32_t snaplen)
      : bytes_(bytes),
        variant_(variant),
        most_captured_(snaplen == 0 ? kMostCapturedBytes : std::min(snaplen, kMostCapturedBytes)) {}

  /// Whether records follow each other from `at`: kEnough of them, or at least two up to the end of
  /// the bytes, or one that ends there.
  bool holds_from(std::size_t at) const {
    constexpr int kEnough = 8;
    std::optional<std::int64_t> before_s;
    for (int i = 0; i < kEnough; ++i) {
      const std::size_t left = bytes_.size() - at;
      if (left < variant_.record_header) return i >= 2 || (i == 1 && left == 0);
      const std::int64_t time_s = field(at);
      if (!makes_sense(at) || (before_s && std::abs(time_s - *before_s) > kMostApart)) return false;
      before_s = time_s;
      const std::size_t record = variant_.record_header + field(at + 8);
      if (record > left) return i >= 1;
      at += record;
    }
    return true;
  }

 private:
  /// Between two packets, in seconds.
  static constexpr std::int64_t kMostApart = 24 * 3600;

  std::uint32_t field(std::size_t at) const {
    return packet::load<std::uint32_t>(bytes_.data() + at, variant_.order);
  }
  bool makes_sense(std::size_t at) const {
    const std::uint32_t fraction = field(at + 4);
    const std::uint32_t captured = field(at + 8);
    const std::uint32_t original = field(at + 12);
    return fraction < (variant_.nanoseconds ? 1'000'000'000 : 1'000'000) && captured > 0 &&
           captured <= most_captured_ && original >= captured && original <= kMostOriginalBytes;
  }

  std::span<const std::byte> bytes_;
  const Variant& variant_;
  std::uint32_t most_captured_;
};

}  // namespace

bool is_pcap(std::span<const std::byte> first_bytes) { return variant_of(first_bytes).has_value(); }

std::unique_ptr<Format> pcap_format(ByteSource& source) {
  const auto variant = variant_of(source.advance(0, 4));
  check(variant.has_value(), "the bytes are those of a pcap file");
  return std::make_unique<PcapFormat>(source, *variant);
}

std::unique_ptr<Format> pcap_format(ByteSource& source, const PcapPart& part) {
  const auto variant = variant_of(part.header);
  check(variant.has_value(), "the header is that of a pcap file");
  return std::make_unique<PcapFormat>(source, *variant, part);
}

std::optional<std::size_t> likely_record(std::span<const std::byte> bytes,
                                         const PcapFileHeader& header) {
  const auto variant = variant_of(header);
  check(variant.has_value(), "the header is that of a pcap file");
  const Chain chain(bytes, *variant,
                    packet::load<std::uint32_t>(header.data() + 16, variant->order));
  for (std::size_t at = 0; at + variant->record_header <= bytes.size(); ++at) {
    if (chain.holds_from(at)) return at;
  }
  return std::nullopt;
}

}  // namespace tw::capture
