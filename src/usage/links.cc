// SPDX-License-Identifier: Apache-2.0
#include "trainwire/usage/links.h"

#include "trainwire/base/error.h"

#include <algorithm>
#include <array>

namespace tw::usage {
namespace {

using network::NetPlan;
using network::Port;
using testbed::PathCheck;
using watch::LinkSample;
using watch::PortCounts;

std::string direction_name(const Port& port) {
  return port.direction == spec::Direction::FromHost ? "from_host" : "to_host";
}

std::string fitness_name(testbed::Fitness fitness) {
  constexpr std::array<const char*, 3> kNames{"ok", "warn", "refused"};
  return kNames[static_cast<std::size_t>(fitness)];
}

/// Paths that were measured over a port: the first that it limits, and the first at all.
struct Measured {
  const PathCheck* limited = nullptr;
  const PathCheck* crossing = nullptr;
};

Measured measured_over(const NetPlan& plan, int port, const std::vector<PathCheck>& checks) {
  Measured measured;
  for (const PathCheck& check : checks) {
    const std::vector<int> path = plan.path(check.path.from, check.path.to);
    if (std::find(path.begin(), path.end(), port) == path.end()) continue;
    if (measured.crossing == nullptr) measured.crossing = &check;
    if (check.expected.rate != plan.ports[static_cast<std::size_t>(port)].rate) continue;
    measured.limited = measured.crossing = &check;
    break;
  }
  return measured;
}

record::RequestedLink requested(const Port& port) {
  record::RequestedLink link{.rate_bps = port.rate.bits_per_second(),
                             .delay_s = seconds(port.delay),
                             .jitter_s = seconds(port.jitter),
                             .loss = port.loss,
                             .loss_burst = port.loss_burst,
                             .queue_bytes = port.queue.count()};
  if (port.ecn) link.ecn_bytes = port.ecn->count();
  return link;
}

record::Link link_of(const NetPlan& plan, int number, const std::vector<PathCheck>& checks) {
  const Port& port = plan.ports[static_cast<std::size_t>(number)];
  record::Link link{
      .name = port.link, .direction = direction_name(port), .requested = requested(port)};
  const Measured measured = measured_over(plan, number, checks);
  if (measured.crossing == nullptr) return link;
  const PathCheck& check = *measured.crossing;
  link.effective = record::EffectiveLink{
      .path = {node_name(plan, check.path.from), node_name(plan, check.path.to)},
      .path_round_trip_s = seconds(check.found.round_trip.median),
      .path_loss = check.found.loss.share()};
  if (measured.limited != nullptr) {
    link.effective->rate_bps = measured.limited->found.rate.carried.bits_per_second();
  }
  return link;
}

record::Path path_of(const NetPlan& plan, const PathCheck& check) {
  const measure::ShareInterval interval = check.found.loss.interval();
  return {.from = node_name(plan, check.path.from),
          .to = node_name(plan, check.path.to),
          .fitness = fitness_name(check.fitness),
          .requested = {.rate_bps = check.expected.rate.bits_per_second(),
                        .round_trip_s = seconds(check.expected.round_trip),
                        .loss = check.expected.loss},
          .effective = {.rate_bps = check.found.rate.carried.bits_per_second(),
                        .round_trip_s = seconds(check.found.round_trip.median),
                        .round_trip_p99_s = seconds(check.found.round_trip.p99),
                        .loss = check.found.loss.share(),
                        .loss_ci_low = interval.low,
                        .loss_ci_high = interval.high,
                        .loss_packets = check.found.loss.sent},
          .problems = check.problems};
}

record::CountedLink counted(const PortCounts& whole, double rate_bps, double capacity_bps) {
  const auto number = [](std::uint64_t count) { return static_cast<std::int64_t>(count); };
  return {.packets = number(whole.packets),
          .bytes = number(whole.bytes),
          .dropped_packets = number(whole.dropped),
          .lost_packets = number(whole.lost),
          .marked_packets = number(whole.marked),
          .queue_peak_bytes = number(whole.queue_bytes),
          .rate_bps = rate_bps,
          .share = capacity_bps > 0 ? rate_bps / capacity_bps : 0};
}

/// First and last sample of a span; null when there are not two.
struct Ends {
  const LinkSample* first = nullptr;
  const LinkSample* last = nullptr;
};

Ends ends_of(const std::vector<LinkSample>& samples, TimeSpan span) {
  const auto at = [&](std::int64_t time) {
    return std::lower_bound(samples.begin(), samples.end(), time,
                            [](const auto& sample, std::int64_t t) { return sample.time_ns < t; });
  };
  const auto first = at(span.begin_ns);
  auto last = at(span.end_ns);
  if (last == samples.end() && !samples.empty()) --last;
  if (first >= last) return {};
  return {.first = &*first, .last = &*last};
}

double rate_between(const Ends& ends, std::size_t port) {
  if (ends.first == nullptr) return 0;
  const double seconds = 1e-9 * static_cast<double>(ends.last->time_ns - ends.first->time_ns);
  const std::uint64_t bytes = ends.last->ports[port].bytes - ends.first->ports[port].bytes;
  return 8 * static_cast<double>(bytes) / seconds;
}

/// Whether link `link` of sample `i` says nothing that its neighbours do not say.
bool is_idle(const std::vector<LinkSample>& samples, std::size_t i, std::size_t link) {
  if (i == 0 || i + 1 == samples.size()) return false;
  for (const std::size_t port : {2 * link, 2 * link + 1}) {
    const PortCounts& now = samples[i].ports[port];
    if (now != samples[i - 1].ports[port] || now != samples[i + 1].ports[port]) return false;
  }
  return true;
}

}  // namespace

std::string node_name(const NetPlan& plan, int node) {
  const auto hosts = static_cast<int>(plan.hosts.size());
  return node < hosts ? plan.hosts[static_cast<std::size_t>(node)].name
                      : plan.switches[static_cast<std::size_t>(node - hosts)];
}

record::Network described(const NetPlan& plan, const std::vector<PathCheck>& checks) {
  record::Network network;
  for (int i = 0; i < static_cast<int>(plan.ports.size()); ++i) {
    network.links.push_back(link_of(plan, i, checks));
  }
  for (const PathCheck& check : checks) network.paths.push_back(path_of(plan, check));
  return network;
}

void count(record::Network& network, const NetPlan& plan, const watch::WatchRecord& record,
           TimeSpan span) {
  const std::vector<PortCounts> whole = watch::ports_over(record);
  if (whole.empty()) return;
  check(whole.size() == plan.ports.size() && network.links.size() == plan.ports.size(),
        "every port was counted");
  const Ends ends = ends_of(record.links, span);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    network.links[i].counted =
        counted(whole[i], rate_between(ends, i), plan.ports[i].rate.bits_per_second());
  }
}

std::optional<record::Utilisation> busiest(const record::Network& network) {
  const record::Link* most = nullptr;
  for (const record::Link& link : network.links) {
    if (!link.counted || link.counted->rate_bps <= 0) continue;
    if (most == nullptr || link.counted->share > most->counted->share) most = &link;
  }
  if (most == nullptr) return {};
  return record::Utilisation{.link = most->name,
                             .direction = most->direction,
                             .share = most->counted->share,
                             .rate_bps = most->counted->rate_bps};
}

void write_links(const record::Network& network, result::TableFile& table) {
  for (const record::Link& link : network.links) {
    const record::CountedLink counted = link.counted.value_or(record::CountedLink{});
    const bool measured = link.effective && link.effective->rate_bps;
    table.row({link.name, link.direction, link.requested.rate_bps,
               measured ? result::Cell(*link.effective->rate_bps) : result::Cell(), counted.packets,
               counted.bytes, counted.dropped_packets, counted.lost_packets, counted.marked_packets,
               counted.queue_peak_bytes});
  }
}

void write_samples(const watch::WatchRecord& record, const NetPlan& plan,
                   result::TableFile& table) {
  const std::vector<LinkSample>& samples = record.links;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    for (std::size_t link = 0; 2 * link < samples[i].ports.size(); ++link) {
      if (is_idle(samples, i, link)) continue;
      const PortCounts& up = samples[i].ports[2 * link];
      const PortCounts& down = samples[i].ports[2 * link + 1];
      table.row({samples[i].time_ns, plan.ports[2 * link].link, up.bytes, down.bytes,
                 up.queue_bytes, up.dropped, down.queue_bytes, down.dropped});
    }
  }
}

}  // namespace tw::usage
