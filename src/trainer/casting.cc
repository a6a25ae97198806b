// SPDX-License-Identifier: Apache-2.0
// What a rank is connected by, and its casts: see loop.h.
#include "trainwire/base/error.h"
#include "trainwire/carrier/local.h"
#include "trainwire/multicast/address.h"
#include "trainwire/trainer/loop.h"
#include "trainwire/trainer/side_talk.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

namespace tw::trainer {
namespace {

/// Every group of ranks has a token of its own, so datagrams of the one before are strangers.
multicast::Options options_of(const Task& task) {
  std::uint64_t secret = 0;
  static_assert(sizeof secret <= sizeof(transport::tcp::Token));
  std::memcpy(&secret, task.token.data(), sizeof secret);
  return {.address = task.address,
          .secret = secret,
          .job = task.casting.job,
          .payload_bytes = task.casting.payload_bytes,
          .window = task.casting.window,
          .ahead = task.casting.ahead,
          .round_trip = task.casting.round_trip};
}

}  // namespace

Casts::Casts(const Task& task) : task_(task) {
  const std::vector<workload::Cast> all = casts_of(task.training, exchanges_of(task.training));
  std::vector<multicast::Seat> seats;
  for (int number = 0; number < static_cast<int>(all.size()); ++number) {
    const workload::Cast& cast = all[static_cast<std::size_t>(number)];
    const auto place = std::ranges::find(cast.members, task.rank);
    const bool is_hub = cast.hub == task.rank;
    if (!is_hub && place == cast.members.end()) continue;
    auto [near, far] = carrier::make_stream();
    own_.push_back({.cast = cast, .number = number});
    connections_.push_back({.peer = is_hub ? cast.members.front() : cast.hub,
                            .lane = workload::kFirstCastLane + number,
                            .socket = std::move(near)});
    seats.push_back(
        {.group = number,
         .members = static_cast<int>(cast.members.size()),
         .place = is_hub ? multicast::Seat::kHub : static_cast<int>(place - cast.members.begin()),
         .stream = std::move(far)});
  }
  multicast_.emplace(options_of(task), std::move(seats));
}

std::vector<transport::tcp::Connection> Casts::take_connections() {
  return std::exchange(connections_, {});
}

nlohmann::json Casts::told(int lane, std::int64_t sent) {
  multicast_->stop();
  const auto own = std::ranges::find(own_, lane - workload::kFirstCastLane, &Own::number);
  check(own != own_.end(), "the rank is in the cast");
  const multicast::Count count = multicast_->counts()[static_cast<std::size_t>(own - own_.begin())];
  const bool is_hub = own->cast.hub == task_.rank;
  return {
      {"hub", own->cast.hub},
      {"members", own->cast.members},
      {"address", multicast::group_endpoint(task_.address, task_.casting.job, own->number).address},
      {"sent", is_hub ? sent : 0},
      {"datagram_bytes", count.datagram_bytes},
      {"packets", count.packets},
      {"resent", count.resent}};
}

int lanes_of(const Task& task) {
  return task.training.row().draws_peers ? 2 : task.training.connections;
}

RankConnections sorted_out(std::vector<transport::tcp::Connection> all) {
  RankConnections sorted;
  for (transport::tcp::Connection& connection : all) {
    auto& kind = connection.lane < kFirstSideLane ? sorted.gradient : sorted.side;
    kind.push_back(std::move(connection));
  }
  return sorted;
}

}  // namespace tw::trainer
