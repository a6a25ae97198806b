// SPDX-License-Identifier: Apache-2.0
#include "trainwire/cli/run_text.h"

#include "trainwire/base/printable.h"
#include "trainwire/base/units.h"
#include "trainwire/workload/volume.h"

#include <fmt/format.h>

#include <algorithm>

namespace tw::cli {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kMostPairs = 6;
constexpr std::size_t kMostFindings = 4;
constexpr std::size_t kMostJobs = 4;
constexpr std::size_t kFindingColumns = 110;
constexpr double kTail = 0.99;

std::string time_text(const stats::Estimate& estimate) {
  return fmt::format("{} [{}, {}]", readable(from_seconds(estimate.value)),
                     readable(from_seconds(estimate.low)), readable(from_seconds(estimate.high)));
}

std::string job_text(const lab::TrainingJob& job, const StepFigures& figures) {
  const trainer::Task& task = job.tasks.front();
  std::string text = fmt::format(
      "{}: {} of {} rank{}{}, {} of gradients in {} bucket{}, {} step{}\n", printable(job.name),
      task.training.strategy, job.tasks.size(), job.tasks.size() == 1 ? "" : "s",
      job.transport == "tcp" ? "" : fmt::format(" (tcp in place of {})", job.transport),
      readable(task.training.bytes()), task.training.buckets.size(),
      task.training.buckets.size() == 1 ? "" : "s", figures.steps, figures.steps == 1 ? "" : "s");
  if (figures.step_s) text += fmt::format("  step      {}\n", time_text(*figures.step_s));
  if (figures.exchange_s) {
    text += fmt::format("  exchange  {}{}\n", time_text(*figures.exchange_s),
                        figures.busbw_bps > 0 ? fmt::format(", bus bandwidth {}",
                                                            readable(BitRate(figures.busbw_bps)))
                                              : "");
  }
  const auto wait = figures.phases_s.find("wait");
  if (wait != figures.phases_s.end() && task.training.compute.backward.count() > 0) {
    text +=
        fmt::format("  exposed   {} of it after backward\n", readable(from_seconds(wait->second)));
  }
  return text;
}

std::string pairs_text(const CaptureResult& result) {
  if (result.traffic.totals.packets == 0) return {};
  const HostNames names(result.traffic, result.analysis);
  const std::vector<HostPair> pairs = host_pairs(result.traffic, names);
  std::string text = "bytes per pair (TCP streams)\n";
  for (std::size_t i = 0; i < std::min(pairs.size(), kMostPairs); ++i) {
    text += fmt::format("  {} > {}  {}\n", printable(names.name(pairs[i].from)),
                        printable(names.name(pairs[i].to)),
                        readable(Bytes(static_cast<std::int64_t>(pairs[i].count.stream_bytes))));
  }
  if (pairs.size() > kMostPairs) {
    text += fmt::format("  and {} more in pairs.csv\n", pairs.size() - kMostPairs);
  }
  return text;
}

std::string findings_text(const CaptureResult& result) {
  const auto& findings = result.analysis.findings;
  if (result.traffic.totals.packets == 0 || findings.empty()) return {};
  std::string text = "findings\n";
  for (std::size_t i = 0; i < std::min(findings.size(), kMostFindings); ++i) {
    text += fmt::format("  {}  {}\n", i + 1, cut(printable(findings[i].text), kFindingColumns));
  }
  return text;
}

ordered_json times_document(const std::vector<double>& times_s) {
  if (times_s.empty()) return nullptr;
  const stats::Estimate median = stats::median_estimate(times_s);
  const stats::Estimate mean = stats::mean_estimate(times_s);
  const stats::Estimate tail = stats::quantile_estimate(times_s, kTail);
  return {{"median_s", median.value}, {"ci_low_s", median.low}, {"ci_high_s", median.high},
          {"count", times_s.size()},  {"mean_s", mean.value},   {"mean_low_s", mean.low},
          {"mean_high_s", mean.high}, {"p99_s", tail.value},    {"p99_low_s", tail.low},
          {"p99_high_s", tail.high},  {"times_s", times_s}};
}

}  // namespace

std::optional<Utilisation> busiest_link(const lab::ConductOutcome& outcome,
                                        const network::NetPlan& plan, std::int64_t begin_ns,
                                        std::int64_t end_ns) {
  const std::vector<watch::LinkSample>& samples = outcome.watch.links;
  const auto at = [&](std::int64_t time) {
    return std::lower_bound(samples.begin(), samples.end(), time,
                            [](const auto& sample, std::int64_t t) { return sample.time_ns < t; });
  };
  const auto first = at(begin_ns);
  auto last = at(end_ns);
  if (last == samples.end() && !samples.empty()) --last;
  if (first >= last) return {};
  const double seconds = 1e-9 * static_cast<double>(last->time_ns - first->time_ns);
  std::optional<Utilisation> busiest;
  for (std::size_t host = 0; host < first->links.size(); ++host) {
    for (const bool out : {true, false}) {
      const network::Port& port = plan.ports[2 * host + (out ? 0 : 1)];
      const auto count = [&](const watch::LinkCounters& c) {
        return static_cast<double>(out ? c.sent_bytes : c.received_bytes);
      };
      const double rate = 8 * (count(last->links[host]) - count(first->links[host])) / seconds;
      const double share = rate / port.rate.bits_per_second();
      if (busiest && share <= busiest->share) continue;
      busiest = {.link = port.link, .from_host = out, .share = share, .rate_bps = rate};
    }
  }
  return busiest;
}

std::string run_text(const RunView& view, const CaptureResult& result, const std::string& folder) {
  std::string text = fmt::format("{}, {}\n\n", printable(view.name), view.place);
  for (std::size_t i = 0; i < std::min(view.jobs.size(), kMostJobs); ++i) {
    text += job_text(view.jobs[i], view.figures[i]);
  }
  if (view.busiest) {
    text += fmt::format("busiest link: {} {}, {:.0f} % full ({})\n", view.busiest->link,
                        view.busiest->from_host ? "sending" : "receiving",
                        100 * view.busiest->share, readable(BitRate(view.busiest->rate_bps)));
  }
  text += traffic_text(view.traffic) + pairs_text(result) + findings_text(result);
  text += checks_text(view.checks) + expectations_text(view.expectations);
  return text + fmt::format("\n{} has the tables; trainwire schema explains them\n", folder);
}

ordered_json jobs_document(const RunView& view) {
  ordered_json jobs = ordered_json::array();
  for (std::size_t i = 0; i < view.jobs.size(); ++i) {
    const lab::TrainingJob& job = view.jobs[i];
    const trainer::Task& task = job.tasks.front();
    const StepFigures& figures = view.figures[i];
    ordered_json phases = ordered_json::object();
    for (const auto& [phase, seconds] : figures.phases_s) phases[phase] = seconds;
    jobs.push_back(
        {{"name", job.name},
         {"strategy", task.training.strategy},
         {"ranks", job.tasks.size()},
         {"gradient_bytes", task.training.bytes().count()},
         {"buckets", task.training.buckets.size()},
         {"verified", task.verify},
         {"steps", figures.steps},
         {"step_sent_bytes", static_cast<double>(view.sent_bytes[i]) /
                                 static_cast<double>(task.training.steps + task.training.warmup)},
         {"demand_bytes", workload::demand(job.training()).count()},
         {"step", times_document(figures.step_times_s)},
         {"exchange", times_document(figures.exchange_times_s)},
         {"busbw_bps", figures.busbw_bps},
         {"phases_median_s", phases}});
  }
  return jobs;
}

}  // namespace tw::cli
