// SPDX-License-Identifier: Apache-2.0
#include "trainwire/forecast/formula.h"

#include "trainwire/fluid/tcp_laws.h"
#include "trainwire/forecast/changes.h"
#include "trainwire/load/wire_share.h"
#include "trainwire/medium/flow_paths.h"
#include "trainwire/medium/sending.h"
#include "trainwire/sim/group_connections.h"
#include "trainwire/spec/links.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace tw::forecast {
namespace {

/// Ranks whose programs are walked in a large job, and in one whose ranks have many transfers each.
constexpr int kMostRanks = 64;
constexpr int kFewRanks = 3;
constexpr std::int64_t kManyTransfers = 400;
/// As the flow level has it.
constexpr int kPassedOnFrames = 2;
constexpr double kSame = 1e-6;       ///< of loads, that chunks' rounding makes differ
constexpr double kSmallPart = 0.01;  ///< of a step: what may be left out
/// Of what the path holds: queues like that had streams that meet lose nothing, at flow level and packet by packet.
constexpr double kDeep = 3;
/// When CUBIC's slow start ends at the latest (HyStart, netsim/cubic.cc), and what a connection has sent until then, by trains of
/// segments that hide how long acknowledgements take; as much again is let out by the answers to it. It never ends below so many
/// segments, of which large frames make more.
constexpr double kSlowStart_s = 1e-3;
constexpr double kSlowStartBytes = 4 * 65536;
constexpr double kSlowStartSegments = 2 * 16;
/// Messages of a step; more of them that overflow queues take too long to simulate.
constexpr double kMostSimulated = 4000;
constexpr double kFilled =
    2;  ///< of what the path holds: messages that BBR sends at the line's rate

/// The first, the last, those in between, the first server: whoever may have more to carry than others.
std::vector<int> looked_at(const workload::Training& training, int most) {
  const int ranks = training.ranks();
  std::set<int> chosen;
  for (int i = 0; i < std::min(ranks, most); ++i) {
    chosen.insert(static_cast<int>(static_cast<std::int64_t>(i) * (ranks - 1) /
                                   std::max(1, std::min(ranks, most) - 1)));
  }
  if (training.workers() < ranks) chosen.insert(training.workers());
  return {chosen.begin(), chosen.end()};
}

/// What one host sends and receives over its link, by round, in parts of the payload; and what stays in it.
struct HostLoads {
  std::vector<double> sent;
  std::vector<double> received;
  std::vector<double> kept;
};

using ByHost = std::map<int, HostLoads>;

void add(const collective::Schedule& schedule, const workload::Training& training, int rank,
         HostLoads& loads) {
  const collective::Layout& layout = training.arrangement.layout;
  const double chunk = 1.0 / schedule.chunks;
  for (const collective::Strand& strand : schedule.program(rank)) {
    const bool sends = strand.from_stride == 0 && strand.from == rank;
    std::vector<double>& into = sends ? loads.sent : loads.received;
    for (std::int64_t i = 0; i < strand.count; ++i) {
      const collective::Transfer move = collective::transfer(schedule, strand, i);
      const bool stays = layout.host(move.from) == layout.host(move.to);
      (stays ? loads.kept : into)[static_cast<std::size_t>(move.round)] += chunk * move.width;
    }
  }
}

std::int64_t transfers_of_rank(const collective::Schedule& schedule, int rank) {
  std::int64_t sum = 0;
  for (const collective::Strand& strand : schedule.program(rank)) sum += strand.count;
  return sum;
}

ByHost loads_of(const collective::Schedule& schedule, const workload::Training& training) {
  const bool many = transfers_of_rank(schedule, 0) > kManyTransfers;
  const collective::Layout& layout = training.arrangement.layout;
  std::set<int> hosts;
  for (const int rank : looked_at(training, many ? kFewRanks : kMostRanks)) {
    hosts.insert(layout.host(rank));
  }
  ByHost all;
  for (int rank = 0; rank < training.ranks(); ++rank) {
    const int host = layout.host(rank);
    if (!hosts.contains(host)) continue;
    HostLoads& loads = all[host];
    const auto rounds = static_cast<std::size_t>(schedule.rounds);
    loads.sent.resize(rounds);
    loads.received.resize(rounds);
    loads.kept.resize(rounds);
    add(schedule, training, rank, loads);
  }
  return all;
}

/// The same in both directions of all hosts that carry anything in a round.
bool is_even(const ByHost& loads, std::int64_t rounds) {
  for (std::size_t r = 0; r < static_cast<std::size_t>(rounds); ++r) {
    double least = 1e300, most = 0;
    for (const auto& [host, load] : loads) {
      for (const double part : {load.sent[r], load.received[r]}) {
        least = std::min(least, part);
        most = std::max(most, part);
      }
    }
    if (most - least > kSame * most) return false;
  }
  return true;
}

std::vector<EqualRounds> grouped(const ByHost& loads, std::int64_t rounds) {
  std::map<std::int64_t, std::int64_t> counts;  // by load in parts of a billion
  for (std::size_t r = 0; r < static_cast<std::size_t>(rounds); ++r) {
    double most = 0;
    for (const auto& [host, load] : loads) most = std::max({most, load.sent[r], load.received[r]});
    if (most > 0) ++counts[std::llround(most * 1e12)];
  }
  std::vector<EqualRounds> groups;
  for (const auto& [share, count] : counts) {
    groups.push_back({.share = static_cast<double>(share) * 1e-12, .count = count});
  }
  return groups;
}

/// Of what rounds that use the network move, the share that leaves its host.
double share_over_links(const ByHost& loads) {
  double left = 0, all = 0;
  for (const auto& [host, load] : loads) {
    for (std::size_t r = 0; r < load.kept.size(); ++r) {
      if (load.sent[r] == 0) continue;
      left += load.sent[r];
      all += load.sent[r] + load.kept[r] / 2;  // sender and receiver are both of this host
    }
  }
  return all > 0 ? left / all : 1;
}

/// What a connection can have under way, in segments.
double path_segments(const Line& line) {
  return line.bytes_per_s * line.round_trip_s / line.segment_bytes;
}

/// What one connection sends without having to wait for anybody, in segments: all of a ring's stream, or one message.
double sent_segments(const workload::Training& training, const Shape& shape, const Line& line) {
  const auto bytes = static_cast<double>(training.bytes().count());
  return (shape.early ? shape.busiest() / shape.streams : shape.chunk) * bytes / line.segment_bytes;
}

/// How long a connection has nothing to send: while ranks compute, and in rounds that are others'.
double idle_seconds(const workload::Training& training, const Shape& shape, const Line& line) {
  const double compute = seconds(training.compute.total());
  if (shape.early || shape.count() == 0) return compute;
  const auto bytes = static_cast<double>(training.bytes().count());
  const auto rounds = static_cast<double>(shape.count());
  return compute + (rounds - 1) / rounds * exchange_seconds(shape, bytes, line);
}

double timeout_seconds(const Line& line) { return fluid::kLeastTimeout_s + line.round_trip_s; }

/// What is lost until a window that a pause has closed holds the path again.
double restart_seconds(const workload::Training& training, const Line& line) {
  const double idle = seconds(training.compute.total());
  const double timeout = timeout_seconds(line);
  const double holds = path_segments(line);
  if (idle < timeout) return 0;
  double lost = 0;
  for (double window = fluid::window_after_idle(2 * holds, idle, timeout); window < holds;
       window *= 2) {
    lost += line.round_trip_s * (1 - window / holds);
  }
  return lost;
}

/// What windows may take to open again, at most, where a pause of more than a timeout has closed them. What
/// restart_seconds() tells is of those that filled the path before; short messages never open them that far.
double reopening_seconds(const workload::Training& training, const Shape& shape, const Line& line) {
  if (idle_seconds(training, shape, line) < timeout_seconds(line)) return 0;
  const double needed = std::min(sent_segments(training, shape, line), path_segments(line));
  double doublings = 0;
  for (double window = fluid::kInitialWindow; window < needed; window *= 2) ++doublings;
  return doublings * line.round_trip_s * (shape.early ? 1 : static_cast<double>(shape.count()));
}

/// A queue that holds so much takes what streams have under way while they look for their rate: several times what the path
/// holds, the windows that they begin with, and what slow start sends until it ends.
double deep_bytes(const Shape& shape, const Line& line) {
  const double begins = shape.streams * fluid::kInitialWindow * line.segment_bytes;
  const double sent = std::max(kSlowStartBytes, kSlowStartSegments * line.segment_bytes);
  const double until_slow_start_ends =
      std::min(shape.streams * sent, line.bytes_per_s * kSlowStart_s);
  return std::max({kDeep * line.bytes_per_s * line.round_trip_s, begins, until_slow_start_ends});
}

/// How far ranks of one host may be ahead of one another in a ring: one sends its last chunk while another computes already;
/// of two opposite rings each has to wait for the other's.
double skew_seconds(const workload::Training& training, const Shape& shape, const Line& line) {
  if (shape.hops == 1) return 0;
  const double round_bytes = shape.busiest() / static_cast<double>(shape.count()) *
                             static_cast<double>(training.bytes().count());
  const bool both_ways = shape.meet();
  const auto buckets = static_cast<double>(training.buckets.size());
  return round_bytes / line.bytes_per_s + (both_ways ? buckets * line.way_s : 0);
}

}  // namespace

bool Shape::meet() const { return streams > 1 + kSame; }

double Shape::busiest() const {
  double sum = 0;
  for (const EqualRounds& each : rounds) sum += each.share * static_cast<double>(each.count);
  return sum;
}

double Shape::largest() const {
  double most = 0;
  for (const EqualRounds& each : rounds) most = std::max(most, each.share);
  return most;
}

std::int64_t Shape::count() const {
  std::int64_t sum = 0;
  for (const EqualRounds& each : rounds) sum += each.count;
  return sum;
}

Shape shape_of(const workload::Training& training) {
  const collective::Schedule schedule = workload::step_schedule(training);
  const ByHost loads = loads_of(schedule, training);
  Shape shape{.rounds = grouped(loads, schedule.rounds),
              .chunk = 1.0 / std::max(1, schedule.chunks),
              .early = training.row().passing == collective::Passing::CutThrough};
  shape.depth = std::min(static_cast<double>(schedule.depth), static_cast<double>(shape.count()));
  // Where partners change from round to round, whoever is late makes others late, and more so.
  if (shape.early) shape.hops = share_over_links(loads);
  shape.streams = std::max(1.0, shape.largest() / shape.chunk);
  // Of more than two ranks that send to one each, partners change between two rounds as well.
  const bool in_two = schedule.rounds <= 2 && schedule.goal != collective::Goal::Broadcast &&
                      (shape.meet() || training.ranks() <= 2);
  // A rank in the middle: neither the root of a star nor a server.
  shape.messages = static_cast<double>(transfers_of_rank(schedule, training.ranks() > 2 ? 1 : 0)) *
                   training.ranks() / 2;
  shape.alike = is_even(loads, schedule.rounds);
  shape.even = in_two || (shape.early && shape.alike);
  return shape;
}

Line line_of(const spec::Network& network) {
  const double rate = network.link.rate->bits_per_second() / 8;
  const double delay = seconds(*network.link.delay);
  const int frame = *network.mtu + load::kEthernetHeader;
  const double serial = frame / rate;
  const double share = medium::payload_share(network);
  return {.bytes_per_s = share * rate,
          .way_s = 2 * delay + serial,
          .first_s = serial,
          .round_trip_s = 4 * delay + 2 * serial,
          .frame_bytes = frame,
          .segment_bytes = share * frame,
          .queue_bytes = static_cast<double>(spec::queue_bytes(network, network.link).count())};
}

Line line_of(const spec::Network& network, const spec::Job& job) {
  Line line = line_of(network);
  line.bbr = fluid::stack_of(*job.congestion_control) == fluid::Stack::Bbr;
  // BBR minds no marks, but packets that are dropped in their place.
  const bool drops = *network.ecn_action == spec::EarlyAction::Drop;
  const std::optional<Bytes> from = marked_from(network);
  if (from && (drops || !line.bbr)) line.marked_bytes = static_cast<double>(from->count());
  return line;
}

std::string asks_for_simulation(const spec::Experiment& experiment) {
  const spec::Network& network = experiment.network;
  if (experiment.jobs.size() != 1) return "there are several jobs";
  if (!experiment.traffic.empty()) return "there is cross traffic";
  if (!experiment.faults.empty()) return "there are faults";
  if (*network.topology != spec::Topology::Star) return "there is more than one switch";
  if (is_lossy(network)) return "links lose packets";
  if (!network.overrides.empty()) return "links differ";
  if (*network.link.jitter > Duration::zero()) return "delays vary";
  if (*network.socket_buffer) return "sockets limit what is under way";
  if (is_shallow(network)) return "queues are shallow";
  const spec::Job& job = experiment.jobs.front();
  if (medium::sending_of(network, job).manner == medium::Manner::Rdma) return "it is RDMA";
  if (sim::uses_groups(job)) return "switches sum or copy messages";
  return {};
}

std::string asks_for_simulation(const workload::Training& training) {
  if (training.asynchronous()) return "ranks do not wait for one another";
  if (training.row().draws_peers) return "peers are drawn";
  if (training.compute.jitter > 0) return "compute times vary";
  if (training.straggler >= 0 && training.straggler_factor != 1) return "a rank is late";
  if (training.forward_overlap) return "forward begins before the exchange has ended";
  if (training.connections > 1) return "there are several connections between two ranks";
  if (training.side_connections > 0) return "ranks agree over side connections";
  return {};
}

std::string asks_for_simulation(const workload::Training& training, const Shape& shape,
                                const Line& line) {
  if (!shape.even) return "the strategy loads links unevenly";
  if (marks_early(shape, line)) return "switches mark packets before streams find their rate";
  const double step_s = step_seconds(training, shape, line);
  if (reopening_seconds(training, shape, line) > kSmallPart * step_s) {
    return "windows close while ranks compute";
  }
  if (overflows(training, shape, line) && shape.messages <= kMostSimulated) {
    return "streams meet in queues that may overflow";
  }
  if (line.bbr && sent_segments(training, shape, line) < kFilled * path_segments(line)) {
    return "messages are too short for BBR to reach the line's rate";
  }
  if (skew_seconds(training, shape, line) > kSmallPart * step_s) {
    return "ranks of one host are ahead of one another";
  }
  return {};
}

bool overflows(const workload::Training& training, const Shape& shape, const Line& line) {
  if (!shape.meet()) return false;
  std::int64_t elements = 0;
  for (const workload::Bucket& bucket : training.buckets) {
    elements = std::max(elements, bucket.elements);
  }
  const auto bytes = static_cast<double>(elements * workload::kElementBytes);
  const double at_once = (shape.early ? shape.busiest() : shape.largest()) * bytes;
  return at_once > line.queue_bytes && line.queue_bytes < deep_bytes(shape, line);
}

bool marks_early(const Shape& shape, const Line& line) {
  return shape.meet() && marks_before_rates(shape, line);
}

bool marks_before_rates(const Shape& shape, const Line& line) {
  return line.marked_bytes < deep_bytes(shape, line);
}

double exchange_seconds(const Shape& shape, double bytes, const Line& line) {
  if (shape.rounds.empty() || bytes <= 0) return 0;
  const bool early =
      shape.early && shape.hops == 1 && bytes * shape.chunk > kPassedOnFrames * line.frame_bytes;
  double sum = 0;
  double last = 0;
  for (const EqualRounds& each : shape.rounds) {
    const double leaving = each.share * bytes / line.bytes_per_s;
    double round = leaving;
    if (early) round = std::max(leaving, line.first_s + line.way_s);
    if (shape.hops < 1) round = std::max(leaving, shape.hops * (leaving + line.way_s));
    sum += round * static_cast<double>(each.count);
    last = leaving - round;  // the last chunk's way is not behind its first bytes
  }
  if (early) return sum + last + line.way_s;
  return shape.hops < 1 ? sum : sum + shape.depth * line.way_s;
}

double step_seconds(const workload::Training& training, const Shape& shape, const Line& line) {
  const double forward = seconds(training.compute.forward);
  const double compute = seconds(training.compute.total());
  double now = training.overlap ? forward : compute;
  double lost = std::min(restart_seconds(training, line), reopening_seconds(training, shape, line));
  for (const workload::Bucket& bucket : training.buckets) {
    if (training.overlap) now = std::max(now, forward + seconds(bucket.ready));
    const double bytes = static_cast<double>(bucket.elements * workload::kElementBytes);
    const double exchange = exchange_seconds(shape, bytes, line);
    now += exchange + (exchange > 0 ? lost : 0);
    lost = 0;
  }
  return std::max(now, compute);
}

}  // namespace tw::forecast
