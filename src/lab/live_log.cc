// SPDX-License-Identifier: Apache-2.0
#include "trainwire/lab/live_log.h"

#include "trainwire/os/clock.h"

#include <algorithm>
#include <numeric>

namespace tw::lab {
namespace {

constexpr std::int64_t kEveryNs = 500'000'000;
/// Beyond ten minutes the distance of samples grows with the run.
constexpr std::int64_t kSamplesOfARun = 1200;

/// By peer, everything that TCP carried for it.
std::vector<std::int64_t> sent_by(const RankState& state) {
  if (!state.told_counts) return state.acknowledged;
  std::vector<std::int64_t> bytes = state.counts.sent;
  for (std::size_t peer = 0; peer < bytes.size(); ++peer) bytes[peer] += state.counts.framing[peer];
  return bytes;
}

}  // namespace

record::LiveSample counted_rates(std::span<const double> ports_bps, const network::NetPlan& plan) {
  record::LiveSample sample;
  for (std::size_t i = 0; i < ports_bps.size(); ++i) {
    const network::Port& port = plan.ports[i];
    const bool up = i % 2 == 0;
    if (i >= 2 * plan.hosts.size()) {
      sample.core_bps[port.link][up ? 0 : 1] = ports_bps[i];
    } else if (up) {
      sample.sent_bps.push_back(ports_bps[i]);
    }
    const double share = ports_bps[i] / port.rate.bits_per_second();
    if (sample.busiest && share <= sample.busiest->share) continue;
    sample.busiest = record::LiveBusiest{
        .link = port.link, .direction = up ? "from_host" : "to_host", .share = share};
  }
  return sample;
}

std::int64_t next_sample_ns(std::int64_t now_ns, std::int64_t began_ns) {
  return now_ns + std::max(kEveryNs, (now_ns - began_ns) / kSamplesOfARun);
}

LiveLog::LiveLog(std::string path, const record::LiveHeader& header,
                 const std::vector<TrainingJob>& jobs)
    : file_(std::move(path), header),
      hosts_(header.hosts.size()),
      jobs_(jobs),
      began_ns_(os::monotonic_ns()),
      due_ns_(began_ns_) {}

void LiveLog::set_rates(std::span<const double> ports_bps, const network::NetPlan& plan) {
  counted_ = counted_rates(ports_bps, plan);
}

void LiveLog::look(const RankTalk& talk) {
  const std::int64_t now = os::monotonic_ns();
  if (!talk.started() || now < due_ns_) return;
  due_ns_ = next_sample_ns(now, began_ns_);
  sample(talk);
}

void LiveLog::sample(const RankTalk& talk) {
  const std::int64_t now = os::monotonic_ns();
  const auto bytes = pair_bytes(talk);
  record::LiveSample sample{.time_ns = static_cast<std::uint64_t>(os::real_time_ns()),
                            .sent_bps = rates(bytes, now),
                            .busiest = counted_.busiest,
                            .core_bps = counted_.core_bps};
  for (std::size_t job = 0; job < jobs_.size(); ++job) {
    sample.steps.push_back(static_cast<std::uint64_t>(steps_of(job, talk)));
  }
  for (std::size_t from = 0; from < hosts_; ++from) {
    for (std::size_t to = 0; to < hosts_; ++to) {
      if (bytes[from][to] <= 0) continue;
      sample.pairs.push_back(
          {.from = from, .to = to, .bytes = static_cast<std::uint64_t>(bytes[from][to])});
    }
  }
  file_.write(sample);
}

std::int64_t LiveLog::steps_of(std::size_t job, const RankTalk& talk) const {
  const workload::Training& training = jobs_[job].training();
  const std::int64_t all = training.steps + training.warmup;
  const bool done =
      std::all_of(talk.ranks().begin(), talk.ranks().end(),
                  [&](const RankState& state) { return state.job != job || state.told_counts; });
  return done ? all : std::clamp<std::int64_t>(talk.step(job) + training.warmup, 0, all);
}

std::vector<std::vector<std::int64_t>> LiveLog::pair_bytes(const RankTalk& talk) const {
  std::vector<std::vector<std::int64_t>> bytes(hosts_, std::vector<std::int64_t>(hosts_));
  for (const RankState& state : talk.ranks()) {
    const std::vector<int>& hosts = jobs_[state.job].hosts;
    const std::vector<std::int64_t> sent = sent_by(state);
    for (std::size_t peer = 0; peer < sent.size(); ++peer) {
      bytes[static_cast<std::size_t>(hosts[state.rank])][static_cast<std::size_t>(hosts[peer])] +=
          sent[peer];
    }
  }
  return bytes;
}

std::vector<double> LiveLog::rates(const std::vector<std::vector<std::int64_t>>& bytes,
                                   std::int64_t now_ns) {
  if (!counted_.sent_bps.empty()) return counted_.sent_bps;
  // Ranks tell their bytes four times a second: over less time there is no rate.
  if (last_ns_ != 0 && now_ns - last_ns_ < kEveryNs / 2) return last_bps_;
  std::vector<double> result(hosts_);
  std::vector<std::int64_t> sent(hosts_);
  for (std::size_t host = 0; host < hosts_; ++host) {
    sent[host] = std::accumulate(bytes[host].begin(), bytes[host].end(), std::int64_t{0});
    if (last_ns_ == 0) continue;
    const std::int64_t moved = std::max<std::int64_t>(sent[host] - last_sent_[host], 0);
    result[host] = 8e9 * static_cast<double>(moved) / static_cast<double>(now_ns - last_ns_);
  }
  last_bps_ = result;
  last_sent_ = std::move(sent);
  last_ns_ = now_ns;
  return result;
}

}  // namespace tw::lab
