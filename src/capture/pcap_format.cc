// SPDX-License-Identifier: Apache-2.0
#include "trainwire/capture/pcap_format.h"

#include "trainwire/base/error.h"
#include "trainwire/capture/byte_order.h"

#include <fmt/format.h>

namespace tw::capture {
namespace {

constexpr std::size_t kFileHeader = 24;

/// What the magic number tells.
struct Variant {
  std::endian order;
  bool nanoseconds;
  std::size_t record_header;
};

std::optional<Variant> variant_of(std::span<const std::byte> first_bytes) {
  if (first_bytes.size() < 4) return std::nullopt;
  for (const std::endian order : {std::endian::little, std::endian::big}) {
    switch (load<std::uint32_t>(first_bytes.data(), order)) {
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

  bool next(Record& record) override;
  std::size_t read(std::span<Packet> into, AddressTable& addresses) override {
    return read_with(*this, into, addresses);
  }

 private:
  template <class T>
  T field(std::size_t offset) const {
    return load<T>(cursor_.at() + offset, variant_.order);
  }
  void read_file_header();
  bool stop_at_lengths(std::uint32_t captured, std::uint32_t original);

  Variant variant_;
  Link link_ = Link::Unknown;
};

void PcapFormat::read_file_header() {
  if (!cursor_.need(kFileHeader)) {
    stop_at_end("the file header", kFileHeader);
    return;
  }
  const auto version = field<std::uint16_t>(4);
  if (version != 2) {
    stop(0, fmt::format("the file is of pcap version {}; only version 2 is known", version));
    return;
  }
  // The upper half of the last field holds the length of a frame check sequence, if any.
  const std::uint32_t link_type = field<std::uint32_t>(20) & 0xffff;
  link_ = link_of(link_type);
  facts_.interfaces.push_back(
      {.link_type = link_type,
       .snaplen = field<std::uint32_t>(16),
       .ticks_per_second = variant_.nanoseconds ? 1'000'000'000 : 1'000'000});
  cursor_.skip(kFileHeader);
}

bool PcapFormat::stop_at_lengths(std::uint32_t captured, std::uint32_t original) {
  return stop(cursor_.offset(),
              fmt::format("a packet claims {} captured and {} original bytes, which cannot be",
                          captured, original));
}

bool PcapFormat::next(Record& record) {
  if (ended_) return false;
  const std::size_t header = variant_.record_header;
  if (!cursor_.need(header)) return stop_at_end("the packet's header", header);
  const auto captured = field<std::uint32_t>(8);
  const auto original = field<std::uint32_t>(12);
  if ((captured > kMostCapturedBytes) | (original > kMostOriginalBytes)) {
    return stop_at_lengths(captured, original);
  }
  if (!cursor_.need(header + captured)) return stop_at_end("the packet", header + captured);
  const std::int64_t seconds = field<std::uint32_t>(0);
  const std::int64_t fraction = field<std::uint32_t>(4);
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

}  // namespace

bool is_pcap(std::span<const std::byte> first_bytes) { return variant_of(first_bytes).has_value(); }

std::unique_ptr<Format> pcap_format(ByteSource& source) {
  const auto variant = variant_of(source.advance(0, 4));
  check(variant.has_value(), "the bytes are those of a pcap file");
  return std::make_unique<PcapFormat>(source, *variant);
}

}  // namespace tw::capture
