// SPDX-License-Identifier: Apache-2.0
#include "trainwire/recognise/dialogue.h"

#include "trainwire/recognise/no_training.h"
#include "trainwire/stats/quantile.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>

namespace tw::recognise {
namespace {

constexpr double kSmall = 0.02;      ///< of a turn of data: requests, leave to send more
constexpr double kSameSize = 0.04;   ///< how far turns may differ, as framing makes them
constexpr double kLeastShare = 0.9;  ///< of a dialogue's bytes in turns of one size
constexpr double kLeastOfAll = 0.6;  ///< of the bytes of all channels in dialogues
/// Of the workers' pace: compute times vary little, what people or clients ask for varies by 100 %.
constexpr double kLeastRegularity = 0.6;
constexpr std::size_t kFewestTurns = 5;
constexpr std::size_t kFewestWorkers = 2;
constexpr std::size_t kMostChannels = 1024;

/// Half of the bytes are in turns of at least this size.
double typical_size(const std::vector<Turn>& turns) {
  std::vector<double> sizes;
  double all = 0;
  for (const Turn& turn : turns) {
    sizes.push_back(turn.bytes);
    all += turn.bytes;
  }
  std::sort(sizes.rbegin(), sizes.rend());
  double sum = 0;
  for (const double size : sizes) {
    sum += size;
    if (2 * sum >= all) return size;
  }
  return 0;
}

/// Neighbours of one sender are one turn.
std::vector<Turn> joined(const std::vector<Turn>& turns, double least_bytes) {
  std::vector<Turn> result;
  for (const Turn& turn : turns) {
    if (turn.bytes < least_bytes) continue;
    if (result.empty() || result.back().from != turn.from) {
      result.push_back(turn);
      continue;
    }
    result.back().end_ns = std::max(result.back().end_ns, turn.end_ns);
    result.back().bytes += turn.bytes;
  }
  return result;
}

using HostPair = std::pair<int, int>;

/// A worker's data and the answers to it, in turns.
struct Dialogue {
  int worker;
  int server;
  double bytes;  ///< of one turn
  std::vector<Turn> data;
  std::vector<Turn> answers;  ///< as many
};

double median_bytes(const std::vector<Turn>& turns) {
  std::vector<double> sizes;
  for (const Turn& turn : turns) sizes.push_back(turn.bytes);
  return sizes.empty() ? 0 : stats::median(std::move(sizes));
}

/// Share of the bytes in turns of the size.
double even_share(const std::vector<Turn>& turns, double bytes) {
  double all = 0;
  double even = 0;
  for (const Turn& turn : turns) {
    all += turn.bytes;
    if (std::abs(turn.bytes - bytes) <= kSameSize * bytes) even += turn.bytes;
  }
  return all > 0 ? even / all : 0;
}

/// Median time from the end of the other's turn to the host's own.
double typical_wait(const std::vector<Turn>& turns, int host) {
  std::vector<double> waits;
  for (std::size_t i = 1; i < turns.size(); ++i) {
    if (turns[i].from == host) {
      waits.push_back(static_cast<double>(turns[i].start_ns - turns[i - 1].end_ns));
    }
  }
  return waits.empty() ? 0 : stats::median(std::move(waits));
}

/// Nothing unless both hosts send the same, turn by turn.
std::optional<Dialogue> dialogue_of(HostPair hosts, const std::vector<Turn>& turns) {
  const bool is_first_server = typical_wait(turns, hosts.first) < typical_wait(turns, hosts.second);
  Dialogue result{.worker = is_first_server ? hosts.second : hosts.first,
                  .server = is_first_server ? hosts.first : hosts.second,
                  .bytes = median_bytes(turns),
                  .data = {},
                  .answers = {}};
  if (even_share(turns, result.bytes) < kLeastShare) return std::nullopt;
  // The model may have come before the first data, and the last data may have no answer.
  for (const Turn& turn : turns) {
    const bool is_data = turn.from == result.worker;
    if (is_data) result.data.push_back(turn);
    if (!is_data && !result.data.empty()) result.answers.push_back(turn);
  }
  result.data.resize(std::min(result.data.size(), result.answers.size()));
  if (result.data.size() < kFewestTurns) return std::nullopt;
  return result;
}

std::vector<Dialogue> dialogues_between(std::span<const rhythm::Channel> channels) {
  std::map<HostPair, std::vector<rhythm::Channel>> by_pair;
  for (const rhythm::Channel& channel : channels) {
    by_pair[std::minmax(channel.from, channel.to)].push_back(channel);
  }
  std::vector<Dialogue> result;
  for (const auto& [hosts, of_pair] : by_pair) {
    std::optional<Dialogue> found = dialogue_of(hosts, turns_of(of_pair));
    if (found) result.push_back(std::move(*found));
  }
  return result;
}

/// Whether the k-th answers begin before all workers have begun to send their k-th data, for most
/// k: servers that sum everybody's data first cannot.
bool answer_at_once(const std::vector<Dialogue>& dialogues) {
  std::size_t steps = std::numeric_limits<std::size_t>::max();
  for (const Dialogue& dialogue : dialogues) steps = std::min(steps, dialogue.data.size());
  std::size_t early = 0;
  for (std::size_t step = 0; step < steps; ++step) {
    std::int64_t first_answer = std::numeric_limits<std::int64_t>::max();
    std::int64_t last_data = std::numeric_limits<std::int64_t>::min();
    for (const Dialogue& dialogue : dialogues) {
      first_answer = std::min(first_answer, dialogue.answers[step].start_ns);
      last_data = std::max(last_data, dialogue.data[step].start_ns);
    }
    early += first_answer < last_data ? 1 : 0;
  }
  return 2 * early > steps;
}

/// Whether nobody is both, and each worker speaks with each server.
bool are_all_with_all(const std::vector<Dialogue>& dialogues, const std::set<int>& workers,
                      const std::set<int>& servers) {
  const bool is_both = std::any_of(servers.begin(), servers.end(),
                                   [&](int server) { return workers.contains(server); });
  return !is_both && workers.size() >= kFewestWorkers &&
         dialogues.size() == workers.size() * servers.size();
}

/// A worker's k-th step is its k-th dialogue with all servers.
std::vector<Pull> steps_of(int worker, const std::vector<Dialogue>& dialogues) {
  std::vector<Pull> steps;
  bool is_first = true;
  for (const Dialogue& dialogue : dialogues) {
    if (dialogue.worker != worker) continue;
    if (is_first) {
      steps.assign(dialogue.data.size(), {.from = dialogue.server,
                                          .start_ns = std::numeric_limits<std::int64_t>::max(),
                                          .end_ns = std::numeric_limits<std::int64_t>::min()});
    }
    is_first = false;
    steps.resize(std::min(steps.size(), dialogue.data.size()));
    for (std::size_t i = 0; i < steps.size(); ++i) {
      steps[i].start_ns = std::min(steps[i].start_ns, dialogue.data[i].start_ns);
      steps[i].end_ns = std::max(steps[i].end_ns, dialogue.answers[i].end_ns);
    }
  }
  return steps;
}

/// Channels between workers and servers; sets the share of all bytes that these carry.
void add_channels(Pulls& pulls, std::span<const rhythm::Channel> channels,
                  const std::set<int>& workers, const std::set<int>& servers) {
  const double all = rhythm::bytes_of(channels);
  double own = 0;
  for (std::size_t i = 0; i < channels.size(); ++i) {
    const rhythm::Channel& channel = channels[i];
    const bool is_own = (workers.contains(channel.from) && servers.contains(channel.to)) ||
                        (servers.contains(channel.from) && workers.contains(channel.to));
    if (!is_own) continue;
    own += static_cast<double>(channel.bytes);
    pulls.channels.push_back(i);
  }
  pulls.share = all > 0 ? own / all : 0;
}

}  // namespace

std::vector<Turn> turns_of(std::span<const rhythm::Channel> channels) {
  std::vector<Turn> bursts;
  for (const rhythm::Channel& channel : channels) {
    for (const flow::Burst& burst : channel.bursts) {
      bursts.push_back({.from = channel.from,
                        .start_ns = burst.start_ns,
                        .end_ns = burst.end_ns,
                        .bytes = static_cast<double>(burst.bytes)});
    }
  }
  std::stable_sort(bursts.begin(), bursts.end(),
                   [](const Turn& a, const Turn& b) { return a.start_ns < b.start_ns; });
  const std::vector<Turn> turns = joined(bursts, 0);
  return joined(turns, kSmall * typical_size(turns));
}

std::optional<Pulls> find_asynchronous_servers(std::span<const rhythm::Channel> channels) {
  if (channels.size() > kMostChannels) return std::nullopt;
  const std::vector<Dialogue> dialogues = dialogues_between(channels);
  std::set<int> workers;
  std::set<int> servers;
  for (const Dialogue& dialogue : dialogues) {
    workers.insert(dialogue.worker);
    servers.insert(dialogue.server);
  }
  if (!are_all_with_all(dialogues, workers, servers) || !answer_at_once(dialogues)) {
    return std::nullopt;
  }
  Pulls result{.bytes = 0, .by_host = {}, .channels = {}, .share = 0, .regularity = 0};
  for (const Dialogue& dialogue : dialogues) {
    result.bytes += dialogue.bytes / static_cast<double>(workers.size());
  }
  for (const int worker : workers) result.by_host[worker] = steps_of(worker, dialogues);
  result.servers.assign(servers.begin(), servers.end());
  add_channels(result, channels, workers, servers);
  result.regularity = regularity(result.by_host);
  if (result.share < kLeastOfAll || result.regularity < kLeastRegularity ||
      is_small(result.bytes)) {
    return std::nullopt;
  }
  return result;
}

}  // namespace tw::recognise
