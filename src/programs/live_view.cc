// SPDX-License-Identifier: Apache-2.0
#include "trainwire/programs/live_view.h"

#include "trainwire/lab/live_log.h"
#include "trainwire/os/clock.h"
#include "trainwire/programs/jobs.h"

#include <fmt/format.h>

#include <algorithm>

namespace tw::programs {
namespace {

/// People read no faster.
constexpr std::int64_t kLookNs = 100'000'000;

record::LiveHeader header_of(const spec::Experiment& experiment,
                             const lab::ConductRequest& request) {
  record::LiveHeader header{.name = *experiment.name,
                            .started_ns = static_cast<std::uint64_t>(os::real_time_ns())};
  header.capacity_bps.emplace();
  for (std::size_t host = 0; host < request.plan.hosts.size(); ++host) {
    header.hosts.push_back(request.plan.hosts[host].name);
    header.capacity_bps->emplace_back(request.plan.ports[2 * host].rate.bits_per_second());
  }
  for (const lab::LaunchRequest& job : request.launches) {
    header.jobs.push_back({.name = job_name(job), .ranks = job.placement.size()});
  }
  return header;
}

}  // namespace

std::string shown_line(double elapsed_s, double busiest_bps, const std::string& job,
                       const std::string& line) {
  return fmt::format("{:>7.1f} s  {:>12}  {}| {}", elapsed_s, readable(BitRate(busiest_bps)),
                     job.empty() ? "" : job + " ", line);
}

LiveView::LiveView(const spec::Experiment& experiment, const lab::ConductRequest& request,
                   std::function<void(const std::string&)> line)
    : plan_(request.plan),
      line_(std::move(line)),
      file_(fmt::format("{}/{}", request.folder, record::kLiveFile),
            header_of(experiment, request)),
      began_ns_(os::monotonic_ns()),
      due_ns_(began_ns_) {
  for (const lab::LaunchRequest& job : request.launches) {
    const std::string first = job.name.empty() ? "rank0" : fmt::format("job{}-rank0", job.job);
    jobs_.push_back({.name = job.name,
                     .output = Tail(fmt::format("{}/{}.txt", request.folder, first)),
                     .marks = Tail(lab::marks_file(job, 0))});
  }
}

double LiveView::elapsed_s() const {
  return 1e-9 * static_cast<double>(os::monotonic_ns() - began_ns_);
}

void LiveView::begin() { began_ns_ = os::monotonic_ns(); }

void LiveView::set_rates(std::span<const double> ports_bps) {
  counted_ = lab::counted_rates(ports_bps, plan_);
  busiest_bps_ = ports_bps.empty() ? 0 : *std::max_element(ports_bps.begin(), ports_bps.end());
}

void LiveView::show_lines() {
  for (Job& job : jobs_) {
    for (const std::string& line : job.output.look()) {
      if (line_) line_(shown_line(elapsed_s(), busiest_bps_, job.name, line));
    }
    job.steps += job.marks.look().size();
  }
}

void LiveView::look() {
  const std::int64_t now = os::monotonic_ns();
  if (now - looked_ns_ < kLookNs) return;
  looked_ns_ = now;
  show_lines();
  if (now < due_ns_) return;
  due_ns_ = lab::next_sample_ns(now, began_ns_);
  sample();
}

void LiveView::sample() {
  record::LiveSample sample = counted_;
  sample.time_ns = static_cast<std::uint64_t>(os::real_time_ns());
  sample.sent_bps.resize(plan_.hosts.size());
  for (const Job& job : jobs_) sample.steps.push_back(job.steps);
  file_.write(sample);
}

void LiveView::end(const std::string& why) {
  show_lines();
  sample();
  file_.end(why);
}

}  // namespace tw::programs
