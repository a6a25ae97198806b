// SPDX-License-Identifier: Apache-2.0
#include "trainwire/rhythm/pauses.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>

namespace tw::rhythm {
namespace {

constexpr double kSilence = 0.005;  ///< of the step: shorter ones are part of a conversation
constexpr std::int64_t kShortestSilenceNs = 1'000'000;
constexpr std::size_t kMostSmall = 12;  ///< messages in a pause; more are a conversation

flow::FlowKey reverse(const flow::FlowKey& key) {
  return {key.destination, key.source, key.destination_port, key.source_port, key.protocol};
}

std::optional<std::int64_t> last_receive(const Steps& exchanges, int host, std::size_t step) {
  std::optional<std::int64_t> last;
  for (const Lane& lane : exchanges.lanes) {
    if (lane.to != host || !lane.beats[step]) continue;
    last = std::max(last.value_or(lane.beats[step]->end_ns), lane.beats[step]->end_ns);
  }
  return last;
}

std::int64_t last_send(const Steps& exchanges, int host, std::size_t step) {
  std::int64_t last = 0;
  for (const Lane& lane : exchanges.lanes) {
    if (lane.from == host && lane.beats[step]) last = std::max(last, lane.beats[step]->end_ns);
  }
  return last;
}

/// The first message in (begin, end] that follows a silence; `end` when there is no other or the
/// host talks all the time.
std::int64_t first_after_silence(const std::vector<Interval>& sent, std::int64_t begin,
                                 std::int64_t end, std::int64_t silence) {
  auto message = first_after(sent, begin);
  std::int64_t quiet_since = begin;
  std::optional<std::int64_t> found;
  std::size_t count = 0;
  for (; message != sent.end() && message->start_ns < end; ++message, ++count) {
    if (!found && message->start_ns - quiet_since >= silence) found = message->start_ns;
    quiet_since = std::max(quiet_since, message->end_ns);
  }
  return found && count <= kMostSmall ? *found : end;
}

/// A host between two of its steps.
struct HostPause {
  const std::vector<Interval>* sent;  ///< all its messages; nothing when the pause is not known
  std::int64_t received_ns;           ///< last byte of the step before
  std::int64_t done_ns;               ///< that, or what it sent of that step still later
  std::int64_t data_ns;               ///< first byte of the next step
};

HostPause pause_before(const Steps& exchanges, const Messages& sent, int host, std::size_t step) {
  const std::optional<std::int64_t> received = last_receive(exchanges, host, step - 1);
  const std::optional<std::int64_t> data = first_data(exchanges, host, step);
  const auto messages_of_host = sent.find(host);
  if (!received || !data || messages_of_host == sent.end()) return {};
  return {.sent = &messages_of_host->second,
          .received_ns = *received,
          .done_ns = std::max(*received, last_send(exchanges, host, step - 1)),
          .data_ns = *data};
}

/// End of the last message that began in (begin, end).
std::optional<std::int64_t> last_message(const std::vector<Interval>& sent, std::int64_t begin,
                                         std::int64_t end) {
  std::optional<std::int64_t> last;
  for (auto message = first_after(sent, begin); message != sent.end() && message->start_ns < end;
       ++message) {
    last = std::max(last.value_or(message->end_ns), message->end_ns);
  }
  return last;
}

/// The times in [begin, end] in which nobody sends, those of at least half the longest.
std::vector<Interval> long_silences(const Messages& sent, std::int64_t begin, std::int64_t end) {
  std::vector<Interval> all{{end, end}};
  for (const auto& [host, messages_of_host] : sent) {
    for (auto message = first_after(messages_of_host, begin);
         message != messages_of_host.end() && message->start_ns < end; ++message) {
      all.push_back(*message);
    }
  }
  std::sort(all.begin(), all.end(),
            [](const Interval& a, const Interval& b) { return a.start_ns < b.start_ns; });
  std::vector<Interval> silences;
  std::int64_t longest = 0;
  std::int64_t quiet_since = begin;
  for (const Interval& message : all) {
    silences.push_back({quiet_since, message.start_ns});
    longest = std::max(longest, message.start_ns - quiet_since);
    quiet_since = std::max(quiet_since, message.end_ns);
  }
  std::erase_if(silences, [longest](const Interval& silence) {
    return 2 * (silence.end_ns - silence.start_ns) < longest;
  });
  return silences;
}

/// When each host ended what it sent since it was done; nothing unless all have sent until then.
std::optional<std::vector<std::int64_t>> all_sent(const std::vector<HostPause>& pauses,
                                                  std::int64_t until) {
  std::vector<std::int64_t> done;
  for (const HostPause& pause : pauses) {
    const auto last = last_message(*pause.sent, pause.done_ns, until);
    if (!last) return std::nullopt;
    done.push_back(*last);
  }
  return done;
}

/// Moves the beginning of the pauses behind what all exchange after the gradients.
void skip_small_exchanges(std::vector<HostPause>& pauses, const Messages& sent) {
  std::int64_t begin = std::numeric_limits<std::int64_t>::max();
  std::int64_t end = begin;
  for (const HostPause& pause : pauses) {
    if (!pause.sent) return;
    begin = std::min(begin, pause.done_ns);
    end = std::min(end, pause.data_ns);
  }
  if (begin >= end) return;
  for (const Interval& silence : long_silences(sent, begin, end)) {
    const auto done = all_sent(pauses, silence.end_ns);
    if (!done) continue;
    for (std::size_t i = 0; i < pauses.size(); ++i) {
      pauses[i].received_ns = pauses[i].done_ns = (*done)[i];
    }
  }
}

Compute compute_in(const HostPause& pause, std::int64_t silence) {
  if (!pause.sent) return {-1, -1};
  const std::int64_t first =
      pause.data_ns <= pause.done_ns
          ? pause.data_ns
          : first_after_silence(*pause.sent, pause.done_ns, pause.data_ns, silence);
  return {std::max(0.0, static_cast<double>(first - pause.done_ns) * 1e-9),
          std::max(0.0, static_cast<double>(first - pause.received_ns) * 1e-9)};
}

std::int64_t shortest_silence(const Steps& exchanges) {
  return std::max(kShortestSilenceNs,
                  static_cast<std::int64_t>(kSilence * exchanges.tempo.period_ns));
}

/// The longest time without a message of the host's own whose end lies in (begin, end].
double longest_own_silence_s(const std::vector<Interval>& sent, std::int64_t begin,
                             std::int64_t end) {
  std::int64_t longest = 0;
  auto message = first_after(sent, begin);
  if (message == sent.begin()) return -1;
  std::int64_t quiet_since = std::prev(message)->end_ns;
  for (; message != sent.end() && message->start_ns <= end; ++message) {
    longest = std::max(longest, message->start_ns - quiet_since);
    quiet_since = std::max(quiet_since, message->end_ns);
  }
  return static_cast<double>(longest) * 1e-9;
}

}  // namespace

Messages messages_of(const Steps& exchanges, std::span<const Channel> channels,
                     const gather::Captured& traffic) {
  std::map<flow::FlowKey, int> sender;
  for (const Lane& lane : exchanges.lanes) {
    for (const std::size_t flow : channels[lane.channel].flows) {
      sender[traffic.flows[flow].key] = lane.from;
      sender[reverse(traffic.flows[flow].key)] = lane.to;
    }
  }
  Messages result;
  for (const flow::Flow& flow : traffic.flows) {
    const auto host = sender.find(flow.key);
    if (host == sender.end()) continue;
    for (const flow::Burst& burst : flow.bursts) {
      if (burst.bytes > 0) result[host->second].push_back({burst.start_ns, burst.end_ns});
    }
  }
  for (auto& [host, sent] : result) {
    std::sort(sent.begin(), sent.end(),
              [](const Interval& a, const Interval& b) { return a.start_ns < b.start_ns; });
  }
  return result;
}

std::vector<Interval>::const_iterator first_after(const std::vector<Interval>& sent,
                                                  std::int64_t time) {
  return std::upper_bound(sent.begin(), sent.end(), time,
                          [](std::int64_t t, const Interval& a) { return t < a.start_ns; });
}

std::optional<std::int64_t> first_data(const Steps& exchanges, int host, std::size_t step) {
  std::optional<std::int64_t> first;
  for (const Lane& lane : exchanges.lanes) {
    if (lane.from != host || !lane.beats[step]) continue;
    first = std::min(first.value_or(lane.beats[step]->start_ns), lane.beats[step]->start_ns);
  }
  return first;
}

ComputeTable compute_table(const Steps& exchanges, const Messages& sent,
                           std::span<const int> hosts) {
  ComputeTable table(hosts.size());
  for (std::size_t step = 1; step < exchanges.steps.size(); ++step) {
    std::vector<HostPause> pauses;
    for (const int host : hosts) pauses.push_back(pause_before(exchanges, sent, host, step));
    skip_small_exchanges(pauses, sent);
    for (std::size_t i = 0; i < hosts.size(); ++i) {
      table[i].push_back(compute_in(pauses[i], shortest_silence(exchanges)));
    }
  }
  return table;
}

ComputeTable silence_table(const Steps& exchanges, const Messages& sent,
                           std::span<const int> hosts) {
  ComputeTable table(hosts.size());
  for (std::size_t step = 1; step < exchanges.steps.size(); ++step) {
    for (std::size_t i = 0; i < hosts.size(); ++i) {
      const auto own = sent.find(hosts[i]);
      const double silence_s =
          own == sent.end() ? -1
                            : longest_own_silence_s(own->second, exchanges.steps[step - 1].end_ns,
                                                    exchanges.steps[step].end_ns);
      table[i].push_back({silence_s, silence_s});
    }
  }
  return table;
}

}  // namespace tw::rhythm
