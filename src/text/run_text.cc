// SPDX-License-Identifier: Apache-2.0
#include "trainwire/text/run_text.h"

#include "trainwire/base/bus_text.h"
#include "trainwire/base/printable.h"
#include "trainwire/base/units.h"
#include "trainwire/command/expect.h"
#include "trainwire/record/fault_words.h"
#include "trainwire/record/phase.h"
#include "trainwire/text/links_text.h"
#include "trainwire/text/verdict_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace tw::text {
namespace {

constexpr std::size_t kMostPairs = 6;
constexpr std::size_t kMostFindings = 4;
constexpr std::size_t kMostJobs = 4;
constexpr std::size_t kMostEntries = 3;
/// Up to so many points all are told, of more so many at first.
constexpr std::size_t kMostPoints = 100;
constexpr std::size_t kFirstPoints = 40;

std::string time_text(double time_s) { return readable(from_seconds(time_s)); }

std::string time_text(const record::Times& times) {
  return fmt::format("{} [{}, {}]", time_text(times.median_s), time_text(times.ci_low_s),
                     time_text(times.ci_high_s));
}

std::string_view plural(std::uint64_t count) { return count == 1 ? "" : "s"; }

/// The time of a phase; nothing where there was none.
std::optional<double> phase_s(const record::Job& job, record::Phase phase) {
  const auto found = job.phases_median_s.find(std::string(name_of(phase)));
  return found == job.phases_median_s.end() ? std::nullopt : std::optional(found->second);
}

/// What the cluster would show of what was measured here.
struct Cluster {
  double scale = 1;
  double slow_motion = 1;

  std::string time(const record::Times& times) const {
    return slow_motion == 1
               ? ""
               : fmt::format(", {} in the cluster", time_text(times.median_s / slow_motion));
  }
  std::string rate(double here_bps) const {
    const double factor = scale * slow_motion;
    return factor == 1 ? ""
                       : fmt::format(" ({} in the cluster)", readable(BitRate(here_bps * factor)));
  }
};

Cluster cluster_of(const record::Run& run) {
  return {.scale = number_of(setting(run, "run.scale")).value_or(1),
          .slow_motion = number_of(setting(run, "run.slow_motion")).value_or(1)};
}

std::string scaling_text(const Cluster& cluster) {
  std::string text;
  if (cluster.scale != 1) {
    text += fmt::format(
        "scale 1:{:g}: rates and bytes here are the cluster's divided by {:g}, "
        "times are the cluster's\n\n",
        cluster.scale, cluster.scale);
  }
  if (cluster.slow_motion != 1) {
    text += fmt::format(
        "slow motion 1:{:g}: everything takes {:g} times as long here as in the "
        "cluster\n\n",
        cluster.slow_motion, cluster.slow_motion);
  }
  return text;
}

/// How gradients travelled, where a job asks for something else than TCP: only simulations have RDMA,
/// only `run` has libraries that carry, and a preset's word does not call for them.
std::string transport_text(const record::Run& run, std::size_t job) {
  const std::string key = fmt::format("jobs.{}.transport", job);
  const std::string transport = text_of(setting(run, key)).value_or("tcp");
  if (transport == "tcp") return {};
  const std::string origin = text_of(find(*run.experiment, key + ".origin")).value_or("");
  const bool is_simulated = run.command == "sim";
  if (is_simulated ? transport == "rdma" : origin != "preset") return " over " + transport;
  return fmt::format(" (tcp in place of {})", transport);
}

std::string share_text(double share) { return fmt::format("{:.2f} %", 100 * share); }

/// What a job that really trained knows, and when it knew what was asked for.
std::string learning_text(const record::Learning& learning) {
  const bool differ = learning.accuracy_low != learning.accuracy_high;
  std::string text =
      fmt::format("  accuracy  {}{} of {} {} pictures after {} and {} sent ({} gradients)\n",
                  share_text(learning.accuracy),
                  differ ? fmt::format(" ({} to {} by rank)", share_text(learning.accuracy_low),
                                       share_text(learning.accuracy_high))
                         : "",
                  learning.test_samples, printable(learning.data), time_text(learning.time_s),
                  readable(Bytes(learning.sent_bytes)), learning.gradient);
  if (learning.target && learning.target->time_s) {
    text += fmt::format("  target    {} reached after {} steps, {} and {} sent\n",
                        share_text(learning.target->accuracy), learning.target->step.value_or(0),
                        time_text(*learning.target->time_s),
                        readable(Bytes(learning.target->sent_bytes.value_or(0))));
  } else if (learning.target) {
    text += fmt::format("  target    {} was not reached: more steps, or another learning_rate\n",
                        share_text(learning.target->accuracy));
  }
  if (learning.staleness) {
    text += fmt::format("  staleness {:.2f} pushes of others on average, {} at most\n",
                        learning.staleness->mean, learning.staleness->most);
  }
  return text;
}

std::string job_text(const record::Job& job, std::string_view over, const Cluster& cluster) {
  const std::uint64_t steps = job.steps.value_or(0);
  std::string text = fmt::format(
      "{}: {} of {} rank{}{}, {} of gradients in {} bucket{}, {} step{}\n", printable(job.name),
      job.strategy, job.ranks, plural(job.ranks), over, readable(Bytes(job.gradient_bytes)),
      job.buckets, plural(job.buckets), steps, plural(steps));
  if (job.step) {
    text += fmt::format("  step      {}{}\n", time_text(*job.step), cluster.time(*job.step));
  }
  if (job.exchange) {
    text +=
        fmt::format("  exchange  {}{}{}\n", time_text(*job.exchange), cluster.time(*job.exchange),
                    job.busbw_bps > 0
                        ? fmt::format(", bus bandwidth {} ({}){}", bus_text(job.busbw_bps),
                                      readable(BitRate(job.busbw_bps)), cluster.rate(job.busbw_bps))
                        : "");
  }
  const auto wait = phase_s(job, record::Phase::Wait);
  if (wait && phase_s(job, record::Phase::Backward)) {
    text += fmt::format("  exposed   {} after backward\n", time_text(*wait));
  }
  if (job.alone) {
    text += fmt::format("  alone     {}: a step takes {:.2f} times as long beside the others\n",
                        time_text(job.alone->step), job.alone->slowdown);
  }
  if (job.learning) text += learning_text(*job.learning);
  return text;
}

std::string pairs_text(const record::Run& run) {
  if (!run.capture) return {};
  std::string text = "bytes per pair (TCP streams)\n";
  for (std::size_t i = 0; i < std::min(run.pairs.size(), kMostPairs); ++i) {
    text += fmt::format("  {} > {}  {}\n", printable(run.pairs[i].from), printable(run.pairs[i].to),
                        readable(Bytes(static_cast<std::int64_t>(run.pairs[i].stream_bytes))));
  }
  if (run.pairs.size() > kMostPairs) {
    text += fmt::format("  and {} more in pairs.csv\n", run.pairs.size() - kMostPairs);
  }
  return text;
}

std::string findings_text(const std::vector<record::Finding>& findings) {
  if (findings.empty()) return {};
  std::string text = "findings\n";
  for (std::size_t i = 0; i < std::min(findings.size(), kMostFindings); ++i) {
    text += fmt::format("  {}  {}\n", i + 1, printable(findings[i].text));
  }
  return text;
}

std::string entry_text(const record::TrafficEntry& entry) {
  if (entry.requested_bps == 0) return fmt::format("{}: none asked for", entry.name);
  if (!entry.outcome) return fmt::format("{}: cut off", entry.name);
  const record::FlowOutcomes& flows = entry.outcome->flows;
  return fmt::format(
      "{}: asked {}, got {} ({:.1f} %), {} flow{}, {} unfinished{}, late p50 {} p99 {}", entry.name,
      readable(BitRate(entry.requested_bps)), readable(BitRate(entry.achieved_bps)),
      100 * entry.achieved_bps / entry.requested_bps, flows.started,
      plural(static_cast<std::uint64_t>(flows.started)), flows.unfinished,
      flows.unstarted > 0 ? fmt::format(", {} never started", flows.unstarted) : "",
      time_text(entry.outcome->lateness.p50_s), time_text(entry.outcome->lateness.p99_s));
}

/// The mean of those that share a link with cross traffic, and of those that do not.
std::string gradients_text(const std::vector<record::GradientPair>& pairs) {
  std::array<double, 2> sums = {};
  std::array<int, 2> counts = {};
  for (const record::GradientPair& pair : pairs) {
    sums[pair.shares_a_link] += pair.sending_rate_bps;
    ++counts[pair.shares_a_link];
  }
  if (counts[0] == 0 || counts[1] == 0) return {};
  const auto mean = [&](std::size_t i) { return readable(BitRate(sums[i] / counts[i])); };
  return fmt::format("  gradients, while sending: {} beside it, {} on links of their own\n",
                     mean(1), mean(0));
}

std::string recoveries_text(const record::Run& run) {
  std::string text;
  for (std::size_t i = 0; i < std::min(run.recoveries.size(), kMostEntries); ++i) {
    text += fmt::format("recovery {}\n", record::recovery_words(run.recoveries[i]));
  }
  if (run.recoveries.size() > kMostEntries) {
    text += fmt::format("  and {} more in run.json\n", run.recoveries.size() - kMostEntries);
  }
  for (const record::Job& job : run.jobs) {
    if (!job.checkpoints) continue;
    text += fmt::format("kept {}: {}\n", printable(job.name),
                        record::checkpoint_words(*job.checkpoints));
  }
  return text;
}

std::string settings_text(const record::Point& point) {
  return printable(fmt::format("{}", fmt::join(point.settings, " ")));
}

/// "87.41 % after 1.2 GB"; "" where nothing was trained.
std::string learnt_text(const record::Point& point) {
  if (point.jobs.empty() || !point.jobs.front().learning) return {};
  const record::Learning& learning = *point.jobs.front().learning;
  return fmt::format("    accuracy {} after {} and {} sent\n", share_text(learning.accuracy),
                     time_text(learning.time_s), readable(Bytes(learning.sent_bytes)));
}

std::string figures_text(const record::Point& point) {
  const record::Job job = point.jobs.empty() ? record::Job{} : point.jobs.front();
  if (!job.step)
    return fmt::format("{:>10}  {:>23}  {:>10}  {:>13}  {:>5}", "-", "-", "-", "-", "-");
  return fmt::format(
      "{:>10}  {:>23}  {:>10}  {:>13}  {:>3.0f} %", time_text(job.step->median_s),
      fmt::format("{}, {}", time_text(job.step->ci_low_s), time_text(job.step->ci_high_s)),
      time_text(job.exchange ? job.exchange->median_s : 0), bus_text(job.busbw_bps),
      100 * (point.utilisation ? point.utilisation->share : 0));
}

std::string point_text(const record::Point& point, std::size_t width) {
  return fmt::format("{:<{}}  {}  {}\n", settings_text(point), width, figures_text(point),
                     !point.complete   ? "FAILED"
                     : point.checks_ok ? "ok"
                                       : "not ok") +
         learnt_text(point) +
         (point.problem ? fmt::format("    {}\n", printable(*point.problem)) : "");
}

}  // namespace

std::string place_text(const std::string& engine) {
  if (engine == "flow" || engine == "packet") {
    return fmt::format("simulated {} by {}", engine, engine);
  }
  if (engine == "hosts") return "hosts are machines: no link is shaped";
  if (engine == "shaped hosts") return "hosts are machines, shaped as the experiment says";
  if (engine != "loopback") return "engine " + engine;
  return "loopback: no link is shaped, nothing is captured, times are this machine's";
}

std::string faults_text(const std::vector<record::Fault>& faults) {
  std::string text;
  for (std::size_t i = 0; i < std::min(faults.size(), kMostEntries); ++i) {
    text += fmt::format("fault {}\n", record::fault_words(faults[i]));
  }
  if (faults.size() > kMostEntries) {
    text += fmt::format("  and {} more in run.json\n", faults.size() - kMostEntries);
  }
  return text;
}

std::string marked_text(const record::Run& run) {
  struct Job {
    std::uint64_t ranks = 0;
    std::uint64_t steps = 0;  ///< of the rank that marked most
    double least_s = 0;
    double most_s = 0;
  };
  std::vector<std::pair<std::string, Job>> jobs;
  for (const record::RankSteps& rank :
       run.steps ? run.steps->per_rank : decltype(run.steps->per_rank)()) {
    const std::string name = rank.job.value_or("");
    if (jobs.empty() || jobs.back().first != name) jobs.emplace_back(name, Job{});
    Job& job = jobs.back().second;
    job.least_s = job.ranks == 0 ? rank.median_s : std::min(job.least_s, rank.median_s);
    job.most_s = std::max(job.most_s, rank.median_s);
    job.steps = std::max(job.steps, rank.count);
    ++job.ranks;
  }
  std::string text;
  for (const auto& [name, job] : jobs) {
    text += fmt::format("steps    {}{} marked by {} rank{}, median {}{}\n",
                        name.empty() ? "" : printable(name) + ": ", job.steps, job.ranks,
                        plural(job.ranks), time_text(job.least_s),
                        job.most_s > job.least_s ? " to " + time_text(job.most_s) : "");
  }
  return text;
}

std::string traffic_text(const record::CrossTraffic& traffic) {
  std::string text;
  for (std::size_t i = 0; i < std::min(traffic.entries.size(), kMostEntries); ++i) {
    text += fmt::format("cross traffic {}\n", entry_text(traffic.entries[i]));
  }
  if (traffic.entries.size() > kMostEntries) {
    text += fmt::format("  and {} more in run.json\n", traffic.entries.size() - kMostEntries);
  }
  return text + gradients_text(traffic.gradient_pairs);
}

std::string checks_text(const std::vector<record::Check>& checks) {
  std::string text = "checks\n";
  for (const record::Check& check : checks) {
    const std::string_view mark = !check.ok                       ? "FAIL"
                                  : check.caution.value_or(false) ? "warn"
                                                                  : "ok";
    text += fmt::format("  {:<4}  {:<8} {}\n", mark, check.name, check.text);
  }
  return text;
}

std::string run_text(const record::Run& run, const std::string& name, const std::string& folder,
                     std::string_view about) {
  std::string text = verdict_text(run);
  text += fmt::format("{}, {}\n{}", printable(name), place_text(run.engine.value_or("")),
                      about.empty() ? "\n" : about);
  const Cluster cluster = cluster_of(run);
  text += scaling_text(cluster);
  for (std::size_t i = 0; i < std::min(run.jobs.size(), kMostJobs); ++i) {
    text += job_text(run.jobs[i], transport_text(run, i), cluster);
  }
  if (run.jobs.size() > kMostJobs) {
    text += fmt::format("  and {} more jobs in run.json\n", run.jobs.size() - kMostJobs);
  }
  text += links_text(run);
  if (run.cross_traffic) text += traffic_text(*run.cross_traffic);
  text += faults_text(run.faults);
  text += recoveries_text(run);
  text += pairs_text(run) + findings_text(run.findings) + checks_text(run.checks);
  if (run.expectations) text += command::expectations_text(*run.expectations);
  return text + fmt::format(
                    "\n{} has the tables\nnext: trainwire schema explains their columns, "
                    "trainwire explain CHECK a check\n",
                    folder);
}

std::string points_text(const record::Run& sweep, const std::string& folder) {
  const std::vector<record::Point>& points = *sweep.points;
  std::size_t width = 8;
  for (const record::Point& point : points) width = std::max(width, settings_text(point).size());
  std::string text =
      fmt::format("{:<{}}  {:>10}  {:>23}  {:>10}  {:>13}  {:>5}  checks\n", "settings", width,
                  "step", "95 % interval", "exchange", "busbw", "link");
  std::size_t shown = 0, left_out = 0;
  for (const record::Point& point : points) {
    const bool is_shown = points.size() <= kMostPoints || shown < kFirstPoints ||
                          (!point.checks_ok && shown < kMostPoints);
    (is_shown ? shown : left_out) += 1;
    if (is_shown) text += point_text(point, width);
  }
  if (left_out > 0) text += fmt::format("and {} more in points.csv\n", left_out);
  return text + fmt::format("\n{} has points.csv{}\n", folder,
                            sweep.command == "sim" ? ", and with --keep a run folder for each point"
                                                   : " and a run folder for each point");
}

}  // namespace tw::text
