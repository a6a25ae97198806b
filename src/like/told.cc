// SPDX-License-Identifier: Apache-2.0
#include "trainwire/like/told.h"

#include "trainwire/base/error.h"
#include "trainwire/collective/strategies.h"
#include "trainwire/like/factor.h"
#include "trainwire/spec/parse.h"
#include "trainwire/workload/vocabulary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tw::like {
namespace {

constexpr std::uint64_t kMostSteps = 100;
constexpr std::uint64_t kMostRanks = 100'000;
constexpr double kMuchLonger = 1.02;  ///< a mean step than a median one

/// The one that moves most in a step, with what its transfers reached.
struct Main {
  const record::Collective* collective = nullptr;
  double busbw_bps = 0;
};

Main main_of(const record::Run& run) {
  Main main;
  for (const record::Collective& one : run.collectives) {
    if (!one.busbw_bps || *one.busbw_bps <= 0 || one.bytes_per_iteration == 0) continue;
    const bool is_more = main.collective == nullptr ||
                         one.bytes_per_iteration > main.collective->bytes_per_iteration;
    if (is_more) main = {&one, *one.busbw_bps};
  }
  if (main.collective != nullptr) return main;
  throw DataError(
      "the files tell no collective with its bytes a step and its bus bandwidth: give traces of "
      "torch.profiler of all ranks, with record_shapes=True");
}

/// The accounting has the mean over ranks, of which a straggler's delay is a part.
double compute_of_others_s(const record::Run& run, std::uint64_t ranks) {
  const double mean_s = record::part_s(*run.accounting, "compute");
  if (!run.straggler || !run.straggler->rank) return mean_s;
  return std::max(0.0, mean_s - run.straggler->delay_s / static_cast<double>(ranks));
}

}  // namespace

bool is_told(const record::Run& run) { return !run.capture && run.operations.has_value(); }

void fit_told(Fitted& fitted, const record::Run& run) {
  const bool has_steps = run.iterations && run.iterations->median_s.value_or(0) > 0;
  const bool is_benchmark =
      !run.sources.empty() &&
      std::all_of(run.sources.begin(), run.sources.end(),
                  [](const auto& source) { return source.kind == "nccl_tests"; });
  if (is_benchmark) {
    throw DataError(
        "this is a benchmark, not a job with steps: `trainwire fit` gives its latency and "
        "bandwidth, "
        "`trainwire expect --against` what the hardware should reach");
  }
  if (has_steps && !run.accounting) {
    throw DataError(
        "steps are told, but not what ranks did in them: give traces of torch.profiler of all "
        "ranks, or packets");
  }
  if (!has_steps || !run.accounting) {
    throw DataError(
        "the files tell no steps with what ranks did in them: give traces of torch.profiler of all "
        "ranks, with profiler.step()");
  }
  const Main main = main_of(run);
  const record::Iterations& steps = *run.iterations;
  const std::uint64_t ranks = std::clamp<std::uint64_t>(run.operations->ranks, 2, kMostRanks);
  const double compute_s = compute_of_others_s(run, ranks);
  const std::uint64_t bytes = (main.collective->bytes_per_iteration + 3) / 4 * 4;
  const bool is_known = collective::find_strategy(main.collective->strategy) != nullptr;
  const std::string strategy = is_known ? main.collective->strategy : "ring";
  const auto add = [&](std::string name, double value, std::string unit, std::string from) {
    fitted.constants.push_back({.name = std::move(name),
                                .value = value,
                                .low = value,
                                .high = value,
                                .unit = std::move(unit),
                                .from = std::move(from)});
  };
  add("rate of a link", main.busbw_bps, "bit/s", "bus bandwidth by transfer");
  add("compute", compute_s, "s", "what of a step is neither waiting nor transfer");
  add("gradients", static_cast<double>(bytes), "bytes", main.collective->operation + ", of a step");
  std::string text = fmt::format(
      "[network]\nhosts = {}\nrate = \"{:.0f}bit\"\n\n[[job]]\nstrategy = \"{}\"\nparameters = "
      "\"{}B\"\ncompute_time = \"{}ns\"\nsteps = {}\nwarmup = 1\n",
      ranks, std::max(main.busbw_bps, 1e3), strategy, bytes, std::llround(1e9 * compute_s),
      std::clamp<std::uint64_t>(steps.count, 1, kMostSteps));
  for (int host = 0; host < static_cast<int>(ranks); ++host)
    fitted.hosts.push_back(fmt::format("rank {}", host));
  if (run.straggler && run.straggler->rank && compute_s > 0) {
    const auto rank = static_cast<int>(
        std::clamp<std::int64_t>(*run.straggler->rank, 0, static_cast<std::int64_t>(ranks) - 1));
    const double factor = std::clamp((compute_s + run.straggler->delay_s) / compute_s, 1.0, 1e6);
    add(fmt::format("straggler factor of rank {}", rank), factor, "", run.straggler->evidence);
    text += fmt::format("straggler = \"{}\"\nstraggler_factor = {:.6f}\n", spec::host_name(rank),
                        factor);
  }
  fitted.experiment = spec::parse(text, "what the files tell", workload::vocabulary());
  fitted.cannot.emplace_back(
      "traces show neither delays nor which link is slow: links are alike, as fast as transfers "
      "were, and more bandwidth may gain less than is said");
  if (run.accounting->overlap_s > 0) {
    fitted.cannot.push_back(fmt::format(
        "{:.1f} ms a step of the exchange were hidden by computing, which is not modelled",
        1e3 * run.accounting->overlap_s));
  }
  if (!is_known) fitted.cannot.emplace_back("which algorithm ran is not told: a ring is taken");
  const double median_s = *steps.median_s;
  record::Times times{.median_s = median_s,
                      .ci_low_s = steps.ci_low_s.value_or(median_s),
                      .ci_high_s = steps.ci_high_s.value_or(median_s),
                      .times_s = steps.times_s};
  if (run.straggler && run.accounting->step_s > kMuchLonger * median_s) {
    // Its parts are of a mean step, and so is the delay.
    const double added_s = run.accounting->step_s - median_s;
    for (double* each : {&times.median_s, &times.ci_low_s, &times.ci_high_s}) *each += added_s;
    fitted.cannot.emplace_back(
        "the late rank is so in some steps only: a mean step is taken, as if it were so in each");
  }
  fit_factors(fitted, {measured_step(times)});
}

}  // namespace tw::like
