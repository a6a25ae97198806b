// SPDX-License-Identifier: Apache-2.0
#include "trainwire/like/captured.h"

#include "trainwire/base/error.h"
#include "trainwire/collective/strategies.h"
#include "trainwire/like/captured_network.h"
#include "trainwire/like/factor.h"
#include "trainwire/like/slow_side.h"
#include "trainwire/spec/parse.h"
#include "trainwire/spec/print.h"
#include "trainwire/stats/estimate.h"
#include "trainwire/workload/vocabulary.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace tw::like {
namespace {

constexpr std::uint64_t kMostSteps = 20;
constexpr double kLeastRate_bps = 1e3;
constexpr double kSeen = 0.02;  ///< of a step: a shorter pause is none

bool is_recognised(const record::Collective& collective) {
  return collective::find_strategy(collective.strategy) != nullptr &&
         collective.bytes_per_iteration > 0 && collective.order.size() >= 2;
}

/// The one that moves most in a step, of the job whose steps were found.
const record::Collective& main_collective(const record::Run& run) {
  const record::Collective* main = nullptr;
  for (const record::Collective& one : run.collectives) {
    if (!is_recognised(one) || (run.iterations->job && one.job != run.iterations->job)) continue;
    if (main == nullptr || one.bytes_per_iteration > main->bytes_per_iteration) main = &one;
  }
  if (main != nullptr) return *main;
  throw DataError(
      "no collective was recognised in the packets, so there is no job to speak of: capture more "
      "steps, on every host, or give the experiment");
}

const record::Iterations& steps_of(const record::Run& run) {
  if (!run.iterations || !run.iterations->median_s || *run.iterations->median_s <= 0) {
    throw DataError(
        "no steps were found in the packets: there is nothing to fit; capture several steps, or "
        "give a log of them");
  }
  return *run.iterations;
}

class Captured {
 public:
  Captured(Fitted& fitted, const record::Run& run, const std::string& folder)
      : fitted_(fitted),
        run_(run),
        folder_(folder),
        steps_(steps_of(run)),
        main_(main_collective(run)),
        known_(run.experiment.has_value()),
        sides_(side_rates(folder)) {
    order_hosts();
  }

  void fit() {
    const spec::Vocabulary vocabulary = workload::vocabulary();
    const std::string network = known_ ? known_network() : found_network();
    fitted_.experiment = spec::parse(network + job(), "what the packets show", vocabulary);
    tell_limits();
    fit_factors(fitted_, {measured()});
  }

 private:
  /// As ranks go: along a ring, the root of a tree first; servers, which come first, last.
  void order_hosts() {
    hosts_ = main_.order;
    std::stable_partition(hosts_.begin(), hosts_.end(),
                          [&](const std::string& name) { return !is_server(name); });
    servers_ = std::count_if(hosts_.begin(), hosts_.end(),
                             [&](const std::string& name) { return is_server(name); });
    if (!known_) fitted_.hosts = hosts_;
  }

  /// In the experiment; nothing for a host that takes no part.
  std::optional<std::string> experiment_name(const std::string& host) const {
    if (known_) return host;
    const auto found = std::find(hosts_.begin(), hosts_.end(), host);
    if (found == hosts_.end()) return {};
    return spec::host_name(static_cast<int>(found - hosts_.begin()));
  }

  std::string known_network() {
    spec::Experiment asked = asked_experiment(run_);
    for (int host = 0; host < *asked.network.hosts; ++host) {
      fitted_.hosts.push_back(spec::host_name(host));
    }
    asked.jobs.clear();
    asked.traffic.clear();
    asked.faults.clear();
    asked.run = {};
    return spec::to_toml(asked);
  }

  void add(std::string name, double value, std::string unit, std::string from) {
    fitted_.constants.push_back({.name = std::move(name),
                                 .value = value,
                                 .low = value,
                                 .high = value,
                                 .unit = std::move(unit),
                                 .from = std::move(from)});
  }

  /// The highest of all sides: who waits for somebody sends less.
  double line_rate_bps() {
    double most = 0;
    for (const auto& [side, rates] : sides_) {
      if (experiment_name(side.first)) most = std::max(most, rates.highest_bps);
    }
    if (most > 0) {
      add("rate of a link", most, "bit/s", "the fastest host, a quarter of its bytes over 10 ms");
    } else {
      most = run_.traffic.busiest.peak_bps;
      add("rate of a link", most, "bit/s", "the busiest host's peak");
    }
    return std::max(most, kLeastRate_bps);
  }

  std::string found_network() {
    double rate = line_rate_bps();
    slow_ = find_slow_side(
        run_, sides_,
        {.takes_part = [&](const std::string& host) { return experiment_name(host).has_value(); },
         .line_bps = rate,
         .strategy = main_.strategy});
    if (slow_) rate = std::max(rate, slow_->rate_bps);
    std::string text =
        fmt::format("[network]\nhosts = {}\nrate = \"{:.0f}bit\"\n", hosts_.size(), rate);
    if (const auto round_trip = shortest_round_trip_s(folder_)) {
      fitted_.constants.push_back({.name = "round trip, idle",
                                   .value = round_trip->value,
                                   .low = round_trip->low,
                                   .high = round_trip->high,
                                   .unit = "s",
                                   .from = fmt::format("the shortest of {} flows", round_trip->n)});
      // Two links there and two back.
      text += fmt::format("delay = \"{}ns\"\n", std::llround(1e9 * round_trip->value / 4));
    } else {
      fitted_.cannot.push_back(
          "no round trip could be timed in the packets: delays are what a short network has");
    }
    return text + slow_link();
  }

  std::string slow_link() {
    if (!slow_) return "";
    add(fmt::format("rate of {} {}", slow_->host, slow_->direction()), slow_->rate_bps, "bit/s",
        slow_->evidence);
    return fmt::format(
        "\n[[network.link]]\nat = \"{}\"\ndirection = \"{}\"\nrate = \"{:.0f}bit\"\n",
        *experiment_name(slow_->host), slow_->direction(),
        std::max(slow_->rate_bps, kLeastRate_bps));
  }

  bool is_server(const std::string& name) const {
    return std::any_of(run_.hosts.begin(), run_.hosts.end(), [&](const record::Host& host) {
      return host.name == name && host.role == "server";
    });
  }

  /// A host's own silence between two exchanges, which may go on while others exchange; or that of
  /// all.
  double compute_s() {
    const double all = steps_.compute_gap_s.value_or(0);
    const auto own = shortest_silence_s(folder_, kSeen * *steps_.median_s);
    Constant compute{.name = "compute",
                     .value = all,
                     .low = all,
                     .high = all,
                     .unit = "s",
                     .from = "the pause in which no gradients travel"};
    if (own && own->value > all) {
      compute.value = own->value;
      compute.low = std::min(own->low, own->value);
      compute.high = std::max(own->high, own->value);
      compute.from =
          "from a step's last byte that a host receives to the next one's first it sends";
    }
    if (compute.value < kSeen * *steps_.median_s) {
      fitted_.cannot.push_back(
          "gradients are on the wire all the time, so the packets do not show what is computed "
          "meanwhile: it is taken as nothing; give job.compute_time");
      compute.value = compute.low = 0;
    }
    fitted_.constants.push_back(compute);
    return compute.value;
  }

  std::string job() {
    const double compute = compute_s();
    const std::uint64_t bytes = (main_.bytes_per_iteration + 3) / 4 * 4;
    add("gradients", static_cast<double>(bytes), "bytes", main_.evidence);
    std::string text = fmt::format(
        "\n[[job]]\nstrategy = \"{}\"\nparameters = \"{}B\"\ncompute_time = \"{}ns\"\nsteps = {}\n"
        "warmup = 1\n",
        main_.strategy, bytes, std::llround(1e9 * compute),
        std::clamp<std::uint64_t>(steps_.count, 1, kMostSteps));
    if (servers_ > 0 && collective::strategy(main_.strategy).has_servers) {
      text += fmt::format("servers = {}\n", servers_);
    }
    if (main_.buckets.size() > 1) {
      text += fmt::format("bucket = \"{}B\"\n",
                          *std::max_element(main_.buckets.begin(), main_.buckets.end()));
    }
    return text + places() + straggler(compute);
  }

  /// Nothing where ranks are on all hosts in order, as they are by themselves: then others may be asked for.
  std::string places() {
    std::vector<std::string> names;
    bool is_usual = hosts_.size() == fitted_.hosts.size();
    for (const std::string& host : hosts_) {
      is_usual =
          is_usual && *experiment_name(host) == spec::host_name(static_cast<int>(names.size()));
      names.push_back(*experiment_name(host));
    }
    return is_usual ? "" : fmt::format("hosts = [\"{}\"]\n", fmt::join(names, "\", \""));
  }

  /// Traces name a rank, and packets hosts: whose it is does not change how long the others wait.
  std::optional<std::string> place_of(const record::Straggler& late) {
    if (const auto at = experiment_name(late.host)) {
      if (!known_ || std::find(hosts_.begin(), hosts_.end(), late.host) != hosts_.end()) return at;
    }
    if (!late.rank || *late.rank < 0 || *late.rank >= std::ssize(hosts_)) return {};
    const std::string& host = hosts_[static_cast<std::size_t>(*late.rank)];
    fitted_.cannot.push_back(
        fmt::format("which host {} is on is not told: it is taken as {}", late.host, host));
    return experiment_name(host);
  }

  std::string straggler(double compute) {
    if (!run_.straggler) return "";
    const record::Straggler& late = *run_.straggler;
    const auto at = place_of(late);
    if (!at || compute <= 0) {
      fitted_.cannot.push_back(fmt::format(
          "{} begins late, which an experiment can only say of a host that computes", late.host));
      return "";
    }
    const double factor = (compute + late.delay_s) / compute;
    add(fmt::format("straggler factor of {}", late.host), factor, "", late.evidence);
    return fmt::format("straggler = \"{}\"\nstraggler_factor = {:.6f}\n", *at,
                       std::clamp(factor, 1.0, 1e6));
  }

  MeasuredStep measured() const {
    return measured_step({.median_s = *steps_.median_s,
                          .ci_low_s = steps_.ci_low_s.value_or(*steps_.median_s),
                          .ci_high_s = steps_.ci_high_s.value_or(*steps_.median_s),
                          .times_s = steps_.times_s});
  }

  void tell_limits() {
    fitted_.cannot.push_back(
        "packets show one rank a host, and neither computing that goes on while gradients travel "
        "nor what a host waits for when it is silent");
    if (!known_ && !slow_) {
      fitted_.cannot.push_back(
          "no link was seen to be the limit: links may be faster than they were used, and more "
          "bandwidth may gain less than is said");
    }
    if (run_.quality.level == "poor") {
      fitted_.cannot.push_back(
          fmt::format("the capture is poor: {}", fmt::join(run_.quality.reasons, "; ")));
    }
    const bool others = std::any_of(
        run_.collectives.begin(), run_.collectives.end(),
        [&](const record::Collective& one) { return is_recognised(one) && one.job != main_.job; });
    if (others) {
      fitted_.cannot.push_back(fmt::format(
          "other jobs are left out: what is said is of {} with the network as they left it",
          main_.job.value_or("the largest")));
    }
  }

  Fitted& fitted_;
  const record::Run& run_;
  const std::string& folder_;
  const record::Iterations& steps_;
  const record::Collective& main_;
  bool known_;  ///< the network is
  Sides sides_;
  std::optional<SlowSide> slow_ = {};
  std::vector<std::string> hosts_ = {};
  std::ptrdiff_t servers_ = 0;
};

}  // namespace

void fit_captured(Fitted& fitted, const record::Run& run, const std::string& folder) {
  if (!run.capture) {
    throw DataError(
        "the record has neither steps of a job nor packets: there is nothing to fit; `run`, `sim`, "
        "and `exec` or `analyze` with packets leave them");
  }
  Captured(fitted, run, folder).fit();
}

}  // namespace tw::like
