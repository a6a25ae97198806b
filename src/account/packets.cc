// SPDX-License-Identifier: Apache-2.0
#include "trainwire/account/packets.h"

#include "trainwire/account/words.h"
#include "trainwire/base/printable.h"
#include "trainwire/base/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace tw::account {
namespace {

constexpr double kWorthNaming = 0.1;  ///< of a step
constexpr double kQuiet = 0.8;        ///< of a step: then it is computing
constexpr double kFull = 0.6;         ///< of a link, while bytes moved
constexpr double kSentAgain = 0.003;  ///< of the payload
constexpr double kLossConfidence = 0.4;
constexpr double kFullConfidence = 0.7;

/// A step as packets show it, in seconds.
struct Seen {
  double step = 0;
  double quiet = 0;
  double late = 0;
  double moving = 0;  ///< the rest
};

Seen seen_in(const record::Run& run) {
  Seen seen{.step = *run.iterations->median_s};
  seen.quiet = std::clamp(run.iterations->compute_gap_s.value_or(0), 0.0, seen.step);
  if (run.straggler) seen.late = std::clamp(run.straggler->delay_s, 0.0, seen.step - seen.quiet);
  seen.moving = seen.step - seen.quiet - seen.late;
  return seen;
}

record::Accounting accounting_of(const record::Run& run, const Seen& seen) {
  record::Accounting made{.method = "what packets show", .step_s = seen.step};
  const auto add = [&](const char* name, double part_s, double low) {
    if (part_s > 0) {
      made.parts.push_back(
          {.name = name, .seconds = part_s, .low_s = low * part_s, .high_s = part_s});
    }
  };
  add("late_rank", seen.late, 0.8);
  add(run.bottleneck ? "slow_link" : "bandwidth", seen.moving, 0.5);
  add("compute", seen.quiet, 0.8);
  made.not_visible = {
      "from packets alone computing and waiting inside one host cannot be told apart: what is "
      "quiet "
      "on the wire counts as computing",
      run.bottleneck
          ? "what the exchange would take if that link were as fast as the others is not in the "
            "packets"
          : "transfer, delay and work of the hosts while bytes move cannot be told apart here"};
  if (run.traffic.retransmitted_share >= kSentAgain) {
    made.not_visible.push_back(fmt::format(
        "{:.2g} % of the payload was sent again; what that cost is part of the transfer",
        100 * run.traffic.retransmitted_share));
  }
  return made;
}

/// The direction of a link that was fullest while bytes moved; nothing where rates are not known.
const record::Link* full_link(const record::Run& run, const Seen& seen) {
  const record::Link* fullest = nullptr;
  for (const record::Link& link : run.network.links) {
    if (!link.counted) continue;
    if (fullest == nullptr || link.counted->share > fullest->counted->share) fullest = &link;
  }
  if (fullest == nullptr || seen.moving <= 0) return nullptr;
  return fullest->counted->share * seen.step / seen.moving >= kFull ? fullest : nullptr;
}

/// The slowest direction of a link, where rates are known.
const record::Link* slowest_link(const record::Run& run) {
  const auto slowest = std::ranges::min_element(
      run.network.links, {}, [](const record::Link& link) { return link.requested.rate_bps; });
  return slowest == run.network.links.end() ? nullptr : &*slowest;
}

/// What the exchange put on each link while it went on, of the slowest one's rate: counters alone
/// also see what was before and after the steps.
double used_share(const record::Run& run) {
  const record::Link* slowest = slowest_link(run);
  if (slowest == nullptr || slowest->requested.rate_bps <= 0) return 0;
  double most_bps = 0;
  for (const record::Collective& collective : run.collectives) {
    most_bps = std::max(most_bps, collective.busbw_bps.value_or(0));
  }
  return most_bps / slowest->requested.rate_bps;
}

record::Verdict late_verdict(const record::Run& run, const Seen& seen) {
  const record::Straggler& late = *run.straggler;
  return {
      .cause = "late_rank",
      .where = late.host,
      .cost_s = seen.late,
      .gain_s = seen.late,
      .gain_ci = {0.8 * seen.late, seen.late},
      .confidence = late.confidence,
      .text = fmt::format("Not the network: {} begins {} later than the others, and all wait for "
                          "it. Without that a step would take {}.",
                          printable(late.host), time_words(late.delay_s),
                          with_interval(seen.step - seen.late, seen.step - seen.late,
                                        seen.step - 0.8 * seen.late))};
}

record::Verdict slow_link_verdict(const record::Run& run, const Seen& seen) {
  const record::Bottleneck& slow = *run.bottleneck;
  return {.cause = "slow_link",
          .where = fmt::format("{} to {}", slow.from, slow.to),
          .cost_s = seen.moving,
          .confidence = slow.confidence,
          .text = fmt::format(
              "The network costs up to {} a step: the way from {} to {}, {}, is slower than the "
              "others, and all wait for it.",
              part_of(seen.moving, seen.step), printable(slow.from), printable(slow.to),
              readable(BitRate(slow.rate_bps)))};
}

record::Verdict loss_verdict(const record::Run& run, const Seen& seen) {
  return {.cause = "loss",
          .cost_s = 0,
          .confidence = kLossConfidence,
          .text = fmt::format(
              "Probably the network: an exchange takes {} a step, and {:.2g} % of the payload was "
              "sent again; what the repair cost is not in the packets.",
              part_of(seen.moving, seen.step), 100 * run.traffic.retransmitted_share)};
}

record::Verdict full_verdict(const record::Link& link, const Seen& seen) {
  const bool is_in = link.direction == "to_host";
  return {.cause = "bandwidth",
          .where = fmt::format("{} {}", link.name, link.direction),
          .cost_s = seen.moving,
          .confidence = kFullConfidence,
          .text = fmt::format("The network costs up to {} a step: {}'s way {}, {}, is full while "
                              "bytes move.",
                              part_of(seen.moving, seen.step), printable(link.name),
                              is_in ? "in" : "out", readable(BitRate(link.requested.rate_bps)))};
}

record::Verdict quiet_verdict(const Seen& seen) {
  return {.cause = "compute",
          .cost_s = seen.quiet,
          .gain_s = seen.moving,
          .gain_ci = {0, seen.moving},
          .confidence = 0.9,
          .text = fmt::format("Not the network: nothing is on the wire for {} a step.",
                              part_of(seen.quiet, seen.step))};
}

record::Verdict used_verdict(const record::Link& link, double share, const Seen& seen) {
  return {.cause = "bandwidth",
          .cost_s = seen.moving,
          .confidence = kFullConfidence,
          .text = fmt::format("The network costs up to {} a step: links of {} are used to {:.0f} % "
                              "while bytes move. Computing that goes on meanwhile is not seen.",
                              part_of(seen.moving, seen.step),
                              readable(BitRate(link.requested.rate_bps)), 100 * share)};
}

record::Verdict unknown_verdict(const record::Run& run, const Seen& seen) {
  const record::Link* slowest = slowest_link(run);
  const std::string rates =
      slowest == nullptr
          ? "Whether rate and delay of the links limit it, or the hosts do, packets alone do not "
            "say; the "
            "links' rates are missing."
          : fmt::format(
                "Links of {} are used to {:.0f} % meanwhile: delay, or what the hosts do, "
                "limits it; packets alone do not say which.",
                readable(BitRate(slowest->requested.rate_bps)), 100 * used_share(run));
  // Links are compared where it is known who sends to whom.
  const std::string over =
      run.collectives.empty()
          ? "; what links and hosts have to do with it does not show from these packets"
          : ", over links that are all alike";
  return {.cause = "unknown",
          .text = fmt::format("No cause stands out: bytes of the exchange move for {} a step{}. {}",
                              part_of(seen.moving, seen.step), over, rates)};
}

record::Verdict verdict_of(const record::Run& run, const Seen& seen) {
  const double least_s = kWorthNaming * seen.step;
  const bool is_late = run.straggler && seen.late >= least_s;
  if (is_late && (!run.bottleneck || seen.late > seen.moving)) return late_verdict(run, seen);
  if (run.bottleneck && seen.moving >= least_s) return slow_link_verdict(run, seen);
  if (seen.quiet >= kQuiet * seen.step) return quiet_verdict(seen);
  if (run.traffic.retransmitted_share >= kSentAgain) return loss_verdict(run, seen);
  if (const record::Link* full = full_link(run, seen)) return full_verdict(*full, seen);
  if (const double share = used_share(run); share >= kFull) {
    return used_verdict(*slowest_link(run), std::min(share, 1.0), seen);
  }
  return unknown_verdict(run, seen);
}

}  // namespace

void add_of_packets(record::Run& run) {
  if (!run.capture) return;
  if (!run.iterations || run.iterations->median_s.value_or(0) <= 0) {
    run.verdict = no_verdict("no training steps were found in the packets");
    return;
  }
  const Seen seen = seen_in(run);
  run.accounting = accounting_of(run, seen);
  run.verdict = verdict_of(run, seen);
  run.verdict->share = run.verdict->cost_s / seen.step;
  run.verdict->confidence *= run.iterations->confidence;
}

}  // namespace tw::account
