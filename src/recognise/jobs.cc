// SPDX-License-Identifier: Apache-2.0
#include "trainwire/recognise/jobs.h"

#include "trainwire/recognise/hypothesis.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>
#include <utility>

namespace tw::recognise {
namespace {

using Channels = std::vector<rhythm::Channel>;

constexpr std::size_t kMostJobs = 8;
constexpr double kLeastOther = 0.05;     ///< of the bytes of the largest: less is no job
constexpr double kLeastExplained = 0.6;  ///< of what is left, by a second job
constexpr double kSamePeriod = 0.015;    ///< what repeats at one pace on the same hosts is one job
constexpr std::size_t kFewestSteps = 4;

double bytes_of(const Channels& channels) {
  double sum = 0;
  for (const rhythm::Channel& channel : channels) sum += static_cast<double>(channel.bytes);
  return sum;
}

/// Channels of hosts that are connected by them, directly or through others; of most bytes first.
std::vector<Channels> groups_of(const Channels& channels) {
  std::map<int, int> leader;
  const auto find = [&](int host) {
    leader.try_emplace(host, host);
    while (leader[host] != host) host = leader[host] = leader[leader[host]];
    return host;
  };
  for (const rhythm::Channel& channel : channels) leader[find(channel.from)] = find(channel.to);
  std::map<int, Channels> groups;
  for (const rhythm::Channel& channel : channels) groups[find(channel.from)].push_back(channel);
  std::vector<Channels> result;
  for (auto& [host, group] : groups) result.push_back(std::move(group));
  std::stable_sort(result.begin(), result.end(),
                   [](const Channels& a, const Channels& b) { return bytes_of(a) > bytes_of(b); });
  return result;
}

/// What is left when the job has its flows.
Channels without(const Channels& channels, const std::vector<std::size_t>& taken) {
  Channels rest;
  for (const rhythm::Channel& channel : channels) {
    if (!std::binary_search(taken.begin(), taken.end(), channel.flows.front())) {
      rest.push_back(channel);
    }
  }
  return rest;
}

struct Found {
  Job job;
  double bytes;  ///< that were given
  double weight() const { return job.score * bytes; }
};

bool share_hosts(const Job& a, const Job& b) {
  const std::vector<int> of_a = rhythm::hosts_of(*a.exchanges);
  const std::vector<int> of_b = rhythm::hosts_of(*b.exchanges);
  return std::any_of(of_a.begin(), of_a.end(),
                     [&](int host) { return std::binary_search(of_b.begin(), of_b.end(), host); });
}

/// Whether the job is another one than `known`, not what goes on beside its steps.
bool is_apart(const Job& job, const Job& known) {
  if (!known.exchanges || !share_hosts(job, known)) return true;
  const double a = job.exchanges->tempo.period_ns;
  const double b = known.exchanges->tempo.period_ns;
  return std::abs(a - b) > kSamePeriod * std::min(a, b);
}

bool is_job(const Found& found) {
  return found.job.exchanges && found.job.recognition &&
         found.job.exchanges->steps.size() >= kFewestSteps &&
         bytes_in(*found.job.exchanges) >= kLeastExplained * found.bytes;
}

}  // namespace

Jobs find_jobs(const gather::Captured& traffic, const std::vector<int>& host_of,
               const std::optional<imports::StepLog>& log) {
  const Channels all = rhythm::flow_channels(traffic, host_of);
  std::vector<Channels> waiting = groups_of(all);
  if (log || waiting.size() == 0) return {.main = job_of(all, traffic, host_of, log), .others = {}};
  const double least = kLeastOther * bytes_of(waiting.front());
  const bool is_one_group = waiting.size() == 1;
  std::vector<Found> found;
  for (std::size_t i = 0; i < waiting.size() && found.size() < kMostJobs; ++i) {
    const Channels group = std::move(waiting[i]);
    const double bytes = bytes_of(group);
    if (bytes < least) continue;
    found.push_back({.job = job_of(group, traffic, host_of), .bytes = bytes});
    const bool is_first = found.size() == 1;
    if (!is_first && !is_job(found.back())) {
      found.pop_back();
      continue;
    }
    if (!found.back().job.recognition || found.back().job.only_host) continue;
    for (Channels& rest : groups_of(without(group, found.back().job.gradient_flows()))) {
      waiting.push_back(std::move(rest));
    }
  }
  const auto best =
      std::max_element(found.begin(), found.end(),
                       [](const Found& a, const Found& b) { return a.weight() < b.weight(); });
  if (best->weight() <= 0 && !is_one_group) {
    return {.main = job_of(all, traffic, host_of, log), .others = {}};
  }
  Jobs result{.main = std::move(best->job), .others = {}};
  for (Found& other : found) {
    if (&other == &*best || !is_job(other) || !is_apart(other.job, result.main)) continue;
    if (!result.main.recognition) continue;
    result.others.push_back(other.job.gradient_flows());
  }
  return result;
}

}  // namespace tw::recognise
