// SPDX-License-Identifier: Apache-2.0
// A step's time as a formula: no messages, whatever the number of ranks.
//
// With C the payload that a link carries in a second, D the way from host to host (delays, and a
// frame's time on the second link), A a frame's time on the first and l(r) the part of the payload M
// that the busiest link carries in round r of the schedule:
//
//   passed on whole   T = sum over r of l(r) M / C, and D for each of the transfers that wait for one another
//   passed on early   T = sum over r of max(l(r) M / C, A + D), with the whole last chunk and its D
//   around hosts of   T = sum over r of max(l(r) M / C, h (l(r) M / C + D)), h of the ring's hops over links: what goes on to a
//   several ranks     rank of the same host goes on whole
//
// Buckets follow each other, from when each is filled where exchanges overlap backward. Windows that
// a pause of more than a timeout has closed are opened again: a round trip for each doubling.
//
// Limits: a star of equal links without loss, cross traffic, faults or limits on sockets; one job whose
// ranks compute alike and wait for one another, whose schedule loads links evenly or in two rounds. Where streams
// meet in a port, its queue holds what comes at once, or what they have under way while they look for their rate.
// BBR's messages fill the path, and what switches mark is more than streams have under way meanwhile.
// asks_for_simulation() says what is outside. Queues, acknowledgements and processors take no time. In
// tests it is within 1 % of the flow level, or 2 % where rounds are only frames long; over ways of
// milliseconds rings of eight and more were up to 1.5 % off.

#pragma once

#include "trainwire/base/units.h"
#include "trainwire/collective/schedule.h"
#include "trainwire/collective/strategies.h"
#include "trainwire/spec/experiment.h"
#include "trainwire/workload/training.h"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace tw::forecast {

/// Rounds in which the busiest link carries the same part of the payload.
struct EqualRounds {
  double share = 0;  ///< of the payload
  std::int64_t count = 0;
};

/// What of a schedule makes its time.
struct Shape {
  std::vector<EqualRounds> rounds = {};  ///< that use the network
  double chunk = 0;                      ///< of the payload; one message of the longest strand
  double depth = 0;                      ///< transfers over the network that wait for one another
  double streams = 1;                    ///< that meet in a link at a time
  double messages = 0;                   ///< of all ranks, about
  bool early = false;                    ///< bytes are passed on as they come
  double hops = 1;                       ///< share of a ring's hops that leave their host
  bool alike = false;                    ///< all hosts carry the same in every round
  bool even = false;                     ///< the formula holds

  bool meet() const;       ///< several streams, in some link
  double busiest() const;  ///< sum of shares
  double largest() const;  ///< share
  std::int64_t count() const;
};

/// O(transfers of a few ranks).
Shape shape_of(const workload::Training& training);

/// What the formula takes of a network.
struct Line {
  double bytes_per_s = 0;  ///< payload
  double way_s = 0;        ///< D
  double first_s = 0;      ///< A
  double round_trip_s = 0;
  int frame_bytes = 0;
  double segment_bytes = 0;
  double queue_bytes = 0;  ///< of a port
  /// From which packets are marked, or dropped early, where streams mind it.
  double marked_bytes = std::numeric_limits<double>::infinity();
  bool bbr = false;  ///< streams go by that
};
/// REQUIRES: the network is resolved.
Line line_of(const spec::Network& network);
/// As that job's streams have it.
Line line_of(const spec::Network& network, const spec::Job& job);

/// What an experiment has that the formula has not; empty: nothing.
std::string asks_for_simulation(const spec::Experiment& experiment);
/// The same of a training.
std::string asks_for_simulation(const workload::Training& training);

/// The same of both over such a line.
std::string asks_for_simulation(const workload::Training& training, const Shape& shape,
                                const Line& line);

/// Whether streams that meet in a port may have more under way than it takes, so that TCP has to find its rate there.
bool overflows(const workload::Training& training, const Shape& shape, const Line& line);

/// Whether switches mark packets before streams that meet have found their rate, which slows these down. A stream that has its
/// port alone waits in its host, which marks nothing.
bool marks_early(const Shape& shape, const Line& line);
/// The same of any stream, as where it comes to a line that is slower.
bool marks_before_rates(const Shape& shape, const Line& line);

/// Of one payload.
double exchange_seconds(const Shape& shape, double bytes, const Line& line);
/// Of a step, with its compute.
double step_seconds(const workload::Training& training, const Shape& shape, const Line& line);

}  // namespace tw::forecast
