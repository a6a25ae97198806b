// SPDX-License-Identifier: Apache-2.0
#include "trainwire/attach/packets.h"

#include "trainwire/gather/captured.h"
#include "trainwire/packet/decode.h"
#include "trainwire/summarise/jobs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tw::attach {
namespace {

constexpr std::uint32_t kKeptBytes = 128;  ///< of a packet: its headers, also of a tunnel

capture::LiveCapture begun(const std::vector<CapturePlace>& places, const std::string& folder,
                           Bytes most, const std::shared_ptr<Members>& members) {
  std::vector<os::FileDescriptor> networks;
  networks.reserve(places.size());  // references into it are given away
  std::vector<capture::LiveInterface> interfaces;
  for (const CapturePlace& place : places) {
    networks.push_back(os::open_to_read(fmt::format("/proc/{}/ns/net", place.process)));
    for (const std::string& device : place.devices) {
      interfaces.push_back({.network = networks.back(),
                            .name = device,
                            .file = fmt::format("{}/host{}.pcap", folder, interfaces.size())});
    }
  }
  return capture::LiveCapture(
      interfaces, {.snap_length = kKeptBytes,
                   .keep = [members](const packet::Record& record) { return members->has(record); },
                   .most = most});
}

std::vector<std::string> names_of(const std::vector<CapturePlace>& places) {
  std::set<std::string> names;
  for (const CapturePlace& place : places) names.insert(place.devices.begin(), place.devices.end());
  return {names.begin(), names.end()};
}

}  // namespace

void Members::add(const std::vector<Connection>& connections) {
  const std::lock_guard lock(mutex_);
  for (const Connection& each : connections) {
    ends_.emplace(addresses_.number_of(packet::parse_address(each.local)), each.local_port);
  }
}

bool Members::has(const packet::Record& record) {
  const std::lock_guard lock(mutex_);
  packet::Packet packet = {};
  packet::decode_any(record, addresses_, packet);
  return ends_.contains({packet.source, packet.source_port}) ||
         ends_.contains({packet.destination, packet.destination_port});
}

Packets::Packets(const std::vector<CapturePlace>& places, const std::string& folder, Bytes most)
    : members_(std::make_shared<Members>()),
      devices_(names_of(places)),
      capture_(begun(places, folder, most, members_)) {}

Packets::Outcome Packets::stop() {
  Outcome made;
  std::uint64_t packets = 0;
  std::uint64_t dropped = 0;
  bool is_full = false;
  for (const capture::LiveResult& each : capture_.stop()) {
    packets += each.written;
    dropped += each.dropped;
    is_full = is_full || each.is_full;
    if (each.failure) made.troubles.push_back(*each.failure);
    if (each.written > 0) made.files.push_back(each.file);
  }
  made.text = fmt::format("{} packets captured on {}", packets, fmt::join(devices_, ", "));
  if (dropped > 0) {
    made.troubles.push_back(
        fmt::format("{} packets came faster than they could be captured", dropped));
  }
  if (is_full) {
    made.troubles.emplace_back(
        "the capture was full before the end: --packet-limit has how large it may be");
  }
  return made;
}

summarise::CaptureResult analysed(const std::vector<std::string>& files,
                                  const gather::PortOwners& owners) {
  summarise::CaptureResult result;
  result.traffic = gather::read_traffic(files, {.one_clock = true});
  diagnose::AnalysisOptions how;
  how.names = gather::ports_as_hosts(result.traffic, owners).names;
  summarise::analyse_found_jobs(result, how);
  summarise::add_figures(result);
  return result;
}

}  // namespace tw::attach
