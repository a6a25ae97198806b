// SPDX-License-Identifier: Apache-2.0
// Streams that have the more of a line the more of their job's step has gone (MLTCP,
// netsim/congestion.cc): a window that grows F times as fast is F times as heavy.

#include "trainwire/medium/flow_network.h"
#include "trainwire/netsim/congestion.h"

#include <algorithm>
#include <limits>

namespace tw::medium {
namespace {

constexpr double kNoticed = 0.06;  ///< of a weight: what it changes by until it is looked at again

}  // namespace

void FlowNetwork::begin_step(int number, std::int64_t bytes) {
  FlowConnection& connection = at(number);
  settle(connection, now_);
  connection.step_begin = connection.carried + connection.left;
  for (std::size_t i = 1; i < connection.messages.size(); ++i) {
    connection.step_begin += connection.messages[i].bytes;
  }
  connection.step_bytes = connection.worth * static_cast<double>(bytes);
}

double FlowNetwork::step_share(const FlowConnection& connection) {
  if (connection.step_bytes <= 0) return -1;
  return std::clamp((connection.carried - connection.step_begin) / connection.step_bytes, 0.0, 1.0);
}

double FlowNetwork::step_gain(const FlowConnection& connection) {
  return connection.weighs_steps ? netsim::mltcp_gain(step_share(connection)) : 1;
}

/// Bytes, until its weight is noticeably another.
double FlowNetwork::until_heavier(const FlowConnection& connection) {
  const double share = connection.weighs_steps ? step_share(connection) : -1;
  if (share < 0 || share >= 1) return std::numeric_limits<double>::infinity();
  const double heavier = netsim::mltcp_gain(share) * (1 + kNoticed);
  const double slope = netsim::mltcp_gain(1) - netsim::mltcp_gain(0);
  return connection.step_bytes * ((heavier - netsim::mltcp_gain(0)) / slope - share);
}

}  // namespace tw::medium
