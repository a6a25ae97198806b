// SPDX-License-Identifier: Apache-2.0
#include "trainwire/trainer/parts.h"

#include "trainwire/base/error.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace tw::trainer {
namespace {

using collective::Transfer;

int wire_to(std::span<const Wire> wires, int peer, int lane) {
  const auto at = std::find_if(wires.begin(), wires.end(), [&](const Wire& wire) {
    return wire.peer == peer && wire.lane == lane;
  });
  check(at != wires.end(), "there is a wire to every peer");
  return static_cast<int>(at - wires.begin());
}

/// Two parts may not be swapped when they share bytes and one of them writes.
bool conflict(const Part& a, const Part& b) {
  return a.begin < b.end && b.begin < a.end && !(a.sends && b.sends);
}

class Maker {
 public:
  explicit Maker(const PartsRequest& request) : request_(request) {
    parts_.passing = request.passing;
    parts_.sends.resize(request.wires.size());
    parts_.receives.resize(request.wires.size());
  }

  Parts make() && {
    for (const Transfer& transfer : transfers_of(request_.schedule, request_.rank)) {
      if (transfer.round != round_) {
        round_ = transfer.round;
        round_begin_ = parts_.parts.size();
        sent_.clear();
      }
      add(transfer);
    }
    return std::move(parts_);
  }

 private:
  void add(const Transfer& t) {
    const collective::Range range = range_of(request_.schedule, t, request_.elements);
    const bool sends = t.from == request_.rank;
    for (int lane = 0; lane < request_.lanes; ++lane) {
      const auto share = [&](int i) {
        return kElementBytes * (request_.first_element + range.first +
                                collective::chunk_begin(range.elements, request_.lanes, i));
      };
      add({.connection = wire_to(request_.wires, sends ? t.to : t.from, lane),
           .sends = sends,
           .combine = t.combine,
           .begin = share(lane),
           .end = share(lane + 1),
           .position = share(lane)});
    }
  }

  void add(Part part) {
    for (std::size_t i = 0; i < round_begin_; ++i) {
      if (conflict(parts_.parts[i], part)) part.after.push_back(static_cast<int>(i));
    }
    const int number = static_cast<int>(parts_.parts.size());
    auto& queue = part.sends ? parts_.sends : parts_.receives;
    queue[static_cast<std::size_t>(part.connection)].push_back(number);
    if (part.begin != part.end) set_exchanged(part, number);
    parts_.parts.push_back(std::move(part));
  }

  /// Sends come before receives within a round.
  void set_exchanged(Part& part, int number) {
    const std::tuple place(part.connection, part.begin, part.end);
    if (part.sends) {
      sent_.emplace(place, number);
    } else if (const auto sent = sent_.find(place); sent != sent_.end()) {
      check(request_.passing == Passing::Whole, "exchanged chunks pass as wholes");
      part.exchanged = sent->second;
    }
  }

  const PartsRequest& request_;
  Parts parts_;
  std::map<std::tuple<int, std::int64_t, std::int64_t>, int> sent_ = {};  ///< in this round
  std::int64_t round_ = -1;
  std::size_t round_begin_ = 0;
};

}  // namespace

void Parts::rewind() {
  for (Part& part : parts) part.position = part.begin;
}

Parts make_parts(const PartsRequest& request) { return Maker(request).make(); }

std::vector<int> peers_of(const collective::Schedule& schedule, int rank) {
  std::set<int> peers;
  for (const Transfer& transfer : transfers_of(schedule, rank)) {
    peers.insert(transfer.from == rank ? transfer.to : transfer.from);
  }
  return {peers.begin(), peers.end()};
}

std::int64_t limit_of(const Parts& parts, const Part& part) {
  std::int64_t limit = part.end;
  for (const int i : part.after) {
    const Part& earlier = parts.parts[static_cast<std::size_t>(i)];
    if (earlier.finished()) continue;
    if (parts.passing == Passing::Whole) return part.position;
    // What lies before the earlier part's range does not wait for it.
    limit = std::min(limit, earlier.position);
  }
  return std::max(limit, part.position);
}

}  // namespace tw::trainer
