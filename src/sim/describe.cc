// SPDX-License-Identifier: Apache-2.0
#include "trainwire/sim/describe.h"

#include "trainwire/record/json.h"
#include "trainwire/sim/describe_faults.h"
#include "trainwire/sim/describe_traffic.h"
#include "trainwire/spec/links.h"
#include "trainwire/spec/print.h"
#include "trainwire/stats/quantile.h"
#include "trainwire/steps/figures.h"
#include "trainwire/usage/links.h"
#include "trainwire/workload/volume.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <string_view>
#include <utility>

namespace tw::sim {
namespace {

/// A record stays small: above these it tells of some.
constexpr std::ptrdiff_t kAllPorts = 512;
constexpr int kAllRanks = 1024;

record::PhaseRow phase_row(int rank, std::int64_t step, record::Phase phase, Duration begin,
                           Duration end) {
  return {
      .rank = rank, .step = step, .phase = phase, .start_ns = begin.count(), .end_ns = end.count()};
}

record::RequestedLink requested(const network::Request& request) {
  record::RequestedLink link{.rate_bps = request.rate.bits_per_second(),
                             .delay_s = seconds(request.delay),
                             .jitter_s = seconds(request.jitter),
                             .loss = request.loss,
                             .loss_burst = request.loss_burst,
                             .queue_bytes = request.queue.count()};
  if (request.ecn) link.ecn_bytes = request.ecn->count();
  return link;
}

record::CountedLink counted(const medium::PortFigures& figures, const network::Request& request,
                            double seconds) {
  const double rate = seconds > 0 ? 8 * figures.wire_bytes / seconds : 0;
  return {.packets = figures.packets,
          .bytes = std::llround(figures.wire_bytes),
          .dropped_packets = figures.dropped,
          .lost_packets = figures.lost,
          .marked_packets = figures.marked,
          .queue_peak_bytes = std::llround(figures.deepest_bytes),
          .rate_bps = rate,
          .share = rate / request.rate.bits_per_second()};
}

/// Ports that a record tells of: all, or those that carried most, in order.
std::vector<int> told_ports(const network::Network& network, const Simulated& simulated,
                            Telling telling) {
  std::vector<int> ports(simulated.ports.size());
  std::iota(ports.begin(), ports.end(), 0);
  if (telling == Telling::Full || std::ssize(ports) <= kAllPorts) return ports;
  std::vector<double> fullness;
  for (const int port : ports) {
    fullness.push_back(simulated.ports[static_cast<std::size_t>(port)].wire_bytes /
                       network.request(port).rate.bits_per_second());
  }
  const auto end = ports.begin() + kAllPorts;
  std::nth_element(ports.begin(), end, ports.end(), [&](int a, int b) {
    const double x = fullness[static_cast<std::size_t>(a)];
    const double y = fullness[static_cast<std::size_t>(b)];
    return x > y || (x == y && a < b);
  });
  ports.erase(end, ports.end());
  std::sort(ports.begin(), ports.end());
  return ports;
}

/// The first of the fullest ones.
int fullest_port(const network::Network& network, const Simulated& simulated) {
  int fullest = 0;
  double most = -1;
  for (int port = 0; port < network.ports(); ++port) {
    const medium::PortFigures& figures = simulated.ports[static_cast<std::size_t>(port)];
    const double share = counted(figures, network.request(port), seconds(simulated.end)).share;
    if (share > most) fullest = port;
    most = std::max(most, share);
  }
  return fullest;
}

record::Network links_of(const spec::Experiment& experiment, const Simulated& simulated,
                         Telling telling) {
  const network::Network network(experiment.network);
  record::Network made;
  const std::vector<int> told = telling == Telling::Summary
                                    ? std::vector{fullest_port(network, simulated)}
                                    : told_ports(network, simulated, telling);
  for (const int i : told) {
    const network::Request& request = network.request(i);
    record::Link& link =
        made.links.emplace_back(record::Link{.name = network.link_name(i / 2),
                                             .direction = i % 2 == 0 ? "from_host" : "to_host",
                                             .requested = requested(request)});
    link.counted =
        counted(simulated.ports[static_cast<std::size_t>(i)], request, seconds(simulated.end));
  }
  return made;
}

std::int64_t sent_bytes(const SimulatedJob& job) {
  std::int64_t sum = std::accumulate(job.sent.begin(), job.sent.end(), std::int64_t{0});
  for (const auto& [pair, bytes] : job.bytes) sum += bytes;
  return sum;
}

/// Gradients that a rank sent to others.
workload::Row moved_from(const SimulatedJob& job, int rank) {
  workload::Row row;
  for (auto it = job.gradients.lower_bound({rank, 0});
       it != job.gradients.end() && it->first.first == rank; ++it) {
    if (it->second != 0) row.emplace(it->first.second, it->second);
  }
  return row;
}

std::int64_t sum_of(const workload::Row& row) {
  std::int64_t sum = 0;
  for (const auto& [to, bytes] : row) sum += bytes;
  return sum;
}

/// What the byte counts of such simulations mean.
constexpr std::string_view kCountedAtRanks =
    ", as counted where it is sent and received: switches sum and copy on the way, so that links "
    "carry less";

bool has_groups(const Simulated& simulated) {
  return std::any_of(simulated.jobs.begin(), simulated.jobs.end(),
                     [](const SimulatedJob& job) { return job.in_network; });
}

/// What was simulated against what the schedules move: pair by pair, or in closed form rank by rank.
record::Check schedule_check(const Simulated& simulated) {
  std::int64_t planned = 0;
  std::int64_t moved = 0;
  bool same = true;
  for (const SimulatedJob& job : simulated.jobs) {
    workload::for_each_row(job.training, [&](int from, const workload::Row& expected) {
      const std::int64_t all = sum_of(expected);
      planned += all;
      if (!job.sent.empty()) {
        const std::int64_t sent = job.sent[static_cast<std::size_t>(from)];
        moved += sent;
        same = same && sent == all;
        return;
      }
      const workload::Row found = moved_from(job, from);
      moved += sum_of(found);
      same = same && found == expected;
    });
  }
  return {.name = "schedule",
          .ok = same,
          .expected = fmt::format("{} bytes scheduled", planned),
          .found = fmt::format("{} bytes moved", moved),
          .text = same ? fmt::format("every rank sent each other rank what the schedule says{}",
                                     has_groups(simulated) ? kCountedAtRanks : "")
                       : "ranks did not send each other what the schedule says"};
}

std::string mode_text(const Simulated& simulated) {
  const std::string_view mode = simulated.mode;
  if (mode == kClosedForm) {
    return fmt::format(
        "in closed form: {}, so none of {} messages was simulated; connections have found their "
        "rates",
        simulated.reason, simulated.messages);
  }
  const std::string because = simulated.reason.empty() ? "" : ", as " + simulated.reason;
  if (mode == kAtOnce) {
    return fmt::format(
        "at once: each of {} messages was simulated{}; connections have found their rates",
        simulated.messages, because);
  }
  return fmt::format("explicit: each of {} messages was simulated{}", simulated.messages, because);
}

/// What groups had to do besides.
record::Check groups_check(const Simulated& simulated) {
  const medium::GroupFigures& groups = simulated.groups;
  const bool flows = simulated.level == Level::Flow;
  return {.name = "switches",
          .ok = true,
          .expected = "packets summed in slots of switches, or multicast once over each link",
          .found = flows ? "slots shared by those that send"
                         : fmt::format("{} packets found no slot, {} were sent again",
                                       groups.passed, groups.resent),
          .text = flows ? "groups of ranks wait for slots of switches; none falls back to its "
                          "receiver"
                        : fmt::format("{} packets found no slot in a switch and were summed "
                                      "further on; {} were sent again",
                                      groups.passed, groups.resent)};
}

/// How the answer was found.
record::Check mode_check(const Simulated& simulated) {
  return {.name = "mode",
          .ok = true,
          .expected = fmt::format("{} messages", simulated.messages),
          .found = simulated.mode,
          .text = mode_text(simulated)};
}

/// A worker's counted step, in seconds; no exchange: below 0.
struct Taken {
  double step_s = 0;
  double exchange_s = -1;
};

/// Means over the workers for each counted step that all have finished, and medians over all.
class Summing {
 public:
  explicit Summing(const workload::Training& training)
      : workers_(training.workers()), sums_(static_cast<std::size_t>(training.steps)) {}

  void add(int rank, std::int64_t step, const Taken& taken) {
    if (rank >= workers_ || step < 0) return;
    Sum& sum = sums_[static_cast<std::size_t>(step)];
    ++sum.steps;
    sum.step_s += taken.step_s;
    steps_.push_back(taken.step_s);
    if (taken.exchange_s < 0) return;
    ++sum.exchanges;
    sum.exchange_s += taken.exchange_s;
    exchanges_.push_back(taken.exchange_s);
  }

  steps::Summary summary() && {
    steps::Summary made;
    for (const Sum& sum : sums_) {
      if (sum.steps == workers_) made.step_s.push_back(sum.step_s / workers_);
      if (sum.exchanges == workers_) made.exchange_s.push_back(sum.exchange_s / workers_);
    }
    const auto add_phase = [&](record::Phase phase, std::vector<double> values) {
      if (values.empty()) return;
      made.phases_median_s[std::string(name_of(phase))] = steps::upper_median(std::move(values));
    };
    add_phase(record::Phase::Step, std::move(steps_));
    add_phase(record::Phase::Exchange, std::move(exchanges_));
    return made;
  }

 private:
  struct Sum {
    int steps = 0;
    int exchanges = 0;
    double step_s = 0;
    double exchange_s = 0;
  };
  int workers_;
  std::vector<Sum> sums_;  ///< by step
  std::vector<double> steps_ = {};
  std::vector<double> exchanges_ = {};
};

Taken taken(const regular::StepTimes& times, std::size_t rank) {
  const bool exchanged = times.exchange_begin[rank] <= times.exchange_end[rank];
  return {.step_s = seconds(times.end[rank] - times.begin[rank]),
          .exchange_s =
              exchanged ? seconds(times.exchange_end[rank] - times.exchange_begin[rank]) : -1};
}

steps::Summary summary_of(const SimulatedJob& job) {
  Summing summing(job.training);
  for (const play::Step& step : job.steps) {
    const auto found = job.exchanges.find({step.rank, step.step});
    const bool exchanged = found != job.exchanges.end();
    summing.add(step.rank, step.step,
                {.step_s = seconds(step.end - step.begin),
                 .exchange_s = exchanged ? seconds(found->second.end - found->second.begin) : -1});
  }
  for (const regular::RingStep& step : job.rounds) {
    for (std::size_t rank = 0; rank < step.times->begin.size(); ++rank) {
      summing.add(static_cast<int>(rank), step.step, taken(*step.times, rank));
    }
  }
  return std::move(summing).summary();
}

/// Ranks whose steps are told: all, or some at equal distances.
bool is_told(const workload::Training& training, int rank, Telling telling) {
  return telling == Telling::Full || rank % ((training.ranks() - 1) / kAllRanks + 1) == 0;
}

void add_rows(const regular::RingStep& step, int rank, std::vector<record::PhaseRow>& rows) {
  const auto at = static_cast<std::size_t>(rank);
  const regular::StepTimes& times = *step.times;
  rows.push_back(phase_row(rank, step.step, record::Phase::Step, times.begin[at] + step.shift,
                           times.end[at] + step.shift));
  if (times.exchange_begin[at] > times.exchange_end[at]) return;
  rows.push_back(phase_row(rank, step.step, record::Phase::Exchange,
                           times.exchange_begin[at] + step.shift,
                           times.exchange_end[at] + step.shift));
}

record::Check links_check(const record::Network& network) {
  double most = 0;  // of those that are told of: the fullest is among them
  for (const record::Link& link : network.links) most = std::max(most, link.counted->share);
  const bool ok = most <= 1 + 1e-6;
  return {.name = "links",
          .ok = ok,
          .expected = "at most 100 % of a link",
          .found = fmt::format("{:.4g} %", 100 * most),
          .text = ok ? "no link carried more than it can" : "a link carried more than it can"};
}

}  // namespace

std::vector<record::PhaseRow> phases_of(const SimulatedJob& job, Telling telling) {
  std::vector<record::PhaseRow> rows;
  for (int rank = 0; !job.rounds.empty() && rank < job.training.ranks(); ++rank) {
    if (!is_told(job.training, rank, telling)) continue;
    for (const regular::RingStep& step : job.rounds) add_rows(step, rank, rows);
  }
  for (const play::Step& step : job.steps) {
    if (!is_told(job.training, step.rank, telling)) continue;
    rows.push_back(phase_row(step.rank, step.step, record::Phase::Step, step.begin, step.end));
    const auto found = job.exchanges.find({step.rank, step.step});
    if (found == job.exchanges.end()) continue;
    rows.push_back(phase_row(step.rank, step.step, record::Phase::Exchange, found->second.begin,
                             found->second.end));
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.rank < b.rank; });
  return rows;
}

double median_step_s(const SimulatedJob& job) {
  std::vector<double> times_s = summary_of(job).step_s;
  return times_s.empty() ? 0 : stats::median(std::move(times_s));
}

record::Run described(const spec::Experiment& experiment, const Simulated& simulated,
                      Telling telling) {
  record::Run run{.command = "sim"};
  run.engine = name_of(simulated.level);
  for (const SimulatedJob& job : simulated.jobs) {
    run.jobs.push_back(steps::described(job.training, summary_of(job), sent_bytes(job), false));
  }
  if (!run.jobs.empty()) run.iterations = steps::logged_iterations(run.jobs.front());
  run.network = links_of(experiment, simulated, telling);
  run.utilisation = usage::busiest(run.network);
  run.checks = {schedule_check(simulated), links_check(run.network)};
  if (has_groups(simulated)) run.checks.push_back(groups_check(simulated));
  if (simulated.level == Level::Flow) run.checks.insert(run.checks.begin(), mode_check(simulated));
  if (!simulated.traffic.empty()) {
    const network::Network network(experiment.network);
    run.cross_traffic = described_traffic(network, simulated);
    run.checks.push_back(traffic_check(network, simulated));
  }
  run.faults = described_faults(run.jobs, simulated);
  run.duration_s = seconds(simulated.end);
  if (telling != Telling::Summary) run.experiment = record::value_from(spec::to_json(experiment));
  return run;
}

void write_tables(const Simulated& simulated, const record::Run& run, Telling telling,
                  record::RunFolder& folder) {
  folder.table("steps");
  for (const SimulatedJob& job : simulated.jobs) {
    steps::write_steps(phases_of(job, telling), job.training.name, folder);
  }
  usage::write_links(run.network, folder.table("links"));
  write_cross_flows(simulated, folder);
}

}  // namespace tw::sim
