// SPDX-License-Identifier: Apache-2.0
// One rank's share of an exchange as whoever carries it out needs it: byte ranges that move over
// connections, and what each must wait for. Order and waits are collective's (cursor.h); bytes and
// lanes, which share a pair's transfers, are added here.
//
// Where a strategy passes whole transfers, a part begins when all that it waits for have ended;
// where it cuts through, it follows them byte by byte, so that a ring is one stream without pauses.

#pragma once

#include "trainwire/collective/order.h"
#include "trainwire/collective/strategies.h"
#include "trainwire/workload/training.h"

#include <boost/container/small_vector.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tw::workload {

/// A transfer, or a lane's share of one, seen from one of its ends. Bytes are of the rank's whole
/// payload.
struct Part {
  int transfer = 0;  ///< of the order
  int connection = 0;
  bool sends = false;
  collective::Combine combine = collective::Combine::Replace;
  int gate = -1;  ///< what it waits for; -1: nothing
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t position = 0;  ///< begin..end: what has moved
  /// Where two ranks exchange the same chunks: the part that sends what this one writes over.
  int exchanged = -1;

  bool finished() const { return position == end; }
  Range range() const {
    return {.first = begin / kElementBytes, .elements = (end - begin) / kElementBytes};
  }
};

struct Parts {
  int bucket = kWholePayload;
  collective::Passing passing = collective::Passing::Whole;
  collective::Order order = {};  ///< its transfers alone
  std::vector<Part> parts = {};
  std::vector<std::vector<int>> sends = {};     ///< by connection, in order
  std::vector<std::vector<int>> receives = {};  ///< by connection, in order

  /// Parts to be waited for; the first `passed` of them have ended.
  struct Gate {
    boost::container::small_vector<int, 2> parts = {};  // seldom more
    std::size_t passed = 0;
  };
  std::vector<Gate> gates = {};

  /// Everything is still to be moved.
  void rewind();
  /// How far a part may go now.
  std::int64_t limit(const Part& part);
  /// Whether all that it waits for have ended, whatever the passing.
  bool may_begin(const Part& part) { return blocker(part) < 0; }
  /// The first part that it waits for and that has not ended; -1: none.
  int blocker(const Part& part);
  /// All of its gate's parts but the first ones that have ended.
  std::span<const int> pending(const Part& part);
  /// The transfer that it is, or shares.
  const collective::Transfer& transfer(const Part& part) const {
    return order.transfers[static_cast<std::size_t>(part.transfer)];
  }
};

/// Whom a connection joins this rank with.
struct Wire {
  int peer = 0;
  int lane = 0;
  bool operator==(const Wire&) const = default;
};

struct PartsRequest {
  const collective::Schedule& schedule;
  int rank = 0;
  int bucket = kWholePayload;
  Range range = {};  ///< of the payload
  std::span<const Wire> wires = {};
  int lanes = 1;
  collective::Passing passing = collective::Passing::Whole;
};

/// REQUIRES: there is a wire to every peer of the rank, for each lane.
Parts make_parts(const PartsRequest& request);

/// A training's exchanges as schedules, which cost time to make where there are many ranks.
struct Exchanges {
  collective::Schedule step;
  std::optional<collective::Schedule> start;  ///< where start_buckets() has any
};
/// REQUIRES, as below: ranks do not draw their peers.
Exchanges exchanges_of(const Training& training);

/// A rank's part in the exchange of a bucket, in every step.
Parts step_parts(const Training& training, const Exchanges& exchanges, int rank, int bucket,
                 std::span<const Wire> wires);
Parts step_parts(const Training& training, int rank, int bucket, std::span<const Wire> wires);
/// The same before the first step; the model is passed on byte by byte.
Parts start_parts(const Training& training, const Exchanges& exchanges, int rank, int bucket,
                  std::span<const Wire> wires);
Parts start_parts(const Training& training, int rank, int bucket, std::span<const Wire> wires);

/// Ranks that a training connects with this one, in order.
std::vector<int> peers_of(const Exchanges& exchanges, int rank);
std::vector<int> peers_of(const Training& training, int rank);

}  // namespace tw::workload
