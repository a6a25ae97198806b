// SPDX-License-Identifier: Apache-2.0
// Makes a capture of a training-like job, for measuring readers and analyses: eight hosts in a
// ring, seen from the switch between them.
//
// An iteration is a pause, a round of small control messages, and an all-reduce in 14 rounds: in
// each, every host sends its right neighbour 64 segments, dealt in trains of four over its
// channels, and gets an acknowledgement for every second one. Half of the connections are data
// channels, the others control. The same options and seed give the same bytes.

#include "trainwire/base/random.h"
#include "trainwire/capture/writer.h"
#include "trainwire/packet/frame.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <vector>

namespace tw {
namespace {

constexpr unsigned kHosts = 8;

struct Options {
  std::string path;
  std::int64_t packets = 2'000'000;
  unsigned flows = 1000;
  unsigned snap = 150;
  std::uint64_t seed = 7;
};

/// A connection as its two senders see it; side 0 opened it.
struct Connection {
  packet::Address host[2];
  std::uint16_t port[2];
  std::uint32_t next[2];
  std::uint16_t identification[2] = {0, 0};
};

class Job {
 public:
  Job(const Options& options, capture::Writer& writer)
      : options_(options), writer_(writer), random_(options.seed, "make_capture") {
    const unsigned connections = std::max(options.flows / 2, kHosts);
    channels_ = std::max(1u, connections / 2 / kHosts);
    for (unsigned i = 0; i < channels_ * kHosts; ++i) connect(data_, i % kHosts, (i + 1) % kHosts);
    for (unsigned i = channels_ * kHosts; i < connections; ++i) {
      connect(control_, 1 + i % (kHosts - 1), 0);
    }
  }

  void run() {
    while (!done()) {
      time_ns_ += 50'000'000 + static_cast<std::int64_t>(random_.exponential(2e6));
      for (Connection& connection : control_) exchange_control(connection);
      for (unsigned round = 0; round < 2 * (kHosts - 1) && !done(); ++round) all_reduce_round();
    }
  }

 private:
  bool done() const { return written_ >= options_.packets; }

  void connect(std::vector<Connection>& into, unsigned from, unsigned to) {
    const auto address = [](unsigned host) { return packet::v4_address(0x0a000001 + host); };
    const auto sequence = [this] { return static_cast<std::uint32_t>(random_.next()); };
    into.push_back({.host = {address(from), address(to)},
                    .port = {next_port_++, 29500},
                    .next = {sequence(), sequence()}});
  }

  void send(Connection& connection, unsigned side, std::uint32_t payload, std::uint8_t flags) {
    if (done()) return;
    time_ns_ += 100 + static_cast<std::int64_t>(random_.below(200));
    const auto clock_ms = static_cast<std::uint32_t>(time_ns_ / 1'000'000);
    const packet::Frame frame = packet::make_frame({
        .source = connection.host[side],
        .destination = connection.host[1 - side],
        .source_port = connection.port[side],
        .destination_port = connection.port[1 - side],
        .tcp = {.sequence = connection.next[side],
                .acknowledgement = connection.next[1 - side],
                .flags = flags,
                .timestamps = packet::TcpTimestamps{clock_ms, clock_ms - 1}},
        .payload_bytes = payload,
        .identification = connection.identification[side]++,
        .snaplen = options_.snap,
    });
    writer_.write({.bytes = frame.bytes,
                   .original_bytes = frame.original_bytes,
                   .time_ns = time_ns_,
                   .interface = 0,
                   .link = packet::Link::Ethernet});
    connection.next[side] += payload;
    ++written_;
  }

  void exchange_control(Connection& connection) {
    send(connection, 0, 64 + static_cast<std::uint32_t>(random_.below(64)),
         packet::kAck | packet::kPsh);
    send(connection, 1, 16, packet::kAck | packet::kPsh);
    send(connection, 0, 0, packet::kAck);
  }

  void all_reduce_round() {
    constexpr unsigned kTrains = 16;
    for (unsigned train = 0; train < kTrains; ++train, ++next_channel_) {
      for (unsigned host = 0; host < kHosts; ++host) {
        send_train(data_[next_channel_ % channels_ * kHosts + host]);
      }
    }
  }

  void send_train(Connection& connection) {
    constexpr std::uint32_t kSegment = 1448;
    for (int pair = 0; pair < 2; ++pair) {
      send(connection, 0, kSegment, packet::kAck);
      send(connection, 0, kSegment, packet::kAck);
      send(connection, 1, 0, packet::kAck);
    }
  }

  Options options_;
  capture::Writer& writer_;
  Random random_;
  std::vector<Connection> data_;
  std::vector<Connection> control_;
  unsigned channels_ = 1;
  unsigned next_channel_ = 0;
  std::uint16_t next_port_ = 32768;
  std::int64_t written_ = 0;
  std::int64_t time_ns_ = 1'700'000'000'000'000'000;
};

void make_capture(const Options& options) {
  const bool pcapng = options.path.find(".pcapng") != std::string::npos;
  auto sink = capture::file_sink(options.path);
  if (options.path.ends_with(".zst")) sink = capture::zstd_sink(std::move(sink));
  capture::Writer writer(
      std::move(sink), {.format = pcapng ? capture::FileFormat::Pcapng : capture::FileFormat::Pcap,
                        .interfaces = {{.link_type = 1, .snaplen = options.snap, .name = "ring"}}});
  Job(options, writer).run();
  writer.finish();
}

}  // namespace
}  // namespace tw

int main(int argc, char** argv) {
  tw::Options options;
  CLI::App app("Makes a capture of a training-like job");
  app.add_option("FILE", options.path, "ends in .pcap or .pcapng, and .zst to compress")
      ->required();
  app.add_option("--packets", options.packets)->capture_default_str();
  app.add_option("--flows", options.flows, "directed; two for each connection")
      ->capture_default_str();
  app.add_option("--snap", options.snap)->capture_default_str();
  app.add_option("--seed", options.seed)->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    tw::make_capture(options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "make_capture: {}\n", error.what());
    return 3;
  }
}
