// SPDX-License-Identifier: Apache-2.0
#include "trainwire/medium/group_paths.h"

#include "trainwire/base/error.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace tw::medium {
namespace {

Duration line_time(int bytes, const network::Request& request) {
  return request.rate > BitRate() ? Bytes(bytes) / request.rate : Duration{};
}

}  // namespace

GroupPath group_path(const network::Network& network, const GroupRequest& group,
                     const GroupFrames& frames, const RequestOf& request) {
  GroupPath made;
  std::set<int> ports;
  std::set<int> switches;
  for (const int member : group.members) {
    check(member != group.hub, "members are on other hosts than the hub");
    const std::vector<int> up = network.path(member, group.hub);
    Duration travelling = {};
    Duration round_trip = {};
    double comes = 1;
    for (const int port : up) {
      const network::Request there = request(group.sums ? port : port ^ 1);
      const network::Request back = request(group.sums ? port ^ 1 : port);
      const Duration frame = line_time(frames.frame_bytes, there);
      const bool is_first = port == (group.sums ? up.front() : up.back());
      travelling += there.delay + (is_first ? Duration{} : frame);
      round_trip += there.delay + frame + back.delay + line_time(frames.header_bytes, back);
      comes *= 1 - there.loss;
      ports.insert(group.sums ? port : port ^ 1);
      if (port != up.back()) switches.insert(network.end_of(port));
    }
    made.travelling.push_back(travelling);
    made.loss.push_back(1 - comes);
    made.round_trip = std::max(made.round_trip, round_trip);
    made.up.push_back(up);
  }
  made.ports.assign(ports.begin(), ports.end());
  made.switches.assign(switches.begin(), switches.end());
  double comes = 1;
  double room = std::numeric_limits<double>::infinity();
  for (const int port : made.ports) {
    const network::Request asked = request(port);
    comes *= 1 - asked.loss;
    const bool is_senders = port / 2 < network.hosts() && port % 2 == 0;
    if (is_senders) continue;  // hosts drop nothing of their own
    const double held = asked.rate.bits_per_second() / 8 * seconds(made.round_trip) +
                        static_cast<double>(asked.queue.count()) / 2;
    room = std::min(room, held / frames.frame_bytes);
  }
  made.any_loss = 1 - comes;
  made.room = static_cast<int>(std::clamp(std::floor(room / group.beside), 1.0, 1e6));
  return made;
}

}  // namespace tw::medium
