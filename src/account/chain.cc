// SPDX-License-Identifier: Apache-2.0
#include "trainwire/account/chain.h"

#include "trainwire/account/without.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <string>
#include <utility>

namespace tw::account {
namespace {

/// TCP forgets its window after pauses longer than its shortest timeout.
constexpr double kTcpForgets_s = 0.2;
using Experiment = spec::Experiment;

struct Stage {
  const char* part;
  std::function<Experiment(Experiment, std::size_t)> without;
  bool at_once = false;  ///< from here on
};

/// The same for every job.
template <typename Function>
auto for_any(Function without) {
  return [without](Experiment experiment, std::size_t) { return without(std::move(experiment)); };
}

const std::vector<Stage>& stages() {
  static const std::vector<Stage> all = {
      {"loss", for_any(without_loss)},
      {"cross_traffic", for_any(without_traffic)},
      {"other_job", alone},
      {"late_rank", without_late_ranks},
      {"slow_link", without_slow_links},
      {"window", for_any(without_window)},
      {"ramp", for_any([](Experiment experiment) { return experiment; }), true},
      {"latency", for_any(without_delay)},
      {"bandwidth", for_any(without_rates)},
  };
  return all;
}

/// Takes a step apart.
class Peeling {
 public:
  Peeling(Trials& trials, std::size_t job)
      : trials_(trials), job_(job), experiment_(trials.experiment()) {}

  std::optional<Chain> all() {
    const auto whole = trials_.of(experiment_, job_);
    if (!whole) return {};
    chain_.step_s = left_s_ = whole->step_s;
    if (!take_overlap()) return {};
    for (const Stage& stage : stages()) {
      if (!take(stage)) return {};
    }
    add("compute", left_s_);
    name_ramp();
    return std::move(chain_);
  }

 private:
  bool take_overlap() {
    const Experiment bare = without_overlap(experiment_, job_);
    if (bare == experiment_) return true;
    const auto trial = trials_.of(bare, job_);
    if (!trial) return false;
    chain_.overlap_s = std::max(0.0, trial->step_s - left_s_);
    return true;
  }

  bool take(const Stage& stage) {
    if (std::string_view(stage.part) == "bandwidth") chain_.only_rates = experiment_;
    Experiment without = stage.without(experiment_, job_);
    const bool is_alone = without.jobs.size() < experiment_.jobs.size();
    if (without == experiment_ && !stage.at_once) return true;
    experiment_ = std::move(without);
    if (is_alone) job_ = 0;
    if (stage.at_once) manner_ = Manner::AtOnce;
    const auto trial = trials_.of(experiment_, job_, manner_);
    if (!trial) return false;
    // A step that gets longer by chance, with other losses or in another order, has not got shorter.
    const double next_s = std::min(left_s_, trial->step_s);
    add(stage.part, left_s_ - next_s);
    left_s_ = next_s;
    return true;
  }

  void add(std::string name, double part_s) {
    if (part_s > 0) chain_.parts.push_back({.name = std::move(name), .seconds = part_s});
  }

  /// TCP finding its rate, as what it is.
  void name_ramp() {
    const auto ramp = std::find_if(chain_.parts.begin(), chain_.parts.end(),
                                   [](const auto& part) { return part.name == "ramp"; });
    if (ramp == chain_.parts.end()) return;
    if (chain_.part("compute") >= kTcpForgets_s) {
      ramp->name = "idle_restart";
      return;
    }
    const double ramp_s = ramp->seconds;
    chain_.parts.erase(ramp);
    const auto latency = std::find_if(chain_.parts.begin(), chain_.parts.end(),
                                      [](const auto& part) { return part.name == "latency"; });
    if (latency != chain_.parts.end()) {
      latency->seconds += ramp_s;
    } else {
      chain_.parts.insert(chain_.parts.begin(), {.name = "latency", .seconds = ramp_s});
    }
  }

  Trials& trials_;
  std::size_t job_;
  Experiment experiment_;
  Manner manner_ = Manner::Tcp;
  double left_s_ = 0;
  Chain chain_ = {};
};

}  // namespace

double Chain::part(std::string_view name) const {
  for (const record::AccountPart& each : parts) {
    if (each.name == name) return each.seconds;
  }
  return 0;
}

std::optional<Chain> chain_of(Trials& trials, std::size_t job) {
  return Peeling(trials, job).all();
}

bool is_uncertain(std::string_view part) {
  return part == "loss" || part == "cross_traffic" || part == "other_job";
}

double Chain::uncertain_s() const {
  double sum = 0;
  for (const record::AccountPart& each : parts) {
    if (is_uncertain(each.name)) sum += each.seconds;
  }
  return sum;
}

}  // namespace tw::account
