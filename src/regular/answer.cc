// SPDX-License-Identifier: Apache-2.0
#include "trainwire/regular/answer.h"

#include "trainwire/regular/servers.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

namespace tw::regular {
namespace {

using workload::Training;

/// What a job moves in all its steps, over its own connections and inside hosts.
void count(const Training& training, const std::vector<RingHop>& hops,
           std::span<const Steady> connections, JobAnswer& into, std::vector<double>& ports) {
  const std::int64_t times = training.warmup + training.steps;
  const auto add = [&](int from, const HopVolume& volume) {
    into.sent_bytes[static_cast<std::size_t>(from)] += times * volume.bytes;
    into.messages += times * volume.messages;
  };
  into.sent_bytes.resize(static_cast<std::size_t>(training.ranks()));
  for (const workload::Bucket& bucket : training.buckets) {
    if (bucket.elements == 0) continue;
    for (std::size_t i = 0; i < hops.size(); ++i) {
      const HopVolume volume =
          volume_of(bucket.elements, static_cast<int>(hops.size()), static_cast<int>(i));
      add(hops[i].from, volume);
      for (const int port : connections[i].line.ports) {
        ports[static_cast<std::size_t>(port)] += static_cast<double>(times * volume.bytes);
      }
    }
    for (const RingHop& pair : local_pairs(training)) {
      add(pair.from, {.bytes = workload::kElementBytes * bucket.elements, .messages = 1});
      add(pair.to, {.bytes = workload::kElementBytes * bucket.elements, .messages = 1});
    }
  }
}

}  // namespace

Outcome answer(const std::vector<const Training*>& jobs, const Physics& physics) {
  if (jobs.size() == 1 && has_servers_in_step(*jobs.front())) {
    const Training& job = *jobs.front();
    const std::string more = asks_beyond_exchanges(job);
    Outcome made = more.empty() ? answer_for_servers(job, physics) : Outcome{.reason = more};
    if (!made.answered) made.reason = job.name + ": " + made.reason;
    return made;
  }
  std::vector<std::vector<RingHop>> hops;
  std::vector<Ends> ends;
  for (const Training* training : jobs) {
    const std::string more = asks_for_more(*training);
    if (!more.empty()) return {.reason = training->name + ": " + more};
    hops.push_back(hops_of(*training));
    const collective::Layout& layout = training->arrangement.layout;
    for (const RingHop& hop : hops.back()) {
      ends.push_back({.from = layout.host(hop.from), .to = layout.host(hop.to)});
    }
  }
  const auto connections = steady(physics, ends);
  if (!connections) return {.reason = "connections share links that may be full"};
  Outcome made{.answered = true};
  made.answer.because = "no two hops of a ring can be in each other's way";
  made.answer.port_bytes.resize(static_cast<std::size_t>(physics.ports));
  auto next = connections->begin();
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const auto end = next + static_cast<std::ptrdiff_t>(hops[i].size());
    const std::vector<Steady> own(next, end);
    next = end;
    JobAnswer& job = made.answer.jobs.emplace_back();
    job.times = ring_times(*jobs[i], physics, own);
    count(*jobs[i], hops[i], own, job, made.answer.port_bytes);
    made.answer.end = std::max(made.answer.end, job.times.end);
  }
  return made;
}

}  // namespace tw::regular
