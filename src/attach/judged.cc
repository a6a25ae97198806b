// SPDX-License-Identifier: Apache-2.0
#include "trainwire/attach/judged.h"

#include "trainwire/base/printable.h"
#include "trainwire/base/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace tw::attach {
namespace {

constexpr double kMuchSentAgain = 0.01;   ///< of segments
constexpr double kNoticeable = 0.001;     ///< of segments: worth a finding
constexpr double kMuchOutOfOrder = 1e-4;  ///< of RDMA packets, where each costs a whole window
constexpr double kLittle = 0.2;           ///< of the time: less is no connection that decides
constexpr double kBusy = 0.5;             ///< of the time: more is one that decides alone
constexpr double kWorthNaming = 0.1;      ///< of a step
constexpr double kShortest_s = 1;         ///< of which something can be said
constexpr double kMostly = 0.5;           ///< of the busy time
constexpr double kHalfBusyConfidence = 0.5;
constexpr std::array kRepairs{"out_of_sequence", "packet_seq_err", "local_ack_timeout_err",
                              "implied_nak_seq_err", "roce_adp_retrans"};

std::string percent(double share) { return fmt::format("{:.0f} %", 100 * share); }
std::string time_text(double time_s) { return readable(from_seconds(std::max(0.0, time_s))); }
double bits(std::uint64_t bytes) { return 8 * static_cast<double>(bytes); }

/// The sum of the counters of a card's port whose names are among these.
std::uint64_t counted(const Sums& sums, const std::string& port, const auto& names) {
  std::uint64_t sum = 0;
  for (const char* name : names) {
    const auto found = sums.rdma.find(fmt::format("{} {}", port, name));
    if (found != sums.rdma.end()) sum += found->second;
  }
  return sum;
}

bool is_rdma(const std::string& device) { return device.find('/') != std::string::npos; }

/// The RDMA port that moved most, where that is more than all connections did.
const std::pair<const std::string, Device>* leading_port(const Sums& sums, std::uint64_t sent) {
  const std::pair<const std::string, Device>* most = nullptr;
  for (const auto& each : sums.devices) {
    if (!is_rdma(each.first) || each.second.counts.sent <= sent) continue;
    if (most == nullptr || each.second.counts.sent > most->second.counts.sent) most = &each;
  }
  return most;
}

record::Verdict port_verdict(const Sums& sums, const std::string& name, const Device& device) {
  const std::uint64_t again = counted(sums, name, kRepairs);
  const std::uint64_t packets = counted(sums, name, std::array{"port_xmit_packets"});
  record::Verdict made{.cause = "unknown", .where = name};
  const std::string moved =
      fmt::format("{} sends {} on average, {} at its peak", printable(name),
                  readable(BitRate(bits(device.counts.sent) / std::max(1e-9, sums.seconds))),
                  readable(BitRate(device.peak_sent_bps)));
  if (packets > 0 && static_cast<double>(again) >= kMuchOutOfOrder * static_cast<double>(packets)) {
    made.cause = "loss";
    made.confidence = 0.7;
    made.text = fmt::format(
        "The network loses or reorders packets: {} counts {} out of order, refused or timed out in "
        "{} sent; "
        "look for pauses that are not heard, full queues and bad ports on the way.",
        printable(name), again, packets);
  } else if (device.rate_bps <= 0) {
    made.where.clear();
    made.text = fmt::format("No cause stands out: {}; how fast its link is, is not told.", moved);
  } else if (device.active_s < kBusy * sums.seconds) {
    made.cause = "compute";
    made.where.clear();
    made.confidence = 0.7;
    made.text = fmt::format(
        "Not the network: {}, and is quiet {} of the time, in which this rank computes or waits "
        "for others.",
        moved, percent(1 - device.active_s / sums.seconds));
  } else if (device.full_s >= kMostly * device.active_s) {
    made.cause = "bandwidth";
    made.confidence = 0.7;
    made.text =
        fmt::format("The network: {}, of {}, and its link is full {} of the time.", moved,
                    readable(BitRate(device.rate_bps)), percent(device.full_s / sums.seconds));
  } else {
    made.where.clear();
    made.text = fmt::format(
        "No cause stands out: {}, of {}, for {} of the time, without filling it: a slower link or "
        "a "
        "late rank elsewhere, or small messages. Watch the other ranks too.",
        moved, readable(BitRate(device.rate_bps)), percent(device.active_s / sums.seconds));
  }
  return made;
}

std::string closed_text(std::size_t processes) {
  return fmt::format(
      "{} of the job's processes may not be looked into, so that {} connections are "
      "not seen; watch as root, with CAP_SYS_PTRACE and CAP_SYS_ADMIN where these "
      "are kept apart",
      processes, processes == 1 ? "its" : "their");
}

/// Why the busiest way does not go faster.
void judge_way(const Sums& sums, const WayPlace& busiest, record::Verdict& into) {
  const Way& way = busiest->second;
  const std::string peer = printable(busiest->first.second);
  std::uint64_t segments = 0;
  std::uint64_t again = 0;
  for (const auto& [key, each] : sums.ways) {
    segments += each.sent_segments;
    again += each.sent_again;
  }
  const double lost = segments > 0 ? static_cast<double>(again) / static_cast<double>(segments) : 0;
  into.where = fmt::format("{} to {}", busiest->first.first, busiest->first.second);
  if (way.peer_limited_s >= kMostly * way.busy_s) {
    into.cause = "late_rank";
    into.where = busiest->first.second;
    into.confidence = 0.8;
    into.text = fmt::format(
        "Not the network: {} does not read what is sent to it, {} of the time that there is "
        "something to send; look at what it does.",
        peer, percent(way.peer_limited_s / way.busy_s));
  } else if (lost >= kMuchSentAgain) {
    into.cause = "loss";
    into.confidence = 0.8;
    into.text = fmt::format(
        "The network loses packets: {} of {} segments were sent again ({:.2g} %), most is sent to "
        "{}; look for full queues and bad ports on the way.",
        again, segments, 100 * lost, peer);
  } else {
    into.cause = "bandwidth";
    into.confidence = 0.7;
    into.text = fmt::format(
        "The network: the way to {} is the limit for {} of the time, at {}; its round trip is {}, "
        "{} at its least.",
        peer, percent(way.busy_s / std::max(1e-9, sums.seconds)),
        readable(BitRate(bits(way.sent_bytes) / std::max(1e-9, way.busy_s))),
        time_text(way.round_trip_s), time_text(way.least_round_trip_s));
  }
}

}  // namespace

std::vector<WayPlace> busy_ways(const Sums& sums) {
  std::vector<WayPlace> made;
  for (auto at = sums.ways.begin(); at != sums.ways.end(); ++at) {
    if (at->second.sent_bytes + at->second.received_bytes > 0) made.push_back(at);
  }
  std::stable_sort(made.begin(), made.end(), [](const WayPlace& a, const WayPlace& b) {
    return a->second.sent_bytes + a->second.received_bytes >
           b->second.sent_bytes + b->second.received_bytes;
  });
  return made;
}

record::Verdict judged(const Sums& sums) {
  record::Verdict made{.cause = "unknown"};
  if (sums.seconds < kShortest_s) {
    made.text =
        fmt::format("No verdict: the job was watched for {} only; let it go on for some steps.",
                    time_text(sums.seconds));
    return made;
  }
  const std::vector<WayPlace> ways = busy_ways(sums);
  std::uint64_t sent = 0;
  for (const WayPlace& each : ways) sent += each->second.sent_bytes;
  if (const auto* port = leading_port(sums, sent)) {
    return port_verdict(sums, port->first, port->second);
  }
  if (ways.empty() && sums.closed > 0) {
    made.text = "No verdict: " + closed_text(sums.closed) + ".";
    return made;
  }
  if (ways.empty()) {
    made.text = fmt::format(
        "No connection of the job moved a byte in {}: it computes, waits, or moves its bytes "
        "within "
        "the host.",
        time_text(sums.seconds));
    return made;
  }
  const WayPlace busiest = *std::max_element(
      ways.begin(), ways.end(),
      [](const WayPlace& a, const WayPlace& b) { return a->second.busy_s < b->second.busy_s; });
  const double busy = busiest->second.busy_s / std::max(1e-9, sums.seconds);
  if (busy < kLittle) {
    made.cause = "compute";
    made.confidence = 0.8;
    made.text = fmt::format(
        "Not the network: its busiest connection has something to send for only {} of the time; "
        "otherwise the rank computes or waits for others.",
        percent(busy));
  } else {
    judge_way(sums, busiest, made);
  }
  if (busy >= kLittle && busy < kBusy) {
    made.confidence = kHalfBusyConfidence;
    made.text += fmt::format(" For {} of the time the rank computes or waits for others.",
                             percent(1 - busy));
  }
  return made;
}

record::Verdict of_both(const record::Verdict& packets, const record::Verdict& sockets,
                        double moving) {
  // Connections of a ring have their turns: while each is quiet for half of an exchange, it goes on.
  if (packets.cause == "unknown" && sockets.cause == "compute" && moving >= kWorthNaming)
    return packets;
  if (packets.cause == "unknown" || packets.cause.empty()) {
    record::Verdict made = sockets;
    if (!packets.text.empty() && made.cause == "unknown") made.text += " " + packets.text;
    return made;
  }
  // A window that the peer keeps full is known, and makes packets look like a slow exchange, or like loss: probes of it count as sent again.
  const bool knows_less =
      packets.cause == "bandwidth" || packets.cause == "loss" || packets.cause == "compute";
  if (sockets.cause == "late_rank" && sockets.confidence > kHalfBusyConfidence && knows_less)
    return sockets;
  const bool network = packets.cause == "slow_link" || packets.cause == "bandwidth";
  const bool agree = packets.cause == sockets.cause || (network && sockets.cause == "bandwidth");
  record::Verdict made = packets;
  if (agree) made.text += " TCP agrees: " + sockets.text;
  return made;
}

std::vector<record::Finding> findings_of(const Sums& sums) {
  std::vector<record::Finding> made;
  if (sums.closed > 0) made.push_back({.text = closed_text(sums.closed), .severity = "warning"});
  for (const WayPlace& each : busy_ways(sums)) {
    const Way& way = each->second;
    if (static_cast<double>(way.sent_again) <
        std::max(1.0, kNoticeable * static_cast<double>(way.sent_segments))) {
      continue;
    }
    made.push_back({.text = fmt::format("{} of {} segments to {} were sent again", way.sent_again,
                                        way.sent_segments, printable(each->first.second)),
                    .severity = "warning",
                    .kind = "sent_again"});
  }
  for (const auto& [name, device] : sums.devices) {
    if (device.counts.dropped + device.counts.errors == 0) continue;
    made.push_back(
        {.text = fmt::format("{} dropped {} packets and counts {} errors", printable(name),
                             device.counts.dropped, device.counts.errors),
         .severity = "warning"});
  }
  for (const auto& [name, count] : sums.rdma) {
    if (count == 0 || name.find("_packets") != std::string::npos) continue;
    made.push_back(
        {.text = fmt::format("{} grew by {}", printable(name), count), .severity = "notice"});
  }
  return made;
}

}  // namespace tw::attach
