// SPDX-License-Identifier: Apache-2.0
#include "trainwire/recognise/no_training.h"

#include "trainwire/recognise/likelihood.h"
#include "trainwire/rhythm/drive.h"
#include "trainwire/rhythm/lockstep.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace tw::recognise {
namespace {

constexpr double kMostly = 0.5;  ///< of the steps
constexpr double kCertain = 20;  ///< nats: more are no surer

double log_odds(double probability) { return std::log(probability / (1 - probability)); }

/// Whether nothing speaks for training but that it repeats: also where all send each other the
/// same, as members of any group do, and nobody waits for what the others send.
bool is_any_kind(const std::optional<Recognition>& found) {
  return !found || (is_dense(*found) && !found->waits);
}

/// Whether a server sends somebody everything before another has begun to send to it, mostly.
bool answers_at_once(const rhythm::Steps& exchanges, const std::vector<int>& servers) {
  return std::any_of(servers.begin(), servers.end(), [&](int server) {
    std::vector<bool> own;
    for (const rhythm::Lane& lane : exchanges.lanes) {
      own.push_back(lane.from == server || lane.to == server);
    }
    return rhythm::early_share(rhythm::only(exchanges, own)) > kMostly;
  });
}

/// Whether one host is in all of it: clients of a server, and a client of several.
bool has_hub(const rhythm::Steps& exchanges) {
  const std::vector<int> hosts = rhythm::hosts_of(exchanges);
  return std::any_of(hosts.begin(), hosts.end(), [&](int host) {
    return std::all_of(
        exchanges.lanes.begin(), exchanges.lanes.end(),
        [&](const rhythm::Lane& lane) { return lane.from == host || lane.to == host; });
  });
}

double prior(const rhythm::Steps& exchanges, const std::optional<Recognition>& found) {
  if (is_any_kind(found) || answers_at_once(exchanges, found->servers)) {
    return log_odds(kAssumed.any_kind);
  }
  return log_odds(has_hub(exchanges) ? kAssumed.service : kAssumed.by_chance);
}

/// What the times at which hosts begin tell for a clock or a wish over work, of which sleep is no
/// different. Where hosts wait for one another inside a step, no clock makes them do so: it is asked of what
/// shows no such waiting, and of clients around one host.
struct Driven {
  double nats = 0;
  bool by_clock = false;
};

Driven driven(const rhythm::Steps& exchanges, bool may_be_clocked) {
  const rhythm::Drive drive = rhythm::drive_of(exchanges);
  // Each pause is drawn anew: no error of the capture makes them alike.
  const auto all = [&](double nats) {
    return std::min(static_cast<double>(drive.observations) * (nats - drive.work), kCertain);
  };
  const double demand = all(drive.demand);
  const double clock = all(drive.clock);
  const double by_clock = may_be_clocked ? std::exp(clock) : 0;
  const double sleep = 1 - kAssumed.by_demand - kAssumed.by_clock;
  return {.nats = std::log(sleep + kAssumed.by_demand * std::exp(demand) +
                           kAssumed.by_clock * by_clock),
          .by_clock = by_clock > std::exp(demand)};
}

/// The same of the order in which hosts send to several.
double disordered(const rhythm::Steps& exchanges, const std::optional<Recognition>& found) {
  const rhythm::Order order =
      rhythm::order_of(exchanges, found ? found->servers : std::vector<int>{});
  const double any = std::min(-order.nats * static_cast<double>(order.observations), kCertain);
  return std::log(1 - kAssumed.in_any_order + kAssumed.in_any_order * std::exp(any));
}

double host_bytes(const rhythm::Steps& exchanges) {
  double sum = 0;
  for (const rhythm::Lane& lane : exchanges.lanes) sum += static_cast<double>(lane.bytes);
  return sum / static_cast<double>(rhythm::hosts_of(exchanges).size());
}

}  // namespace

bool is_small(double bytes_of_host) { return bytes_of_host < kAssumed.smallest_step; }

Doubt no_training(const rhythm::Steps& exchanges, const std::optional<Recognition>& found,
                  bool is_one_side) {
  const bool may_be_clocked = is_any_kind(found) || has_hub(exchanges);
  const Driven beginnings = driven(exchanges, may_be_clocked && !is_one_side);
  const double disorder = disordered(exchanges, found);
  double nats = prior(exchanges, found) + beginnings.nats + disorder;
  const bool is_little = is_small(host_bytes(exchanges));
  if (is_little) nats += log_odds(1 - kAssumed.small_steps);
  const char* const why =
      beginnings.nats > 0 && beginnings.by_clock
          ? "it keeps to a clock, where a step of a job begins when the one before has ended"
      : beginnings.nats > 0 ? "it begins at any time, where a rank begins when it has computed"
      : disorder > 0
          ? "it goes to one and to another in any order, where a rank keeps to its program"
      : is_little ? "each host sends hardly more than a few packets at a time"
                  : "some are answered before others have begun, as a service does it";
  return {.probability = 1 / (1 + std::exp(-nats)),
          .why = why,
          .begins_otherwise = beginnings.nats > 0};
}

}  // namespace tw::recognise
