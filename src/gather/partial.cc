// SPDX-License-Identifier: Apache-2.0
// The bytes of a part: "twpart2\n", the views, and a sum over all that by which a part that was cut
// off or changed is known. Numbers are as short as they are small (LEB128, signed ones zigzag),
// least significant bits first. What is written and what is read is said once, by fields().
#include "trainwire/gather/partial.h"

#include "trainwire/base/error.h"
#include "trainwire/os/file_descriptor.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstdint>
#include <filesystem>
#include <span>
#include <type_traits>
#include <utility>

namespace tw::gather {
namespace {

constexpr std::string_view kMagic = "twpart2\n";
constexpr std::size_t kSumBytes = 8;
/// Further than any clock; what is beyond cannot be added up.
constexpr std::int64_t kMostTime = std::int64_t{1} << 61;

/// FNV-1a: finds damage, not malice.
std::uint64_t sum_of(std::string_view bytes) {
  std::uint64_t sum = 14695981039346656037U;
  for (const char c : bytes) sum = (sum ^ static_cast<unsigned char>(c)) * 1099511628211U;
  return sum;
}

class Writer {
 public:
  static constexpr bool kReads = false;
  void number(std::uint64_t value) {
    for (; value >= 128; value >>= 7) bytes_ += static_cast<char>(value | 128U);
    bytes_ += static_cast<char>(value);
  }
  void count(std::size_t& size) { number(size); }
  void raw(std::uint64_t& value) {
    for (int i = 0; i < 8; ++i) bytes_ += static_cast<char>((value >> (8 * i)) & 255U);
  }
  void whole(std::uint64_t& value) { number(value); }
  void text(std::string& value) {
    number(value.size());
    bytes_ += value;
  }
  void octets(std::span<std::uint8_t> values) {
    for (const std::uint8_t value : values) bytes_ += static_cast<char>(value);
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

class Reader {
 public:
  static constexpr bool kReads = true;
  Reader(std::string_view bytes, const std::string& name) : bytes_(bytes), name_(name) {}

  [[noreturn]] void refuse(std::string_view why) const {
    throw DataError(fmt::format("{}: byte {}: {}; make the part again with analyze --partial",
                                name_, at_ + kMagic.size(), why));
  }
  std::uint64_t number() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<std::uint64_t>(static_cast<unsigned char>(next()));
      value |= (byte & 127U) << shift;
      if (byte < 128) return value;
    }
    refuse("a number without end");
  }
  /// Every element takes a byte at least, so no count leads to more memory than the file has.
  void count(std::size_t& size) {
    size = number();
    if (size > bytes_.size() - at_) refuse("more is announced than the file holds");
  }
  void raw(std::uint64_t& value) {
    value = 0;
    for (int i = 0; i < 8; ++i) {
      value |= static_cast<std::uint64_t>(static_cast<unsigned char>(next())) << (8 * i);
    }
  }
  void whole(std::uint64_t& value) { value = number(); }
  void text(std::string& value) {
    std::size_t size = 0;
    count(size);
    value = bytes_.substr(at_, size);
    at_ += size;
  }
  void octets(std::span<std::uint8_t> values) {
    for (std::uint8_t& value : values) value = static_cast<std::uint8_t>(next());
  }
  bool at_end() const { return at_ == bytes_.size(); }

 private:
  char next() {
    if (at_end()) refuse("the part ends in the middle");
    return bytes_[at_++];
  }

  std::string_view bytes_;
  std::string name_;
  std::size_t at_ = 0;
};

template <typename Io, typename Number>
requires std::integral<Number>
void field(Io& io, Number& value) {
  if constexpr (std::is_same_v<Number, bool>) {
    std::uint64_t wide = value ? 1 : 0;
    io.whole(wide);
    value = wide != 0;
  } else if constexpr (std::is_signed_v<Number>) {
    const auto given = static_cast<std::int64_t>(value);
    auto wide = (static_cast<std::uint64_t>(given) << 1U) ^ static_cast<std::uint64_t>(given >> 63);
    io.whole(wide);
    value = static_cast<Number>(static_cast<std::int64_t>(wide >> 1U) ^
                                -static_cast<std::int64_t>(wide & 1U));
  } else {
    std::uint64_t wide = value;
    io.whole(wide);
    value = static_cast<Number>(wide);
    if constexpr (Io::kReads) {
      if (value != wide) io.refuse("a number that is too large");
    }
  }
}
template <typename Io>
void field(Io& io, double& value) {
  auto bits = std::bit_cast<std::uint64_t>(value);
  io.raw(bits);
  value = std::bit_cast<double>(bits);
}
template <typename Io>
void field(Io& io, std::string& value) {
  io.text(value);
}
template <typename Io>
void field(Io& io, packet::Address& value) {
  io.octets(value.bytes);
}
template <typename Io>
void time(Io& io, std::int64_t& value) {
  field(io, value);
  if constexpr (Io::kReads) {
    if (value > kMostTime || value < -kMostTime) io.refuse("a time beyond all clocks");
  }
}
template <typename Io, typename... Fields>
void each(Io& io, Fields&... values) {
  (field(io, values), ...);
}
template <typename Io, typename Value>
void maybe(Io& io, std::optional<Value>& value) {
  bool there = value.has_value();
  field(io, there);
  if (!there) return;
  if (!value) value.emplace();
  field(io, *value);
}
template <typename Io, typename Value, typename Visit>
void list(Io& io, std::vector<Value>& values, Value blank, Visit visit) {
  std::size_t size = values.size();
  io.count(size);
  if constexpr (Io::kReads) values.clear();
  for (std::size_t i = 0; i < size; ++i) {
    if constexpr (Io::kReads) values.push_back(blank);
    visit(io, values[i]);
  }
}

/// Windows and milestones rise: only the steps between them are written.
template <typename Io>
void series(Io& io, flow::Series& value) {
  std::vector<flow::Window> windows = value.windows();
  std::uint32_t last = 0;
  list(io, windows, flow::Window{}, [&](Io& in, flow::Window& window) {
    std::uint32_t step = window.index - last;
    each(in, step, window.bytes);
    window.index = last + step;
    last = window.index;
  });
  if constexpr (Io::kReads) value = flow::Series(std::move(windows));
}

template <typename Io>
void milestones(Io& io, flow::Milestones& value) {
  std::vector<flow::Milestone> passed = value.passed();
  std::uint64_t last = 0;
  list(io, passed, flow::Milestone{}, [&](Io& in, flow::Milestone& milestone) {
    std::uint64_t step = milestone.position - last;
    field(in, step);
    time(in, milestone.time_ns);
    milestone.position = last + step;
    last = milestone.position;
  });
  if constexpr (Io::kReads) value = flow::Milestones::kept(std::move(passed));
}

template <typename Io>
void envelope(Io& io, flow::Envelope& value) {
  std::vector<double> rates = value.rates_bps();
  list(io, rates, 0.0, [](Io& in, double& rate) { field(in, rate); });
  if constexpr (Io::kReads) {
    const bool is_sound = rates.size() <= flow::Envelope::kAmounts &&
                          std::ranges::all_of(rates, [](double r) { return r >= 0 && r < 1e21; });
    if (!is_sound) io.refuse("an impossible rate");
    value = flow::Envelope::known(rates);
  }
}

template <typename Io>
void stream(Io& io, flow::TcpStream& value) {
  flow::TcpStream::Ended ended = value.ended();
  each(io, ended.started, ended.anchored, ended.first_sequence, ended.next_sequence,
       ended.missing_bytes);
  if constexpr (Io::kReads) value = flow::TcpStream(ended);
}

template <typename Io>
void fields(Io& io, flow::Flow& f) {
  each(io, f.key.source, f.key.destination, f.key.source_port, f.key.destination_port,
       f.key.protocol, f.key.queue_pair);
  time(io, f.first_ns);
  time(io, f.last_ns);
  each(io, f.packets, f.wire_bytes, f.payload_bytes, f.retransmitted_bytes, f.recovered_bytes,
       f.reordered_bytes, f.aside_bytes, f.retransmitted_packets, f.acknowledgement_packets,
       f.large_packets, f.large_payload_bytes, f.super_frames, f.marked_packets, f.largest_payload,
       f.ordinary_payload, f.full_packets, f.announced_segment, f.has_timestamps, f.saw_syn,
       f.saw_fin, f.saw_reset, f.cross, f.job, f.estimated_wire_packets, f.longest_pause_ns,
       f.round_trips.count, f.round_trips.least_ns, f.round_trips.most_ns, f.round_trips.sum_ns);
  stream(io, f.stream);
  series(io, f.series);
  list(io, f.bursts, flow::Burst{}, [](Io& in, flow::Burst& burst) {
    time(in, burst.start_ns);
    time(in, burst.end_ns);
    each(in, burst.bytes, burst.packets);
  });
  envelope(io, f.envelope);
  milestones(io, f.sent);
  milestones(io, f.acknowledged);
}

template <typename Io>
void fields(Io& io, flow::PairCount& p) {
  each(io, p.source, p.destination, p.packets, p.wire_bytes, p.payload_bytes, p.stream_bytes,
       p.retransmitted_bytes, p.super_frames, p.retired_flows, p.retired_tiny_flows);
  for (std::uint64_t& packets : p.by_verdict) field(io, packets);
}

template <typename Io>
void fields(Io& io, flow::View& view) {
  const auto one = [](Io& in, auto& value) { fields(in, value); };
  list(io, view.flows, flow::Flow{}, one);
  list(io, view.pairs, flow::PairCount{}, one);
  flow::Totals& t = view.totals;
  each(io, t.packets, t.wire_bytes, t.super_frames, t.backward_times);
  for (std::uint64_t& packets : t.by_verdict) field(io, packets);
  time(io, t.first_ns);
  time(io, t.last_ns);
  time(io, view.clock.origin_ns);
  each(io, view.clock.width_ns, view.burst_gap_ns);
  series(io, view.series);
}

template <typename Io>
void fields(Io& io, FileSummary& f) {
  each(io, f.path, f.facts.format, f.facts.compression, f.facts.file_bytes, f.facts.nanoseconds);
  list(io, f.facts.interfaces, capture::Interface{}, [](Io& in, capture::Interface& i) {
    each(in, i.link_type, i.snaplen, i.name, i.ticks_per_second);
    maybe(in, i.received);
    maybe(in, i.dropped);
  });
  each(io, f.packets, f.wire_bytes, f.duplicates);
  time(io, f.first_ns);
  time(io, f.last_ns);
  maybe(io, f.dropped);
  bool damaged = f.damage.has_value();
  field(io, damaged);
  if (!damaged) return;
  if (!f.damage) f.damage.emplace();
  each(io, f.damage->offset, f.damage->text);
}

template <typename Io>
void fields(Io& io, std::vector<PartialView>& parts) {
  const auto plain = [](Io& in, auto& value) { field(in, value); };
  const auto one = [](Io& in, auto& value) { fields(in, value); };
  list(io, parts, PartialView{}, [&](Io& in, PartialView& part) {
    list(in, part.addresses, packet::Address{}, plain);
    fields(in, part.view);
    list(in, part.files, FileSummary{}, one);
    list(in, part.home, packet::Address{}, plain);
    list(in, part.small, flow::Flow{}, one);
  });
}

/// What the fields cannot say by themselves.
void require_sound(const std::vector<PartialView>& parts, const Reader& reader) {
  constexpr std::int64_t kHour = 3'600'000'000'000;
  for (const PartialView& part : parts) {
    const auto known = [&](const auto& ends) {
      return ends.source < part.addresses.size() && ends.destination < part.addresses.size();
    };
    const flow::View& view = part.view;
    const bool timed = view.clock.width_ns > 0 && view.clock.width_ns <= 1000 * kHour &&
                       view.burst_gap_ns >= 0 && view.burst_gap_ns <= 1000 * kHour;
    if (!timed) reader.refuse("windows of an impossible width");
    if (part.addresses.empty() || part.files.empty()) reader.refuse("a view of nothing");
    for (const auto* flows : {&view.flows, &part.small}) {
      for (const flow::Flow& flow : *flows) {
        if (!known(flow.key)) reader.refuse("a flow between unknown addresses");
      }
    }
    for (const flow::PairCount& pair : view.pairs) {
      if (!known(pair)) reader.refuse("a pair of unknown addresses");
    }
  }
}

}  // namespace

bool is_partial(const std::string& path) {
  // Who opens a pipe and closes it again has ended what is written into it.
  std::error_code failed;
  if (!std::filesystem::is_regular_file(path, failed)) return false;
  try {
    const os::FileDescriptor file = os::open_to_read(path);
    std::array<char, kMagic.size()> first = {};
    const auto count = os::read_some(file, std::as_writable_bytes(std::span(first)));
    return count == static_cast<std::ptrdiff_t>(kMagic.size()) &&
           std::string_view(first.data(), first.size()) == kMagic;
  } catch (const Error&) {
    return false;
  }
}

std::string text_of(const std::string& path) {
  const os::FileDescriptor file = os::open_to_read(path);
  std::string bytes(static_cast<std::size_t>(os::file_bytes(file)), '\0');
  std::size_t read = 0;
  while (read < bytes.size()) {
    const auto count = os::read_some(file, std::as_writable_bytes(std::span(bytes).subspan(read)));
    if (count <= 0) break;
    read += static_cast<std::size_t>(count);
  }
  bytes.resize(read);
  return bytes;
}

std::string encode_partial(const std::vector<PartialView>& parts) {
  Writer writer;
  std::vector<PartialView> copy = parts;  // fields() takes what may be changed
  fields(writer, copy);
  return sealed(writer.take());
}

std::string sealed(std::string_view body) {
  std::string bytes = std::string(kMagic) + std::string(body);
  std::uint64_t sum = sum_of(bytes);
  Writer end;
  end.raw(sum);
  return bytes + end.take();
}

std::vector<PartialView> decode_partial(std::string_view bytes, const std::string& name) {
  if (!bytes.starts_with(kMagic)) {
    throw DataError(
        fmt::format("{}: no part of an analysis: it does not begin with \"twpart2\"", name));
  }
  if (bytes.size() < kMagic.size() + kSumBytes) {
    throw DataError(
        fmt::format("{}: the part is cut off; make it again with analyze --partial", name));
  }
  const std::string_view body = bytes.substr(0, bytes.size() - kSumBytes);
  std::uint64_t sum = 0;
  Reader(bytes.substr(body.size()), name).raw(sum);
  if (sum != sum_of(body)) {
    throw DataError(fmt::format(
        "{}: the part is cut off or was changed; make it again with analyze --partial", name));
  }
  Reader reader(body.substr(kMagic.size()), name);
  std::vector<PartialView> parts;
  fields(reader, parts);
  if (!reader.at_end()) reader.refuse("more than a part");
  require_sound(parts, reader);
  return parts;
}

}  // namespace tw::gather
