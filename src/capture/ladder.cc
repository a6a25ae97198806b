// SPDX-License-Identifier: Apache-2.0
#include "trainwire/capture/ladder.h"

#include "trainwire/base/error.h"
#include "trainwire/capture/writer.h"
#include "trainwire/packet/decode.h"
#include "trainwire/packet/frame.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <tuple>

namespace tw::capture {
namespace {

struct End {
  char host;
  std::uint16_t port;
  auto operator<=>(const End&) const = default;
};

/// One direction of a connection: where its sender stands.
struct Sender {
  std::uint32_t isn;
  std::uint64_t next = 0;  ///< relative sequence number
  std::uint64_t acknowledged = 1;
};

/// The words of one line, and complaints about them.
class Words {
 public:
  Words(const std::string& line, int number)
      : stream_(line.substr(0, line.find('#'))), line_(line), number_(number) {
    next_ok_ = static_cast<bool>(stream_ >> next_);
  }

  bool empty() const { return !next_ok_; }
  const std::string& peek() const { return next_; }
  std::string take() {
    if (!next_ok_) fail("something is missing at the end");
    std::string word = next_;
    next_ok_ = static_cast<bool>(stream_ >> next_);
    return word;
  }
  template <class T>
  T number(const std::string& word) const {
    T value{};
    const char* end = word.data() + word.size();
    const auto [stop, error] = std::from_chars(word.data(), end, value);
    if (error != std::errc{} || stop != end)
      fail(fmt::format("\"{}\" is no number that fits", word));
    return value;
  }
  template <class T>
  T take_number() {
    return number<T>(take());
  }
  [[noreturn]] void fail(std::string_view reason) const {
    throw SpecError(fmt::format("ladder line {}: {}: \"{}\"", number_, reason, line_));
  }

 private:
  std::istringstream stream_;
  std::string line_;
  int number_;
  std::string next_;
  bool next_ok_ = false;
};

std::optional<std::uint8_t> flags_of(const std::string& word) {
  static constexpr std::string_view kLetters = "FSRP.UEC";  // in the order of TcpFlag's bits
  std::uint8_t flags = 0;
  for (const char c : word) {
    const auto bit = kLetters.find(c);
    if (bit == std::string_view::npos) return std::nullopt;
    if (c != '.') flags = static_cast<std::uint8_t>(flags | 1u << bit);
  }
  return flags;
}

End parse_end(Words& words) {
  const std::string word = words.take();
  if (word[0] < 'a' || word[0] > 'z') words.fail("a host is one letter from a to z");
  if (word.size() == 1) return {.host = word[0], .port = 5001};
  if (word[1] != '.') words.fail("a host is one letter, then a dot and a port if any");
  return {.host = word[0], .port = words.number<std::uint16_t>(word.substr(2))};
}

/// What a line says, before the connection's state fills in the rest.
struct Line {
  std::optional<std::uint64_t> from = {};
  std::optional<std::uint64_t> to = {};
  std::optional<std::uint64_t> acknowledgement = {};
};

class LadderReader {
 public:
  explicit LadderReader(const LadderOptions& options) : options_(options) {}

  LadderFrame read(Words& words) {
    time_ns_ = parse_time(words);
    const End from = parse_end(words);
    if (words.take() != ">") words.fail("expected FROM > TO");
    const End to = parse_end(words);
    packet::FrameSpec spec{.source = ladder_address(from.host, options_.v6),
                           .destination = ladder_address(to.host, options_.v6),
                           .source_port = from.port,
                           .destination_port = to.port,
                           .link_type = options_.link_type,
                           .snaplen = options_.snaplen};
    spec.tcp.flags = 0;
    Line line;
    while (!words.empty()) parse_item(words, spec, line);
    if (spec.transport == packet::Transport::Tcp) complete(from, to, line, spec, words);
    packet::Frame frame = packet::make_frame(spec);
    return {time_ns_, std::move(frame.bytes), frame.original_bytes};
  }

 private:
  std::int64_t parse_time(Words& words) const {
    std::string word = words.take();
    const bool relative = word[0] == '+';
    const auto seconds = words.number<double>(word.substr(relative ? 1 : 0));
    const auto ns = static_cast<std::int64_t>(std::llround(seconds * 1e9));
    return (relative ? time_ns_ : options_.start_ns) + ns;
  }

  static void parse_range(Words& words, Line& line) {
    const std::string word = words.take();
    const auto colon = word.find(':');
    line.from = words.number<std::uint64_t>(word.substr(0, colon));
    line.to = words.number<std::uint64_t>(word.substr(colon + 1));
    if (*line.to < *line.from) words.fail("a segment ends before it begins");
  }

  static void parse_roce(Words& words, packet::FrameSpec& spec) {
    spec.transport = packet::Transport::Rocev2;
    spec.rdma.opcode = words.take_number<std::uint8_t>();
    spec.rdma.sequence = words.take_number<std::uint32_t>();
    spec.rdma.queue_pair = words.take_number<std::uint32_t>();
    spec.payload_bytes = words.take_number<std::uint32_t>();
  }

  static void parse_item(Words& words, packet::FrameSpec& spec, Line& line) {
    if (words.peek().find(':') != std::string::npos) return parse_range(words, line);
    const std::string word = words.take();
    if (const auto flags = flags_of(word)) {
      spec.tcp.flags = *flags;
    } else if (word == "ack") {
      line.acknowledgement = words.take_number<std::uint64_t>();
    } else if (word == "win") {
      spec.tcp.window = words.take_number<std::uint16_t>();
    } else if (word == "ts") {
      const auto value = words.take_number<std::uint32_t>();
      spec.tcp.timestamps = packet::TcpTimestamps{value, words.take_number<std::uint32_t>()};
    } else if (word == "mss") {
      spec.tcp.segment_bytes = words.take_number<std::uint16_t>();
    } else if (word == "wscale") {
      spec.tcp.window_scale = words.take_number<std::uint8_t>();
    } else if (word == "ecn") {
      spec.ecn = words.take_number<std::uint8_t>();
    } else if (word == "id") {
      spec.identification = words.take_number<std::uint16_t>();
    } else if (word == "vlan") {
      spec.vlans.push_back(words.take_number<std::uint16_t>());
    } else if (word == "udp") {
      spec.transport = packet::Transport::Udp;
      spec.payload_bytes = words.take_number<std::uint32_t>();
    } else if (word == "roce") {
      parse_roce(words, spec);
    } else {
      words.fail(fmt::format("\"{}\" is no item", word));
    }
  }

  Sender& sender(const End& from, const End& to) {
    const bool replies = senders_.contains({to, from});
    const std::uint32_t isn = replies ? options_.reply_isn : options_.isn;
    return senders_.try_emplace({from, to}, Sender{.isn = isn}).first->second;
  }

  std::uint32_t isn_of(const End& from, const End& to) const {
    const auto known = senders_.find({from, to});
    return known != senders_.end() ? known->second.isn : options_.reply_isn;
  }

  /// Flags, sequence numbers and lengths from the line and from where the connection stands.
  void complete(const End& from, const End& to, const Line& line, packet::FrameSpec& spec,
                const Words& words) {
    Sender& self = sender(from, to);
    const bool syn = (spec.tcp.flags & packet::kSyn) != 0;
    const std::uint64_t begin = line.from.value_or(syn ? 0 : std::max<std::uint64_t>(self.next, 1));
    const std::uint64_t end = line.to.value_or(begin);
    if (end - begin > 1 << 20) words.fail("a segment of more than a mebibyte");
    if (line.acknowledgement.has_value()) self.acknowledged = *line.acknowledgement;
    spec.payload_bytes = static_cast<std::uint32_t>(end - begin);
    spec.tcp.sequence = static_cast<std::uint32_t>(self.isn + begin);
    if (line.acknowledgement.has_value() || !syn) {
      spec.tcp.flags |= packet::kAck;
      spec.tcp.acknowledgement = static_cast<std::uint32_t>(isn_of(to, from) + self.acknowledged);
    }
    const bool takes_a_number = (spec.tcp.flags & (packet::kSyn | packet::kFin)) != 0;
    self.next = std::max(self.next, end + (takes_a_number ? 1 : 0));
  }

  LadderOptions options_;
  std::int64_t time_ns_ = options_.start_ns;
  std::map<std::pair<End, End>, Sender> senders_;
};

}  // namespace

packet::Address ladder_address(char letter, bool v6) {
  const auto number = static_cast<std::uint32_t>(letter - 'a' + 1);
  if (!v6) return packet::v4_address(0x0a000000 + number);
  packet::Address address = packet::parse_address("fd00::");
  address.bytes[15] = static_cast<std::uint8_t>(number);
  return address;
}

std::vector<LadderFrame> ladder(std::string_view text, const LadderOptions& options) {
  LadderReader reader(options);
  std::vector<LadderFrame> frames;
  std::istringstream lines{std::string(text)};
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    Words words(line, number);
    if (!words.empty()) frames.push_back(reader.read(words));
  }
  return frames;
}

std::uint32_t LadderPackets::host(char letter) const {
  for (const bool v6 : {false, true}) {
    if (const auto number = addresses.find(ladder_address(letter, v6))) return *number;
  }
  check(false, "the host occurs in the ladder");
  return 0;
}

LadderPackets ladder_packets(std::string_view text, const LadderOptions& options) {
  LadderPackets result;
  for (const LadderFrame& frame : ladder(text, options)) {
    const packet::Record record{.bytes = frame.bytes,
                                .original_bytes = frame.original_bytes,
                                .time_ns = frame.time_ns,
                                .interface = 0,
                                .link = packet::link_of(options.link_type)};
    packet::decode(record, result.addresses, result.packets.emplace_back());
  }
  return result;
}

std::vector<std::byte> ladder_pcap(std::string_view text, const LadderOptions& options) {
  std::vector<std::byte> bytes;
  Writer writer(memory_sink(bytes),
                {.format = FileFormat::Pcap,
                 .interfaces = {{.link_type = options.link_type, .snaplen = options.snaplen}}});
  for (const LadderFrame& frame : ladder(text, options)) {
    writer.write({.bytes = frame.bytes,
                  .original_bytes = frame.original_bytes,
                  .time_ns = frame.time_ns,
                  .interface = 0,
                  .link = packet::link_of(options.link_type)});
  }
  writer.finish();
  return bytes;
}

}  // namespace tw::capture
