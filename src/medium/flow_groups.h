// SPDX-License-Identifier: Apache-2.0
// What a network of fluids (flow_network.h) knows of a group: one fluid over all ports of its tree.

#pragma once

#include "trainwire/base/random.h"
#include "trainwire/medium/group_paths.h"
#include "trainwire/medium/medium.h"

#include <cstdint>
#include <deque>
#include <vector>

namespace tw::medium {

struct FlowGroup {
  GroupRequest asked = {};
  GroupPath path = {};
  int connection = -1;  ///< its messages, each once
  Random chance;        ///< of what is lost last

  struct Message {
    std::int64_t bytes = 0;
    std::vector<Tag> tags = {};  ///< by member
    int said = 0;                ///< members that have sent it
  };
  std::deque<Message> messages = {};    ///< that have not left
  std::int64_t first = 0;               ///< number of the first of them
  std::vector<std::int64_t> said = {};  ///< by member: messages that it has sent
};

}  // namespace tw::medium
