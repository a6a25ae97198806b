// SPDX-License-Identifier: Apache-2.0
#include "trainwire/rhythm/drive.h"

#include "trainwire/stats/quantile.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace tw::rhythm {
namespace {

constexpr std::size_t kFewest = 8;         ///< beginnings
constexpr double kStampNs = 20'000;        ///< what stamps and schedulers add to any time
constexpr double kComputingVaries = 0.25;  ///< of its typical time, at most
constexpr double kBlurred = 0.02;          ///< of a period: how far the ends of beats may be off
constexpr double kNear = 2;  ///< typical distances from a line: what is farther does not move it
constexpr double kOutliers = 0.1;  ///< beginnings that something else has delayed

/// When a host began its steps, and had received everything in the step before.
struct Beginnings {
  std::vector<double> starts;
  std::vector<double> ready;
  std::vector<double> number;  ///< of the step
};

struct OwnStep {
  std::int64_t first_sent = std::numeric_limits<std::int64_t>::max();
  std::int64_t first_received = std::numeric_limits<std::int64_t>::max();
  std::int64_t last_received = std::numeric_limits<std::int64_t>::min();
};

std::optional<OwnStep> own_step(const Steps& exchanges, int host, std::size_t step) {
  OwnStep own;
  for (const Lane& lane : exchanges.lanes) {
    if (lane.from != host && lane.to != host) continue;
    if (!lane.beats[step]) return std::nullopt;
    const Beat& beat = *lane.beats[step];
    if (lane.from == host) {
      own.first_sent = std::min(own.first_sent, beat.start_ns);
      continue;
    }
    own.first_received = std::min(own.first_received, beat.start_ns);
    own.last_received = std::max(own.last_received, beat.end_ns);
  }
  const bool sends = own.first_sent != std::numeric_limits<std::int64_t>::max();
  const bool receives = own.last_received != std::numeric_limits<std::int64_t>::min();
  return sends && receives ? std::optional(own) : std::nullopt;
}

/// Those that the host makes without having received anything in the step.
Beginnings beginnings_of(const Steps& exchanges, int host) {
  Beginnings result;
  std::optional<OwnStep> before;
  for (std::size_t step = 0; step < exchanges.steps.size(); ++step) {
    const std::optional<OwnStep> own = own_step(exchanges, host, step);
    if (own && before && step > 1 && own->first_sent <= own->first_received) {
      result.starts.push_back(static_cast<double>(own->first_sent));
      result.ready.push_back(static_cast<double>(before->last_received));
      result.number.push_back(static_cast<double>(step));
    }
    before = own;
  }
  return result;
}

std::vector<double> differences(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> result;
  for (std::size_t i = 0; i < a.size(); ++i) result.push_back(a[i] - b[i]);
  return result;
}

double typical_size(std::vector<double> values) {
  for (double& value : values) value = std::abs(value);
  return stats::median(std::move(values)) / std::log(2);  // the scale of a Laplace law
}

/// Mean over the values, each with its density against that of any time in the period.
template <typename Density>
double mean_nats(const std::vector<double>& values, double period_ns, Density density) {
  double sum = 0;
  for (const double value : values) {
    sum += std::log((1 - kOutliers) * density(value) * period_ns + kOutliers);
  }
  return sum / static_cast<double>(values.size());
}

double laplace_nats(const std::vector<double>& offs, double scale_ns, double period_ns) {
  return mean_nats(offs, period_ns, [&](double off) {
    return std::exp(-std::abs(off) / scale_ns) / (2 * scale_ns);
  });
}

std::vector<double> around(std::vector<double> values, double middle) {
  for (double& value : values) value -= middle;
  return values;
}

/// Computing, or nothing between the collectives of a step.
double work_nats(const std::vector<double>& pauses, double period_ns) {
  const double blur = kStampNs + kBlurred * period_ns;
  std::vector<double> computing;
  std::copy_if(pauses.begin(), pauses.end(), std::back_inserter(computing),
               [&](double pause) { return pause > blur; });
  const double share = static_cast<double>(computing.size()) / static_cast<double>(pauses.size());
  const double middle = computing.empty() ? 0 : stats::median(computing);
  const double most = blur + kComputingVaries * middle;
  const double scale = computing.empty()
                           ? most
                           : std::clamp(typical_size(around(computing, middle)), kStampNs, most);
  return mean_nats(pauses, period_ns, [&](double pause) {
    return share * std::exp(-std::abs(pause - middle) / scale) / (2 * scale) +
           (1 - share) * std::exp(-pause / blur) / blur;
  });
}

double demand_nats(const std::vector<double>& pauses, double period_ns) {
  double mean = 0;
  for (const double pause : pauses) mean += pause;
  mean = std::max(mean / static_cast<double>(pauses.size()), kBlurred * period_ns);
  return mean_nats(pauses, period_ns, [&](double pause) { return std::exp(-pause / mean) / mean; });
}

/// A line through points, where most lie, whatever a few do. REQUIRES: two different x.
struct Line {
  double mean_x = 0;
  double mean_y = 0;
  double slope = 0;

  double off(double x, double y) const { return y - mean_y - slope * (x - mean_x); }
};

Line line_through(const std::vector<double>& x, const std::vector<double>& y) {
  const auto n = static_cast<double>(x.size());
  Line line;
  for (std::size_t i = 0; i < x.size(); ++i) {
    line.mean_x += x[i] / n;
    line.mean_y += y[i] / n;
  }
  double xx = 0;
  double xy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xx += (x[i] - line.mean_x) * (x[i] - line.mean_x);
    xy += (x[i] - line.mean_x) * (y[i] - line.mean_y);
  }
  line.slope = xy / xx;
  return line;
}

/// What is left of the values when the line that is nearest to most of them is taken away: what comes
/// late, because the machine was busy, moves no clock. REQUIRES: x rises.
std::vector<double> off_line(const std::vector<double>& x, const std::vector<double>& y) {
  const auto off_by = [&](const Line& line) {
    std::vector<double> result;
    for (std::size_t i = 0; i < x.size(); ++i) result.push_back(line.off(x[i], y[i]));
    return result;
  };
  std::vector<double> off = off_by(line_through(x, y));
  const double middle = stats::median(off);
  const double near = kNear * typical_size(around(off, middle));
  std::vector<double> near_x;
  std::vector<double> near_y;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (std::abs(off[i] - middle) > near) continue;
    near_x.push_back(x[i]);
    near_y.push_back(y[i]);
  }
  return near_x.size() > 2 ? off_by(line_through(near_x, near_y)) : off;
}

/// At even times of a clock. As many beginnings as a line has numbers to fit tell nothing.
double clock_nats(const Beginnings& seen, double period_ns) {
  const std::vector<double> off = off_line(seen.number, seen.starts);
  const auto n = static_cast<double>(off.size());
  return laplace_nats(off, std::max(kStampNs, typical_size(off) * n / (n - 2)), period_ns);
}

/// As long after the beginning before as usually.
double even_nats(const Beginnings& seen, double period_ns) {
  std::vector<double> distances;
  for (std::size_t i = 1; i < seen.starts.size(); ++i) {
    distances.push_back((seen.starts[i] - seen.starts[i - 1]) /
                        (seen.number[i] - seen.number[i - 1]));
  }
  const std::vector<double> off = around(distances, stats::median(distances));
  const double most = kStampNs + kComputingVaries * period_ns;
  return laplace_nats(off, std::clamp(typical_size(off), kStampNs, most), period_ns);
}

/// Beginnings before the host is ready tell nothing of why it begins: its steps are cut elsewhere.
Drive drive_of(const Beginnings& seen) {
  std::vector<double> pauses = differences(seen.starts, seen.ready);
  std::erase_if(pauses, [](double pause) { return pause < 0; });
  const double period_ns =
      (seen.starts.back() - seen.starts.front()) / (seen.number.back() - seen.number.front());
  Drive result{.work = even_nats(seen, period_ns),
               .clock = clock_nats(seen, period_ns),
               .observations = seen.starts.size()};
  if (pauses.empty()) return result;
  const double ready = static_cast<double>(pauses.size()) / static_cast<double>(seen.starts.size());
  result.work = std::max(result.work, ready * work_nats(pauses, period_ns));
  result.demand = ready * demand_nats(pauses, period_ns);
  return result;
}

/// How much later the lane begins than another one in each step that both have.
std::vector<double> delays(const Lane& lane, const Lane& other) {
  std::vector<double> result;
  for (std::size_t step = 0; step < lane.beats.size(); ++step) {
    if (!lane.beats[step] || !other.beats[step]) continue;
    result.push_back(static_cast<double>(lane.beats[step]->start_ns - other.beats[step]->start_ns));
  }
  return result;
}

}  // namespace

Drive drive_of(const Steps& exchanges) {
  std::vector<Drive> drives;
  for (const int host : hosts_of(exchanges)) {
    const Beginnings seen = beginnings_of(exchanges, host);
    if (seen.starts.size() < kFewest) continue;
    drives.push_back(drive_of(seen));
  }
  if (drives.empty()) return {};
  const auto middle = [&](auto of) {
    std::vector<double> values;
    for (const Drive& drive : drives) values.push_back(static_cast<double>(of(drive)));
    return stats::median(std::move(values));
  };
  return {.work = middle([](const Drive& one) { return one.work; }),
          .clock = middle([](const Drive& one) { return one.clock; }),
          .demand = middle([](const Drive& one) { return one.demand; }),
          .observations =
              static_cast<std::size_t>(middle([](const Drive& one) { return one.observations; }))};
}

Order order_of(const Steps& exchanges, std::span<const int> servers) {
  if (exchanges.steps.size() < kFewest) return {};
  const double period_ns =
      static_cast<double>(exchanges.steps.back().start_ns - exchanges.steps.front().start_ns) /
      static_cast<double>(exchanges.steps.size() - 1);
  std::map<int, const Lane*> first;  // of each host
  std::vector<double> nats;
  std::vector<double> observations;
  for (const Lane& lane : exchanges.lanes) {
    if (std::find(servers.begin(), servers.end(), lane.from) != servers.end()) continue;
    const auto [own, is_first] = first.try_emplace(lane.from, &lane);
    if (is_first) continue;
    const std::vector<double> later = delays(lane, *own->second);
    if (later.size() < kFewest) continue;
    const std::vector<double> off = around(later, stats::median(later));
    nats.push_back(laplace_nats(off, std::max(kStampNs, typical_size(off)), period_ns));
    observations.push_back(static_cast<double>(later.size()));
  }
  if (nats.empty()) return {};
  return {.nats = stats::median(std::move(nats)),
          .observations = static_cast<std::size_t>(stats::median(std::move(observations)))};
}

}  // namespace tw::rhythm
