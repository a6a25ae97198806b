// SPDX-License-Identifier: Apache-2.0
#include "trainwire/testbed/shaping.h"

namespace tw::testbed {

Bucket bucket_for(const network::Port& port, int mtu, bool lossy) {
  const Bytes burst = network::largest_burst(port.rate, mtu, lossy);
  return {.rate = port.rate, .burst = burst, .limit = port.queue + burst};
}

}  // namespace tw::testbed
