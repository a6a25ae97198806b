// SPDX-License-Identifier: Apache-2.0
// One rank's share of a schedule as its executor needs it: byte ranges that move over connections,
// and what each must wait for.
//
// A part may touch a byte only after every part of an earlier round that touches it too, unless
// both only read it. How that is waited for is the passing: Whole lets a part begin when all those
// are finished, CutThrough lets it follow them byte by byte, so that a ring is one stream without
// pauses.

#pragma once

#include "trainwire/collective/schedule.h"
#include "trainwire/workload/training.h"

#include <cstdint>
#include <span>
#include <vector>

namespace tw::trainer {

using collective::Passing;
using workload::kElementBytes;

/// A transfer, or a lane's share of one, seen from one of its ends. Bytes are of the rank's whole
/// payload.
struct Part {
  int connection = 0;
  bool sends = false;
  collective::Combine combine = collective::Combine::Replace;
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t position = 0;    ///< begin..end: what has moved
  std::vector<int> after = {};  ///< parts of earlier rounds that touch the same bytes
  /// Where two ranks exchange the same chunks: the part that sends what this one writes over.
  int exchanged = -1;

  bool finished() const { return position == end; }
};

struct Parts {
  Passing passing = Passing::Whole;
  std::vector<Part> parts = {};
  std::vector<std::vector<int>> sends = {};     ///< by connection, in order
  std::vector<std::vector<int>> receives = {};  ///< by connection, in order

  /// Everything is still to be moved.
  void rewind();
};

/// Which ranks a connection joins this one with; lanes of a pair share its transfers.
struct Wire {
  int peer = 0;
  int lane = 0;
};

struct PartsRequest {
  const collective::Schedule& schedule;
  int rank = 0;
  std::int64_t first_element = 0;  ///< where the bucket begins in the payload
  std::int64_t elements = 0;
  std::span<const Wire> wires = {};
  int lanes = 1;
  Passing passing = Passing::Whole;
};

/// REQUIRES: there is a wire to every peer of the rank, for each lane.
Parts make_parts(const PartsRequest& request);

/// Ranks that the schedule joins with this one, in order.
std::vector<int> peers_of(const collective::Schedule& schedule, int rank);

/// How far a part may go now.
std::int64_t limit_of(const Parts& parts, const Part& part);

}  // namespace tw::trainer
