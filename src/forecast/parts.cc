// SPDX-License-Identifier: Apache-2.0
#include "trainwire/forecast/parts.h"

#include "trainwire/account/places.h"
#include "trainwire/account/without.h"
#include "trainwire/forecast/changes.h"
#include "trainwire/predict/plan.h"

#include <fmt/format.h>

#include <algorithm>

namespace tw::forecast {
namespace {

constexpr double kRest = 0.25;
constexpr double kLeastNext = 1e-3;  ///< of the largest part
constexpr int kMostPlanned = 4096;   ///< ranks, of which the busiest link is looked for

/// Leaves out one cause after another.
class Peeling {
 public:
  Peeling(const spec::Experiment& experiment, std::size_t job, double step_s, const Asking& asking)
      : left_(experiment), job_(job), step_s_(step_s), asking_(asking) {}

  void leave_out(const char* name, spec::Experiment without) {
    left_ = std::move(without);
    const double now = step_times(left_, asking_)[job_].median_s;
    // What does not cost anything may seem to gain by a hair.
    const double cost = std::max(0.0, step_s_ - now);
    step_s_ = std::min(step_s_, now);
    parts_.push_back({.name = name, .seconds = cost});
  }

  const spec::Experiment& left() const { return left_; }
  void leave_alone() {
    leave_out_others();
    job_ = 0;
  }
  /// What bytes take on lines that carry anything at once is still the last part's.
  std::vector<Part> finish(double compute_s) {
    const double rest = step_s_ - compute_s;
    if (rest > 0 && rest < kRest * compute_s) {
      parts_.back().seconds += rest;
      step_s_ = compute_s;
    }
    parts_.push_back({.name = "compute", .seconds = step_s_});
    return std::move(parts_);
  }

 private:
  void leave_out_others() {
    spec::Experiment single = account::alone(left_, job_);
    job_ = 0;
    leave_out("other_job", std::move(single));
  }

  spec::Experiment left_;
  std::size_t job_;
  double step_s_;
  const Asking& asking_;
  std::vector<Part> parts_ = {};
};

/// Parts of a step that was found in another way, or with fewer steps: all but computing by the same factor.
std::vector<Part> stretched(std::vector<Part> parts, double step_s) {
  double compute_s = 0, others_s = 0;
  for (const Part& part : parts) (part.name == "compute" ? compute_s : others_s) += part.seconds;
  const double left_s = std::max(0.0, step_s - compute_s);
  for (Part& part : parts) {
    if (part.name == "compute") {
      part.seconds = others_s > 0 ? std::min(step_s, compute_s) : step_s;
    } else if (others_s > 0) {
      part.seconds *= left_s / others_s;
    }
  }
  return parts;
}

bool has_late_ranks(const spec::Job& job) { return *job.compute_jitter > 0 || *job.straggler; }

}  // namespace

std::vector<Part> parts_of(const spec::Experiment& experiment, std::size_t job,
                           const StepTime& step, const Asking& asking) {
  const bool chance = is_lossy(experiment.network) || step.regime == Regime::Shared;
  const bool is_other = !chance && step.method == Method::Packet;
  const double from_s = is_other ? step_times(experiment, asking)[job].median_s : step.median_s;
  Peeling peeling(experiment, job, from_s, asking);
  if (is_lossy(experiment.network) || is_other) {
    peeling.leave_out("loss", account::without_loss(peeling.left()));
  }
  if (!experiment.traffic.empty()) {
    peeling.leave_out("cross_traffic", account::without_traffic(peeling.left()));
  }
  if (experiment.jobs.size() > 1) peeling.leave_alone();
  const std::size_t left = 0;  // the only one
  if (has_late_ranks(experiment.jobs[job])) {
    peeling.leave_out("late_rank", account::without_late_ranks(peeling.left(), left));
  }
  if (!account::slow_links(peeling.left(), left).empty() ||
      account::narrow_core(peeling.left(), left)) {
    peeling.leave_out("slow_link", account::without_slow_links(peeling.left(), left));
  }
  if (*experiment.network.socket_buffer) {
    peeling.leave_out("window", account::without_window(peeling.left()));
  }
  peeling.leave_out("latency", account::without_delay(peeling.left()));
  peeling.leave_out("bandwidth", account::without_rates(peeling.left()));
  return stretched(peeling.finish(step.compute_s), step.median_s);
}

Binding binding_of(const spec::Experiment& experiment, std::size_t job,
                   const std::vector<Part>& parts) {
  std::vector<Part> sorted = parts;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Part& a, const Part& b) { return a.seconds > b.seconds; });
  Binding binding{.resource = sorted.front().name, .seconds = sorted.front().seconds};
  if (sorted.size() > 1 && sorted[1].seconds > kLeastNext * binding.seconds) {
    binding.next = sorted[1].name;
    binding.headroom = binding.seconds / sorted[1].seconds;
  }
  const bool is_link = binding.resource == "bandwidth" || binding.resource == "slow_link";
  if (is_link && *experiment.jobs[job].ranks <= kMostPlanned) {
    const predict::JobPlan plan = predict::plan(experiment, experiment.jobs[job]);
    if (plan.bottleneck) {
      const bool from = plan.bottleneck->direction == network::Direction::FromHost;
      binding.where = fmt::format("{}, {}", plan.bottleneck->where, from ? "way out" : "way in");
    }
  }
  return binding;
}

}  // namespace tw::forecast
