// SPDX-License-Identifier: Apache-2.0
// What a run keeps of its hosts and of their processes: fleet.cc and joining.cc share it.

#pragma once

#include "trainwire/fleet/fleet.h"

#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <string>

namespace tw::fleet {

/// One host and what has come from it.
struct Member {
  Link link;
  JoinedHost who;
  bool begun = false;
  bool finished = false;
  bool gone = false;     ///< told already
  bool refuses = false;  ///< what it was last told to do; its reason has come
  std::int64_t best_ns = std::numeric_limits<std::int64_t>::max();  ///< soonest answer
  std::int64_t asked_ns = 0;
  int answers = 0;
  HostResult result;
  std::string file;  ///< that is coming in
  os::FileDescriptor into;
};

struct Running {
  std::size_t host = 0;
  std::uint32_t number = 0;
  os::FileDescriptor control;  ///< as the process has it
  std::deque<std::string> waiting;
  std::optional<os::Ending> ending;
};

}  // namespace tw::fleet
