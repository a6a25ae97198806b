// SPDX-License-Identifier: Apache-2.0
// Waiting for sockets, for as long as others may be silent.

#pragma once

#include "trainwire/base/units.h"

#include <poll.h>

#include <cstdint>
#include <span>

namespace tw::transport::tcp {

/// Counts how long nothing was ready. Time in which this process did not run is nobody's silence.
class Patience {
 public:
  explicit Patience(Duration most);

  /// Silence begins now.
  void restart();
  /// Until any of them is ready, but not long: whoever waits may have other things to look after.
  /// False when nothing has been ready for longer than the patience.
  bool wait(std::span<pollfd> sockets);

 private:
  Duration most_;
  std::int64_t since_ns_;
};

}  // namespace tw::transport::tcp
