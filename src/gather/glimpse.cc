// SPDX-License-Identifier: Apache-2.0
#include "trainwire/gather/glimpse.h"

#include "trainwire/capture/pieces.h"
#include "trainwire/gather/source.h"

#include <algorithm>
#include <map>
#include <span>

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

/// The latest time in the last piece of a file, where its records are found.
std::optional<std::int64_t> last_time(const std::string& path, std::int64_t file_bytes) {
  const auto file = capture::PiecedFile::open(path);
  if (file == nullptr || file_bytes <= 0) return {};
  capture::Piece piece;
  capture::PieceReader(*file).read((file_bytes - 1) / file->piece_bytes(), piece);
  std::optional<std::int64_t> last;
  for (const packet::Packet& packet : std::span(piece.packets).first(piece.count)) {
    last = std::max(last.value_or(packet.time_ns), packet.time_ns);
  }
  return last;
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
    if (filter == nullptr) result.last_ns = last_time(path, result.file_bytes);
    result.reader.reset();
    result.packets = {};
  }
  return result;
}

bool may_be_of_one_host(const Glimpse& a, const Glimpse& b) {
  return a.home.empty() || b.home.empty() ||
         std::ranges::any_of(a.home, [&](const packet::Address& address) {
           return std::ranges::find(b.home, address) != b.home.end();
         });
}

bool continues(const Glimpse& file, const Glimpse& before, std::int64_t first_ns,
               std::int64_t last_ns) {
  if (!file.first_ns.has_value()) return true;
  const std::int64_t slack = std::min(kMostOverlapNs, (last_ns - first_ns) / 100);
  if (*file.first_ns <= first_ns || *file.first_ns < last_ns - slack) return false;
  return may_be_of_one_host(file, before);
}

}  // namespace tw::gather
