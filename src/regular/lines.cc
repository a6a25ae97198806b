// SPDX-License-Identifier: Apache-2.0
#include "trainwire/regular/lines.h"

#include <algorithm>
#include <cstddef>
#include <limits>

namespace tw::regular {
namespace {

/// Sums of rates are rounded: what is as close as that to full may be full.
constexpr double kRoom = 1 - 1e-9;

struct Use {
  int connections = 0;
  double rate = 0;  ///< of all, each as if it were alone
};

double narrowest(const Physics& physics, const Line& line) {
  double rate = std::numeric_limits<double>::infinity();
  for (const int port : line.ports) rate = std::min(rate, physics.capacity(port));
  return rate;
}

}  // namespace

std::optional<std::vector<Steady>> steady(const Physics& physics, const std::vector<Ends>& all) {
  std::vector<Use> uses(static_cast<std::size_t>(physics.ports));
  std::vector<Steady> made;
  made.reserve(all.size());
  for (const Ends& ends : all) {
    Steady& connection = made.emplace_back();
    if (ends.from == ends.to) continue;
    connection.line = physics.line(ends.from, ends.to);
    connection.rate = narrowest(physics, connection.line);
    if (!(connection.rate > 0)) return {};
    for (const int port : connection.line.ports) {
      Use& use = uses[static_cast<std::size_t>(port)];
      ++use.connections;
      use.rate += connection.rate;
    }
  }
  for (int port = 0; port < physics.ports; ++port) {
    const Use& use = uses[static_cast<std::size_t>(port)];
    if (use.connections > 1 && use.rate > kRoom * physics.capacity(port)) return {};
  }
  return made;
}

Duration leaving(const Physics& physics, const Steady& connection, std::int64_t bytes) {
  if (connection.line.ports.empty() || bytes == 0) return {};
  return physics.leaving(static_cast<double>(bytes), connection.rate);
}

}  // namespace tw::regular
