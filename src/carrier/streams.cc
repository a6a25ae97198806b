// SPDX-License-Identifier: Apache-2.0
#include "trainwire/carrier/streams.h"

namespace tw::carrier {
namespace {

/// "10.0.0.1:4711" without its port.
std::string address_of(const std::string& end) { return end.substr(0, end.rfind(':')); }

}  // namespace

StreamBytes stream_bytes(std::span<const TcpCount> counts) {
  std::map<std::pair<std::string, std::string>, std::int64_t> directions;
  for (const TcpCount& count : counts) directions[{count.from, count.to}] = count.sent;
  for (const TcpCount& count : counts)
    directions.try_emplace({count.to, count.from}, count.received);
  StreamBytes bytes;
  for (const auto& [ends, sum] : directions) {
    bytes[{address_of(ends.first), address_of(ends.second)}] += sum;
  }
  return bytes;
}

}  // namespace tw::carrier
