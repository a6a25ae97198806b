// SPDX-License-Identifier: Apache-2.0
#include "trainwire/like/network.h"

#include "trainwire/result/table_reader.h"
#include "trainwire/stats/estimate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

namespace tw::like {
namespace {

constexpr std::size_t kEnough = 10;  ///< samples with a queue, to speak of a full link
constexpr double kFull = 0.8;        ///< of the rate asked for
constexpr double kMostFull = 0.9;    ///< quantile of those samples: others had a queue for a moment
constexpr double kTcpHeaders = 52;  ///< bytes of a packet that are no payload: IPv4, TCP, timestamp

/// What a link's counters said last, and its rates while its queue was not empty.
struct Sampled {
  std::optional<std::int64_t> time_ns = {};
  std::int64_t bytes = 0;
  std::int64_t queue = 0;
  std::vector<double> full_bps = {};

  void take(std::int64_t now_ns, std::int64_t now_bytes, std::int64_t now_queue) {
    const bool was_full = time_ns && queue > 0 && now_queue > 0 && now_ns > *time_ns;
    if (was_full && now_bytes > bytes) {
      full_bps.push_back(8e9 * static_cast<double>(now_bytes - bytes) /
                         static_cast<double>(now_ns - *time_ns));
    }
    time_ns = now_ns;
    bytes = now_bytes;
    queue = now_queue;
  }
};
using Ports = std::map<std::pair<std::string, std::string>, Sampled>;  ///< by link and direction

Ports sampled_in(std::istream& file) {
  Ports ports;
  result::TableReader table(file);
  const auto time = table.column("time_ns");
  const auto link = table.column("host");
  const auto sent = table.column("sent_bytes");
  const auto received = table.column("received_bytes");
  const auto queue = table.column("queue_bytes");
  const auto receiving = table.column("receiving_queue_bytes");
  while (table.next()) {
    const auto at = table.time_ns(time);
    if (!at) continue;
    const std::string name(table.text(link));
    const auto number = [&](auto column) { return table.integer(column).value_or(0); };
    ports[{name, "from_host"}].take(*at, number(sent), number(queue));
    ports[{name, "to_host"}].take(*at, number(received), number(receiving));
  }
  return ports;
}

Constant constant_of(std::string name, const stats::Estimate& estimate, std::string unit,
                     std::string from) {
  return {.name = std::move(name),
          .value = estimate.value,
          .low = estimate.low,
          .high = estimate.high,
          .unit = std::move(unit),
          .from = std::move(from)};
}

void tell_rates(Fitted& fitted, const record::Run& run, const std::string& folder) {
  const std::string path = folder + "/samples.csv";
  std::ifstream file = result::open_table(path);
  if (!file.is_open()) return;
  const Ports ports = sampled_in(file);
  result::require_read(file, path);
  for (const record::Link& link : run.network.links) {
    const auto found = ports.find({link.name, link.direction});
    if (found == ports.end() || found->second.full_bps.size() < kEnough) continue;
    const auto rate = stats::quantile_estimate(found->second.full_bps, kMostFull);
    if (rate.value < kFull * link.requested.rate_bps) continue;
    fitted.constants.push_back(
        constant_of(fmt::format("rate of {} {}", link.name, link.direction), rate, "bit/s",
                    fmt::format("{} samples with a queue, {:.0f} % of the rate asked for", rate.n,
                                100 * rate.value / std::max(1.0, link.requested.rate_bps))));
  }
}

void tell_idle_round_trip(Fitted& fitted, const record::Run& run) {
  std::vector<double> round_trips;
  for (const record::Path& path : run.network.paths) {
    if (path.effective.round_trip_s > 0) round_trips.push_back(path.effective.round_trip_s);
  }
  if (round_trips.empty()) return;
  fitted.constants.push_back(
      constant_of("round trip, idle", stats::median_estimate(round_trips), "s",
                  fmt::format("{} paths measured before the run", round_trips.size())));
}

/// What TCP told of its connections.
struct Sockets {
  std::vector<double> round_trips_s = {};
  /// So far, by job, rank, peer and lane.
  std::map<std::tuple<std::string, std::int64_t, std::int64_t, std::int64_t>, std::int64_t> again =
      {};
};

Sockets sockets_in(std::istream& file) {
  Sockets sockets;
  result::TableReader table(file);
  const auto job = table.column("job");
  const auto rank = table.column("rank");
  const auto peer = table.column("peer");
  const auto lane = table.column("lane");
  const auto rtt = table.column("rtt_ns");
  const auto again = table.column("retransmitted_packets");
  const auto queued = table.column("queued_bytes");
  while (table.next()) {
    const auto number = [&](auto column) { return table.integer(column).value_or(0); };
    if (number(rtt) > 0 && number(queued) > 0) {
      sockets.round_trips_s.push_back(1e-9 * static_cast<double>(number(rtt)));
    }
    std::int64_t& most =
        sockets.again[{std::string(table.text(job)), number(rank), number(peer), number(lane)}];
    most = std::max(most, number(again));
  }
  return sockets;
}

/// Payload that all jobs have sent, warm-up and first models included.
double sent_bytes(const spec::Experiment& experiment, const record::Run& run) {
  double sum = 0;
  for (const record::Job& job : run.jobs) {
    for (const spec::Job& asked : experiment.jobs) {
      if (*asked.name != job.name) continue;
      sum += job.step_sent_bytes * static_cast<double>(*asked.steps + *asked.warmup);
    }
  }
  return sum;
}

void tell_sockets(Fitted& fitted, const record::Run& run, const std::string& folder) {
  const std::string path = folder + "/sockets.csv";
  std::ifstream file = result::open_table(path);
  if (!file.is_open()) return;
  const Sockets sockets = sockets_in(file);
  result::require_read(file, path);
  if (!sockets.round_trips_s.empty()) {
    fitted.constants.push_back(
        constant_of("round trip, loaded", stats::median_estimate(sockets.round_trips_s), "s",
                    fmt::format("{} samples of TCP's own while it had something to send",
                                sockets.round_trips_s.size())));
  }
  const double packets = sent_bytes(fitted.experiment, run) /
                         (static_cast<double>(*fitted.experiment.network.mtu) - kTcpHeaders);
  if (packets <= 0 || sockets.again.empty()) return;
  double again = 0;
  for (const auto& [connection, count] : sockets.again) again += static_cast<double>(count);
  // Losses come one by one, so a count of n is within 2 sqrt(n), and none at all says below 3.
  const double error = std::max(2 * std::sqrt(again), 3.0);
  fitted.constants.push_back({.name = "share sent again",
                              .value = again / packets,
                              .low = std::max(0.0, again - error) / packets,
                              .high = (again + error) / packets,
                              .from = fmt::format("{:.0f} packets that TCP sent again", again)});
}

}  // namespace

void tell_network(Fitted& fitted, const record::Run& run, const std::string& folder) {
  tell_idle_round_trip(fitted, run);
  if (folder.empty()) return;
  tell_rates(fitted, run, folder);
  tell_sockets(fitted, run, folder);
}

}  // namespace tw::like
