// SPDX-License-Identifier: Apache-2.0
#include "trainwire/gather/glimpse.h"

#include "trainwire/gather/source.h"

#include <algorithm>
#include <map>

namespace tw::gather {
namespace {

std::vector<packet::Address> home_of(const std::vector<packet::Packet>& packets,
                                     const packet::AddressTable& addresses) {
  std::map<std::uint32_t, std::size_t> counts;
  std::size_t all = 0;
  for (const packet::Packet& packet : packets) {
    if (packet.source == 0 && packet.destination == 0) continue;
    ++all;
    ++counts[packet.source];
    if (packet.destination != packet.source) ++counts[packet.destination];
  }
  std::vector<packet::Address> home;
  for (const auto& [number, count] : counts) {
    if (number != 0 && 10 * count >= 9 * all) home.push_back(addresses[number]);
  }
  return home;
}

}  // namespace

Glimpse glimpse(const std::string& path, Filter* filter) {
  Glimpse result{.path = path};
  result.reader = capture::open_capture(path);
  result.packets.resize(kBatch);
  result.packets.resize(read_packets(*result.reader, filter, result.packets));
  if (!result.packets.empty()) result.first_ns = result.packets.front().time_ns;
  result.home = home_of(result.packets, result.reader->addresses());
  result.file_bytes = result.reader->facts().file_bytes;
  if (result.file_bytes > 0) {
    result.reader.reset();
    result.packets = {};
  }
  return result;
}

bool continues(const Glimpse& file, const Glimpse& before, std::int64_t first_ns,
               std::int64_t last_ns) {
  if (!file.first_ns.has_value()) return true;
  // Rotation may cut between two queues' packets: a little overlap is none.
  const std::int64_t slack = std::min<std::int64_t>(1'000'000, (last_ns - first_ns) / 100);
  if (*file.first_ns <= first_ns || *file.first_ns < last_ns - slack) return false;
  return file.home.empty() || before.home.empty() ||
         std::any_of(file.home.begin(), file.home.end(), [&](const packet::Address& address) {
           return std::find(before.home.begin(), before.home.end(), address) != before.home.end();
         });
}

}  // namespace tw::gather
