// SPDX-License-Identifier: Apache-2.0
#include "trainwire/recognise/jobs.h"

#include "trainwire/recognise/hypothesis.h"
#include "trainwire/recognise/one_side.h"
#include "trainwire/rhythm/parts.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <map>
#include <numeric>
#include <set>
#include <utility>

namespace tw::recognise {
namespace {

constexpr std::size_t kMostJobs = 8;
constexpr std::size_t kMostTries = 24;   ///< groups that are looked at
constexpr double kLeastOther = 0.005;    ///< of the bytes of the largest: less is no job
constexpr std::size_t kMostParts = 4;    ///< of a group that may be jobs
constexpr double kLeastExplained = 0.6;  ///< of what is left, by a second job
constexpr double kNearlyAll = 0.97;      ///< of the bytes, by one job: there are no several
constexpr double kAsMuch = 0.9;          ///< of what one job explains, by several
/// Steps by which the time that two connections of a job take in all may differ: hosts begin a step one after the
/// other, and some send the model before the first.
constexpr double kDiffers[] = {0.5, 1.5};
/// How far connections may differ that carry the same; and where some have carried the model before.
constexpr double kAlike[] = {0.02, 0.2};
constexpr double kSameInSteps = 0.01;  ///< of its bytes, by which a connection's steps may differ
constexpr std::size_t kFewestSteps = 4;
constexpr std::size_t kFewestConnections = 2;  ///< of a job: what goes one way only is none

using rhythm::bytes_of;
using rhythm::Channels;
using rhythm::Paced;
using rhythm::Part;

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

/// Those with the flows of a job, and what is left.
struct Split {
  Channels own;
  Channels rest;
};

Split split(const Channels& channels, const std::vector<std::size_t>& taken) {
  Split result;
  for (const rhythm::Channel& channel : channels) {
    const bool is_own = std::binary_search(taken.begin(), taken.end(), channel.flows.front());
    (is_own ? result.own : result.rest).push_back(channel);
  }
  return result;
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

/// Whether their paces differ.
bool differ(const Job& job, const Job& other) {
  const double a = job.exchanges->tempo.period_ns;
  const double b = other.exchanges->tempo.period_ns;
  return std::abs(a - b) > rhythm::kSamePeriod * std::min(a, b);
}

/// Whether the job is another one than `known`, not what goes on beside its steps.
bool is_apart(const Job& job, const Job& known) {
  return !known.exchanges || !share_hosts(job, known) || differ(job, known);
}

bool is_job(const Found& found) {
  return found.job.exchanges && found.job.recognition &&
         found.job.exchanges->steps.size() >= kFewestSteps &&
         bytes_in(*found.job.exchanges) >= kLeastExplained * found.bytes;
}

double explained(const Job& job) {
  return job.exchanges && job.recognition ? bytes_in(*job.exchanges) : 0;
}

/// Whether it was found in connections taken together, which may be of several jobs.
bool is_joined(const Job& job) {
  return std::any_of(job.channels.begin(), job.channels.end(),
                     [](const rhythm::Channel& channel) { return channel.flows.size() > 1; });
}

/// What a connection sends from the beginning of each of a lane's beats to that of the next; nothing
/// where a beat is not seen.
std::vector<double> sent_by_step(const flow::Flow& flow, const rhythm::Lane& lane) {
  std::vector<double> sent;
  auto burst = flow.bursts.begin();
  for (std::size_t step = 0; step + 1 < lane.beats.size(); ++step) {
    if (!lane.beats[step] || !lane.beats[step + 1]) return {};
    sent.push_back(0);
    while (burst != flow.bursts.end() && burst->start_ns < lane.beats[step]->start_ns) ++burst;
    for (; burst != flow.bursts.end() && burst->start_ns < lane.beats[step + 1]->start_ns; ++burst)
      sent.back() += static_cast<double>(burst->bytes);
  }
  return sent;
}

/// Whether a connection sends the same in each step but the first, as only those of the steps' own job
/// do.
bool keeps_steps(const flow::Flow& flow, const rhythm::Lane& lane) {
  const std::vector<double> sent = sent_by_step(flow, lane);
  if (sent.size() < kFewestSteps) return false;
  const auto [least, most] = std::minmax_element(sent.begin() + 1, sent.end());
  return *least > 0 && *most <= (1 + kSameInSteps) * *least;
}

/// Connections of a group beside those that keep the steps of a job.
Channels beside(const Job& job, const Channels& group, const gather::Captured& traffic) {
  std::set<std::size_t> kept;
  if (job.exchanges) {
    for (const rhythm::Lane& lane : job.exchanges->lanes) {
      for (const std::size_t flow : job.channels[lane.channel].flows) {
        if (keeps_steps(traffic.flows[flow], lane)) kept.insert(flow);
      }
    }
  }
  Channels rest;
  std::copy_if(
      group.begin(), group.end(), std::back_inserter(rest),
      [&](const rhythm::Channel& channel) { return !kept.contains(channel.flows.front()); });
  return rest;
}

/// Those of connected hosts, of most bytes first.
std::vector<Channels> largest_of(const std::vector<Part>& parts) {
  std::vector<Channels> result;
  for (const Part& part : parts) {
    for (Channels& group : groups_of(part.channels)) result.push_back(std::move(group));
  }
  std::stable_sort(result.begin(), result.end(),
                   [](const Channels& a, const Channels& b) { return bytes_of(a) > bytes_of(b); });
  if (result.size() > kMostParts) result.resize(kMostParts);
  return result;
}

/// Parts of a group, each looked at by itself: once, whatever makes it a part.
class Looks {
 public:
  Looks(const gather::Captured& traffic, const std::vector<int>& host_of)
      : traffic_(traffic), host_of_(host_of) {}

  const Found& at(Channels part) {
    std::vector<std::size_t> flows;
    for (const rhythm::Channel& channel : part) flows.push_back(channel.flows.front());
    std::sort(flows.begin(), flows.end());
    const auto [known, is_new] = known_.try_emplace(std::move(flows));
    if (is_new)
      known->second = {.job = job_of(in_order(part), traffic_, host_of_), .bytes = bytes_of(part)};
    return known->second;
  }

 private:
  static const Channels& in_order(Channels& part) {
    std::sort(part.begin(), part.end(),
              [](const auto& a, const auto& b) { return a.flows.front() < b.flows.front(); });
    return part;
  }

  const gather::Captured& traffic_;
  const std::vector<int>& host_of_;
  std::map<std::vector<std::size_t>, Found> known_;  ///< by their flows, rising
};

/// The jobs that these parts of a group are, each by itself; nothing unless they are several that
/// keep paces of their own, and explain as much as one job of all of them does, and most: a few of
/// many connections are alike by chance.
std::vector<Found> jobs_of(const std::vector<Channels>& parts, const Found& one, Looks& looks) {
  const double needed = std::max(kAsMuch * explained(one.job), kLeastExplained * one.bytes);
  double possible = 0;
  for (const Channels& part : parts) possible += bytes_of(part);
  std::size_t left = parts.size();
  std::vector<const Found*> found;
  // The smallest first, which cost least.
  for (auto part = parts.rbegin(); part != parts.rend(); ++part, --left) {
    if (found.size() + left < 2 || possible < needed) return {};
    const bool is_less =
        part->size() < kFewestConnections || bytes_of(*part) < kLeastOther * one.bytes;
    const Found* other = is_less ? nullptr : &looks.at(*part);
    const bool is_one = other != nullptr && is_job(*other);
    possible -= bytes_of(*part) - (is_one ? explained(other->job) : 0);
    if (!is_one) continue;
    const auto keeps_its_pace = [&](const Found* known) { return !differ(other->job, known->job); };
    if (std::any_of(found.begin(), found.end(), keeps_its_pace)) return {};
    found.push_back(other);
  }
  if (found.size() < 2 || possible < needed) return {};
  std::vector<Found> jobs;
  for (auto job = found.rbegin(); job != found.rend(); ++job) jobs.push_back(**job);
  return jobs;
}

/// A job that is a part of its group, as it is without the rest, to whose pace its own may have been
/// bent; as it was found unless it is one then.
Found alone(Found part, const Channels& group, Looks& looks) {
  if (!part.job.recognition || part.job.only_host || is_job(part)) return part;
  const Channels own = split(group, part.job.gradient_flows()).own;
  if (own.size() == group.size()) return part;
  const Found& result = looks.at(own);
  return is_job(result) ? result : part;
}

/// Several jobs of hosts that are connected. The connections of one job keep its pace, each by
/// itself, or carry the same.
std::vector<Found> several_in(const Channels& group, const Found& one,
                              const gather::Captured& traffic, const std::vector<int>& host_of,
                              Looks& looks) {
  if (group.size() < 2 * kFewestConnections) return {};
  if (!is_joined(one.job) && explained(one.job) >= kNearlyAll * one.bytes) return {};
  if (only_witness(traffic, host_of)) return {};  // whose pairs are parts of anything
  const Channels others = beside(one.job, group, traffic);
  if (others.size() < kFewestConnections || bytes_of(others) < kLeastOther * one.bytes) return {};
  const std::vector<Paced> paced = rhythm::paced_of(group, traffic.burst_gap_ns);
  for (const double steps : kDiffers) {
    const std::vector<Part> parts = rhythm::parts_by_pace(paced, steps);
    std::vector<Found> found = jobs_of(largest_of(parts), one, looks);
    if (found.empty()) found = jobs_of(largest_of(rhythm::with_whole_steps(parts)), one, looks);
    if (!found.empty()) return found;
  }
  const std::vector<Part> in_step = rhythm::parts_by_steps(group, paced);
  std::vector<Found> by_steps = jobs_of(largest_of(rhythm::with_whole_steps(in_step)), one, looks);
  if (by_steps.empty()) by_steps = jobs_of(largest_of(in_step), one, looks);
  if (!by_steps.empty()) return by_steps;
  for (const double slack : kAlike) {
    std::vector<Found> found =
        jobs_of(largest_of(rhythm::parts_by_bytes(group, slack)), one, looks);
    if (!found.empty()) return found;
  }
  return {};
}

}  // namespace

Jobs find_jobs(const gather::Captured& traffic, const std::vector<int>& host_of,
               const std::optional<imports::StepLog>& log) {
  const Channels all = rhythm::flow_channels(traffic, host_of);
  std::vector<Channels> waiting = groups_of(all);
  if (log || waiting.size() == 0) return {.main = job_of(all, traffic, host_of, log), .others = {}};
  const double least = kLeastOther * bytes_of(waiting.front());
  const bool is_one_group = waiting.size() == 1;
  Looks looks(traffic, host_of);
  std::vector<Found> found;
  for (std::size_t i = 0; i < std::min(waiting.size(), kMostTries) && found.size() < kMostJobs;
       ++i) {
    Channels group = std::move(waiting[i]);
    const double bytes = bytes_of(group);
    if (bytes < least) continue;
    if (!found.empty() && group.size() < kFewestConnections) continue;
    Found one = looks.at(group);
    std::vector<Found> jobs = several_in(group, one, traffic, host_of, looks);
    if (jobs.empty()) one = alone(std::move(one), group, looks);
    if (jobs.empty() && (found.empty() || is_job(one))) jobs.push_back(std::move(one));
    for (Found& job : jobs) {
      if (job.job.recognition && !job.job.only_host) {
        group = split(group, job.job.gradient_flows()).rest;
      }
      found.push_back(std::move(job));
    }
    if (jobs.empty() || group.size() == 0) continue;
    if (bytes_of(group) == bytes) continue;  // nothing is known of it
    for (Channels& rest : groups_of(group)) waiting.push_back(std::move(rest));
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
