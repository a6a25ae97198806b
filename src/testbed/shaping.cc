// SPDX-License-Identifier: Apache-2.0
#include "trainwire/testbed/shaping.h"

#include <algorithm>

namespace tw::testbed {
namespace {

using std::chrono::microseconds;

/// A bucket shorter than the tail of the timer's lateness loses tokens for good.
constexpr Duration kBurstTime = microseconds(1000);

}  // namespace

Bucket bucket_for(const network::Port& port, int mtu, bool lossy) {
  const Bytes piece =
      lossy ? network::frame_bytes(mtu)
            : std::max(network::largest_segment(port.rate), network::frame_bytes(mtu));
  const Bytes burst = std::max(piece * 2, port.rate * kBurstTime);
  return {.rate = port.rate, .burst = burst, .limit = port.queue + burst};
}

}  // namespace tw::testbed
