// SPDX-License-Identifier: Apache-2.0
#include "trainwire/like/computing.h"

#include "trainwire/stats/estimate.h"
#include "trainwire/stats/quantile.h"
#include "trainwire/workload/compute_clock.h"
#include "trainwire/workload/framework_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tw::like {
namespace {

constexpr double kLateShare = 0.05;  ///< of the compute time
constexpr double kLate_s = 1e-3;
constexpr double kLateDeviations = 3;
constexpr double kVaried = 0.03;  ///< of the compute time, besides the asked jitter

template <typename T>
spec::Setting<T> measured(T value) {
  return {std::move(value), spec::Origin::Override};
}

/// What a rank took beyond what was asked of it, step by step.
struct Beyond {
  int rank = 0;
  std::vector<double> s = {};
};

/// Asked of a rank in steps 0, 1, ... `steps`-1.
std::vector<double> asked_of(const workload::Training& training, int rank, std::int64_t steps) {
  std::vector<double> asked;
  workload::ComputeClock clock(training, rank);
  for (std::int64_t step = -training.warmup; step < steps; ++step) {
    clock.begin_step(0);
    const auto ns = static_cast<double>(clock.ready_ns(training.compute.backward));
    if (step >= 0) asked.push_back(1e-9 * ns);
  }
  return asked;
}

std::vector<Beyond> beyond_asked(const workload::Training& training,
                                 const std::map<int, std::vector<Computed>>& ranks) {
  std::vector<Beyond> all;
  for (const auto& [rank, computed] : ranks) {
    if (computed.empty() || rank >= training.workers()) continue;
    const std::vector<double> asked = asked_of(training, rank, computed.back().step + 1);
    Beyond one{.rank = rank};
    for (const Computed& step : computed) {
      one.s.push_back(step.s - asked[static_cast<std::size_t>(step.step)]);
    }
    all.push_back(std::move(one));
  }
  return all;
}

/// Half of the values lie that near to the median, as a standard deviation of normal ones: a single
/// hiccup of the machine does not count.
double deviation(const std::vector<double>& values) {
  const double middle = stats::median(values);
  std::vector<double> distances;
  for (const double value : values) distances.push_back(std::abs(value - middle));
  return 1.4826 * stats::median(std::move(distances));
}

/// Ranks of one host together.
struct HostBeyond {
  int host = 0;
  double s = 0;          ///< median
  double deviation = 0;  ///< of a step
};

std::vector<HostBeyond> by_host(const workload::Training& training,
                                const std::vector<Beyond>& ranks) {
  std::map<int, std::vector<double>> values;
  for (const Beyond& rank : ranks) {
    const int host = training.arrangement.layout.host_of[static_cast<std::size_t>(rank.rank)];
    values[host].insert(values[host].end(), rank.s.begin(), rank.s.end());
  }
  std::vector<HostBeyond> hosts;
  for (const auto& [host, all] : values) {
    hosts.push_back({.host = host, .s = stats::median(all), .deviation = deviation(all)});
  }
  return hosts;
}

double median_of(const std::vector<HostBeyond>& hosts) {
  std::vector<double> values;
  for (const HostBeyond& host : hosts) values.push_back(host.s);
  return stats::median(std::move(values));
}

bool is_late(const HostBeyond& host, double usual_s, double compute_s) {
  const double extra = host.s - usual_s;
  return extra > std::max({kLateShare * compute_s, kLate_s, kLateDeviations * host.deviation});
}

class Computing {
 public:
  Computing(Fitted& fitted, std::size_t job, const std::map<int, std::vector<Computed>>& ranks)
      : fitted_(fitted),
        job_(fitted.experiment.jobs[job]),
        training_(workload::training_of(fitted.experiment, job_)),
        asked_s_(seconds(training_.compute.total())),
        ranks_(beyond_asked(training_, ranks)),
        hosts_(by_host(training_, ranks_)) {}

  bool is_known() const { return !ranks_.empty(); }

  void fit() {
    usual_s_ = median_of(hosts_);
    fit_time();
    fit_straggler();
    fit_jitter();
  }

 private:
  double compute_s() const { return std::max(0.0, asked_s_ + usual_s_); }

  void fit_time() {
    std::vector<double> times;
    for (const Beyond& rank : ranks_) {
      if (is_straggler(rank.rank)) continue;
      for (const double s : rank.s) times.push_back(asked_s_ + s);
    }
    const auto estimate = stats::median_estimate(times);
    fitted_.constants.push_back(
        {.name = fmt::format("compute of {}", *job_.name),
         .value = compute_s(),
         .low = std::min(estimate.low, compute_s()),
         .high = std::max(estimate.high, compute_s()),
         .unit = "s",
         .from = fmt::format("steps less waiting of {} rank{}, {} values", ranks_.size(),
                             ranks_.size() == 1 ? "" : "s", times.size())});
    job_.compute = measured(spec::Compute::Profile);
    job_.compute_time = measured(std::optional(from_seconds(compute_s())));
    // What was measured has what the framework adds, and it will be added again.
    const workload::Compute again = workload::compute_of(job_, training_.model);
    const Duration added = workload::framework_time(job_, training_.model, again);
    Duration& time = *job_.compute_time.value;
    time -= std::min(added, time);
  }

  bool is_straggler(int rank) const { return training_.factor(rank) > 1; }

  double factor_of(const HostBeyond& host) const {
    const double asked = host.host == training_.straggler ? training_.straggler_factor : 1;
    return compute_s() > 0 ? (asked * asked_s_ + host.s) / compute_s() : 1;
  }

  /// The host that computes longest, if it is one that was asked for, or is late beyond doubt.
  void fit_straggler() {
    std::vector<HostBeyond> late;
    for (const HostBeyond& host : hosts_) {
      if (host.host == training_.straggler || is_late(host, usual_s_, asked_s_ + usual_s_)) {
        late.push_back(host);
      }
    }
    if (late.empty() || compute_s() <= 0) return;
    std::sort(late.begin(), late.end(), [&](const HostBeyond& a, const HostBeyond& b) {
      return factor_of(a) > factor_of(b);
    });
    put_straggler(late.front());
    for (std::size_t i = 1; i < late.size(); ++i) {
      fitted_.cannot.push_back(fmt::format(
          "{} computes {:.2f} times as long as the others, but an experiment has one straggler",
          spec::host_name(late[i].host), factor_of(late[i])));
    }
  }

  void put_straggler(const HostBeyond& host) {
    const double factor = std::max(1.0, factor_of(host));
    const double error = host.deviation / compute_s();
    job_.straggler = measured(std::optional(spec::host_name(host.host)));
    job_.straggler_factor = measured(factor);
    fitted_.constants.push_back(
        {.name = fmt::format("straggler factor of {}", *job_.name),
         .value = factor,
         .low = factor - 2 * error,
         .high = factor + 2 * error,
         .from = fmt::format("what {} computes beside the others", spec::host_name(host.host))});
  }

  void fit_jitter() {
    if (compute_s() <= 0) return;
    std::vector<double> deviations;
    for (const Beyond& rank : ranks_) deviations.push_back(deviation(rank.s) / compute_s());
    const double besides = stats::median(deviations);
    const double asked = *job_.compute_jitter;
    const double jitter = besides > kVaried ? std::hypot(asked, besides) : asked;
    fitted_.constants.push_back({.name = fmt::format("compute jitter of {}", *job_.name),
                                 .value = jitter,
                                 .low = asked,
                                 .high = std::hypot(asked, besides),
                                 .from = "asked for, and what ranks vary besides"});
    if (jitter != asked) job_.compute_jitter = measured(std::min(jitter, 1.0));
  }

  Fitted& fitted_;
  spec::Job& job_;
  workload::Training training_;
  double asked_s_;
  std::vector<Beyond> ranks_;
  std::vector<HostBeyond> hosts_;
  double usual_s_ = 0;
};

}  // namespace

void fit_computing(Fitted& fitted, std::size_t job,
                   const std::map<int, std::vector<Computed>>& ranks) {
  const spec::Job& asked = fitted.experiment.jobs[job];
  const std::string name = *asked.name;
  const bool computes = *asked.compute != spec::Compute::None;
  Computing computing(fitted, job, ranks);
  if (computing.is_known()) {
    computing.fit();
  } else {
    fitted.cannot.push_back(
        fmt::format("what ranks of {} computed is not in the record: it is taken as asked", name));
  }
  if (!computes) {
    fitted.cannot.push_back(fmt::format(
        "{} does not compute (job.compute is \"none\"): what is said of it is the exchange alone; "
        "give job.compute_time to have whole steps",
        name));
  }
}

}  // namespace tw::like
