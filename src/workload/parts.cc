// SPDX-License-Identifier: Apache-2.0
#include "trainwire/workload/parts.h"

#include "trainwire/base/error.h"
#include "trainwire/collective/cursor.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

namespace tw::workload {
namespace {

using collective::Passing;
using collective::Transfer;

class Maker {
 public:
  explicit Maker(const PartsRequest& request) : request_(request) {
    parts_.bucket = request.bucket;
    parts_.passing = request.passing;
    parts_.order = order_of(request.schedule, request.rank);
    parts_.sends.resize(request.wires.size());
    parts_.receives.resize(request.wires.size());
    for (std::size_t i = 0; i < request.wires.size(); ++i) {
      wires_[{request.wires[i].peer, request.wires[i].lane}] = static_cast<int>(i);
    }
  }

  Parts make() && {
    const int transfers = static_cast<int>(parts_.order.transfers.size());
    for (int i = 0; i < transfers; ++i) add(i);
    set_exchanged();
    for (const std::vector<int>& members : parts_.order.gates) {
      Parts::Gate& gate = parts_.gates.emplace_back();
      for (const int transfer : members) {
        for (int lane = 0; lane < request_.lanes; ++lane) {
          gate.parts.push_back(transfer * request_.lanes + lane);
        }
      }
    }
    parts_.order.gate = {};
    parts_.order.gates = {};
    return std::move(parts_);
  }

 private:
  void add(int number) {
    const Transfer& t = parts_.order.transfers[static_cast<std::size_t>(number)];
    const Range range = range_of(request_.schedule, t, request_.range.elements);
    const bool sends = t.from == request_.rank;
    for (int lane = 0; lane < request_.lanes; ++lane) {
      const auto share = [&](int i) {
        return kElementBytes * (request_.range.first + range.first +
                                collective::chunk_begin(range.elements, request_.lanes, i));
      };
      const auto wire = wires_.find({sends ? t.to : t.from, lane});
      check(wire != wires_.end(), "there is a wire to every peer");
      auto& queues = sends ? parts_.sends : parts_.receives;
      queues[static_cast<std::size_t>(wire->second)].push_back(
          static_cast<int>(parts_.parts.size()));
      parts_.parts.push_back({.transfer = number,
                              .connection = wire->second,
                              .sends = sends,
                              .combine = t.combine,
                              .gate = parts_.order.gate[static_cast<std::size_t>(number)],
                              .begin = share(lane),
                              .end = share(lane + 1),
                              .position = share(lane)});
    }
  }

  /// Sends come before receives within a round.
  void set_exchanged() {
    std::map<std::tuple<std::int64_t, int, std::int64_t, std::int64_t>, int> sent;
    for (std::size_t i = 0; i < parts_.parts.size(); ++i) {
      Part& part = parts_.parts[i];
      if (part.begin == part.end) continue;
      const std::int64_t round = parts_.transfer(part).round;
      if (!sent.empty() && std::get<0>(sent.begin()->first) != round) sent.clear();
      const std::tuple place(round, part.connection, part.begin, part.end);
      if (part.sends) {
        sent.emplace(place, static_cast<int>(i));
      } else if (const auto other = sent.find(place); other != sent.end()) {
        check(request_.passing == Passing::Whole, "exchanged chunks pass as wholes");
        part.exchanged = other->second;
      }
    }
  }

  const PartsRequest& request_;
  std::map<std::pair<int, int>, int> wires_;
  Parts parts_;
};

void add_peers(const collective::Schedule& schedule, int rank, std::set<int>& peers) {
  for (collective::Cursor cursor(schedule, rank); !cursor.done(); cursor.advance()) {
    peers.insert(cursor.peer());
  }
}

}  // namespace

void Parts::rewind() {
  for (Part& part : parts) part.position = part.begin;
  for (Gate& gate : gates) gate.passed = 0;
}

std::int64_t Parts::limit(const Part& part) {
  if (part.gate < 0) return part.end;
  Gate& gate = gates[static_cast<std::size_t>(part.gate)];
  const auto at = [&](std::size_t i) -> const Part& {
    return parts[static_cast<std::size_t>(gate.parts[i])];
  };
  while (gate.passed < gate.parts.size() && at(gate.passed).finished()) ++gate.passed;
  std::int64_t limit = part.end;
  for (std::size_t i = gate.passed; i < gate.parts.size(); ++i) {
    const Part& earlier = at(i);
    // Lanes that share none of its bytes are nothing to it.
    if (earlier.finished() || earlier.begin >= part.end || part.begin >= earlier.end) continue;
    if (passing == Passing::Whole) return part.position;
    // What lies before the earlier part's range does not wait for it.
    limit = std::min(limit, earlier.position);
  }
  return std::max(limit, part.position);
}

std::span<const int> Parts::pending(const Part& part) {
  if (part.gate < 0) return {};
  Gate& gate = gates[static_cast<std::size_t>(part.gate)];
  const auto ended = [&](int number) { return parts[static_cast<std::size_t>(number)].finished(); };
  while (gate.passed < gate.parts.size() && ended(gate.parts[gate.passed])) ++gate.passed;
  return std::span<const int>(gate.parts).subspan(gate.passed);
}

int Parts::blocker(const Part& part) {
  for (const int number : pending(part)) {
    const Part& earlier = parts[static_cast<std::size_t>(number)];
    // Lanes that share none of its bytes are nothing to it.
    if (!earlier.finished() && earlier.begin < part.end && part.begin < earlier.end) return number;
  }
  return -1;
}

Parts make_parts(const PartsRequest& request) { return Maker(request).make(); }

Exchanges exchanges_of(const Training& training) {
  Exchanges made{.step = step_schedule(training), .start = {}};
  if (!start_buckets(training).empty()) made.start = start_schedule(training);
  return made;
}

Parts step_parts(const Training& training, const Exchanges& exchanges, int rank, int bucket,
                 std::span<const Wire> wires) {
  return make_parts({.schedule = exchanges.step,
                     .rank = rank,
                     .bucket = bucket,
                     .range = training.range(bucket),
                     .wires = wires,
                     .lanes = training.connections,
                     .passing = training.row().passing});
}

Parts step_parts(const Training& training, int rank, int bucket, std::span<const Wire> wires) {
  return step_parts(training, {.step = step_schedule(training), .start = {}}, rank, bucket, wires);
}

Parts start_parts(const Training& training, const Exchanges& exchanges, int rank, int bucket,
                  std::span<const Wire> wires) {
  return make_parts({.schedule = *exchanges.start,
                     .rank = rank,
                     .bucket = bucket,
                     .range = training.range(bucket),
                     .wires = wires,
                     .lanes = training.connections,
                     .passing = Passing::CutThrough});
}

Parts start_parts(const Training& training, int rank, int bucket, std::span<const Wire> wires) {
  return start_parts(training, exchanges_of(training), rank, bucket, wires);
}

std::vector<int> peers_of(const Exchanges& exchanges, int rank) {
  std::set<int> peers;
  add_peers(exchanges.step, rank, peers);
  if (exchanges.start) add_peers(*exchanges.start, rank, peers);
  return {peers.begin(), peers.end()};
}

std::vector<int> peers_of(const Training& training, int rank) {
  if (training.row().draws_peers) {
    std::vector<int> all(static_cast<std::size_t>(training.ranks()));
    std::iota(all.begin(), all.end(), 0);
    std::erase(all, rank);
    return all;
  }
  return peers_of(exchanges_of(training), rank);
}

}  // namespace tw::workload
