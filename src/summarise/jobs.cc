// SPDX-License-Identifier: Apache-2.0
#include "trainwire/summarise/jobs.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

namespace tw::summarise {
namespace {

using diagnose::Analysis;

/// Flows of other jobs are cross traffic as long as this lives.
class AloneInCapture {
 public:
  AloneInCapture(std::vector<flow::Flow>& flows, int job) : flows_(flows) {
    for (flow::Flow& flow : flows_) {
      was_cross_.push_back(flow.cross);
      flow.cross = flow.cross || (flow.job >= 0 && flow.job != job);
    }
  }
  ~AloneInCapture() {
    for (std::size_t i = 0; i < flows_.size(); ++i) flows_[i].cross = was_cross_[i];
  }
  AloneInCapture(const AloneInCapture&) = delete;
  AloneInCapture& operator=(const AloneInCapture&) = delete;

 private:
  std::vector<flow::Flow>& flows_;
  std::vector<bool> was_cross_;
};

bool has_part(gather::Role role) {
  return role == gather::Role::Worker || role == gather::Role::Server;
}

/// Hosts and flows of the other job are no longer strangers to the first.
void merge(Analysis& into, const Analysis& other, int job, const std::vector<flow::Flow>& flows) {
  for (std::size_t i = 0; i < flows.size(); ++i) {
    if (flows[i].job == job) into.classes[i] = other.classes[i];
  }
  for (std::size_t i = 0; i < into.hosts.size(); ++i) {
    if (!has_part(into.hosts[i].role)) into.hosts[i].role = other.hosts[i].role;
  }
}

}  // namespace

void analyse_jobs(CaptureResult& result, std::span<const KnownJob> jobs,
                  diagnose::AnalysisOptions options) {
  std::vector<flow::Flow>& flows = result.traffic.flows;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const AloneInCapture alone(flows, static_cast<int>(i));
    options.log = jobs[i].log;
    Analysis found = diagnose::analyse(result.traffic, options);
    if (i == 0) {
      result.analysis = std::move(found);
    } else {
      result.other_jobs.push_back({.name = jobs[i].name, .analysis = std::move(found)});
    }
  }
  if (jobs.size() == 1) return;
  result.job = jobs.front().name;
  for (std::size_t i = 1; i < jobs.size(); ++i) {
    merge(result.analysis, result.other_jobs[i - 1].analysis, static_cast<int>(i), flows);
  }
}

void analyse_found_jobs(CaptureResult& result, const diagnose::AnalysisOptions& options) {
  result.analysis = diagnose::analyse(result.traffic, options);
  const std::vector<std::vector<std::size_t>> others = result.analysis.other_jobs;
  if (others.empty()) return;
  std::vector<flow::Flow>& flows = result.traffic.flows;
  for (std::size_t i = 0; i < flows.size(); ++i) {
    if (result.analysis.classes[i] == diagnose::FlowClass::Gradient) flows[i].job = 0;
  }
  std::vector<KnownJob> jobs{{.name = "job 1"}};
  for (std::size_t job = 0; job < others.size(); ++job) {
    for (const std::size_t flow : others[job]) flows[flow].job = static_cast<int>(job) + 1;
    jobs.push_back({.name = fmt::format("job {}", job + 2)});
  }
  analyse_jobs(result, jobs, options);
}

}  // namespace tw::summarise
