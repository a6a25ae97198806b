// SPDX-License-Identifier: Apache-2.0
#include "trainwire/operations/judge.h"

#include "trainwire/base/printable.h"
#include "trainwire/base/units.h"
#include "trainwire/operations/alone.h"
#include "trainwire/operations/counted.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tw::operations {
namespace {

constexpr double kWorthNaming = 0.1;    ///< of a step
constexpr double kWorthTelling = 0.05;  ///< of a step: no mere unevenness
constexpr double kMostlyLate = 0.5;     ///< of all lateness is one rank's
constexpr double kTimelineConfidence = 0.7;
constexpr double kAlike = 0.5;     ///< of what packets say of a late host
constexpr double kOneTrace = 0.6;  ///< confidence of what one trace tells
constexpr double kTransferConfidence = 0.7;
constexpr double kDoubtfulConfidence = 0.4;  ///< where a rank without a file may be the cause

std::string time_text(double seconds) { return readable(from_seconds(std::max(0.0, seconds))); }

/// "a step of 2.1 s" or "the 2.1 s that the files cover".
std::string whole_text(const Balance& balance) {
  if (balance.steps == 0)
    return fmt::format("the {} that the files cover", time_text(balance.step_s));
  return fmt::format("a {}step of {}", balance.is_mean_step ? "mean " : "",
                     time_text(balance.step_s));
}

std::string who_is(const Imported& imported, int rank) {
  const std::string place = place_of(imported.wiring, rank);
  return place.starts_with("rank ") ? place : fmt::format("rank {} ({})", rank, printable(place));
}

/// "30 ms after the others in each step", "800 ms after the others in 1 of 16 steps".
std::string late_text(const Balance& balance) {
  const Late& late = *balance.late;
  if (!is_late_in_each(balance)) {
    return fmt::format("{} after the others in {} of {} steps", time_text(late.when_late_s),
                       late.steps_late, balance.steps);
  }
  return fmt::format("{} after the others {}", time_text(late.delay_s),
                     balance.steps > 0 ? "in each step" : "in all");
}

record::Verdict hang_verdict(const Imported& imported) {
  const Hang& hang = imported.hangs.front();
  std::string text = sentence_of(hang);
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z')
    text[0] = static_cast<char>(text[0] - 'a' + 'A');
  if (!hang.missing.empty()) {
    const int rank = hang.missing.front();
    return {
        .cause = "missing_rank",
        .where = imported.wiring.hosts.contains(rank) ? place_of(imported.wiring, rank)
                                                      : fmt::format("rank {}", rank),
        .confidence = 0.9,
        .text = text +
                ". Look at what that rank does: its program stopped before, or took another way."};
  }
  if (!hang.mismatch.empty()) {
    text += ". It is the program, not the network.";
  } else if (const std::string failure = failure_text(imported.wiring); !failure.empty()) {
    text += ". " + failure;
  } else if (hang.without_dump > 0 || is_by_watchdog(hang.group)) {
    text +=
        ". Give their dumps too: whether one of them never came, or the network stands, these do "
        "not tell.";
  } else {
    text +=
        ". What stopped the transfer is not in these files: look at the network between these "
        "ranks.";
  }
  return {.cause = "unknown", .confidence = 0, .text = text};
}

record::Verdict late_verdict(const Imported& imported, const Balance& balance, double cost_s) {
  const Late& late = *balance.late;
  const double transfer_s = balance.exposed_s() - balance.exposed_wait_s;
  const bool is_alone = transfer_s < kWorthNaming * balance.step_s;
  std::string text = fmt::format("{} comes to its collectives {}, and all wait for it.",
                                 who_is(imported, late.rank), late_text(balance));
  if (is_alone) {
    text.insert(0, "Not the network: ");
  } else {
    text[0] = 'R';
  }
  if (balance.steps > 0) {
    text += fmt::format(" Without that a {}step would take {}.",
                        balance.is_mean_step ? "mean " : "", time_text(balance.step_s - cost_s));
  }
  if (!is_alone)
    text += fmt::format(" Besides, the transfer costs up to {}.", time_text(transfer_s));
  return {.cause = "late_rank",
          .where = place_of(imported.wiring, late.rank),
          .cost_s = cost_s,
          .share = cost_s / balance.step_s,
          .gain_s = cost_s,
          .gain_ci = {0.5 * cost_s, cost_s},
          .confidence = std::min(0.95, late.share),
          .text = text};
}

/// A rank that costs less than the transfer, and that is late all the same.
std::string besides_text(const Imported& imported, const Balance& balance) {
  if (!balance.late) return {};
  const double late_s = std::max(balance.late->delay_s, balance.late->when_late_s);
  if (late_s < kWorthNaming * balance.step_s) return {};
  return fmt::format(" Besides, {} comes to its collectives {}, and all wait for it.",
                     who_is(imported, balance.late->rank), late_text(balance));
}

record::Verdict transfer_verdict(const Imported& imported, const Balance& balance, double cost_s) {
  record::Verdict verdict{.cause = "bandwidth",
                          .cost_s = cost_s,
                          .share = cost_s / balance.step_s,
                          .gain_s = 0,
                          .gain_ci = {0, cost_s},
                          .confidence = kTransferConfidence};
  // What looks like transfer may be waiting for a rank whose arrival nobody tells.
  if (balance.without_file > 0) {
    verdict.confidence = kDoubtfulConfidence;
    const std::string others =
        balance.without_file == 1
            ? "the rank that gave no file"
            : fmt::format("one of the {} ranks that gave no file", balance.without_file);
    verdict.text = fmt::format(
        "The transfer, or {} and may come late, costs up to {} of {}. Give the files of all {} "
        "ranks to tell which.",
        others, time_text(cost_s), whole_text(balance), balance.group_size);
    return verdict;
  }
  const std::string rate = balance.busbw_bps ? fmt::format(", at {} of bus bandwidth",
                                                           readable(BitRate(*balance.busbw_bps)))
                                             : "";
  const double wait_s = balance.exposed_wait_s;
  const std::string why =
      wait_s < kWorthTelling * balance.step_s
          ? fmt::format(
                "ranks come to their collectives within {} of one another, and the "
                "transfer takes it{}.",
                time_text(balance.typical_skew_s), rate)
          : fmt::format(
                "that long the transfer takes after the last rank has come{}; ranks wait "
                "{} for one another before.",
                rate, time_text(wait_s));
  verdict.text = fmt::format("The network costs up to {} of {}: {}{}", time_text(cost_s),
                             whole_text(balance), why, besides_text(imported, balance));
  return verdict;
}

/// Most is in what cannot be split into waiting and transfer.
record::Verdict apart_verdict(const Balance& balance) {
  return {.cause = "unknown",
          .cost_s = balance.apart_s,
          .share = balance.apart_s / balance.step_s,
          .text = fmt::format(
              "No verdict: {} of {} go to sends and receives, or to groups of which one rank alone "
              "gave a file; whether ranks wait there for one another or for the network, traces do "
              "not tell. Packets do.",
              time_text(balance.apart_s), whole_text(balance))};
}

/// Nobody stands out: most of the time goes to waiting, and not twice for the same rank.
record::Verdict in_turn_verdict(const Balance& balance, double cost_s) {
  const std::vector<int>& few = balance.late_in_turn;
  return {.cause = "unknown",
          .cost_s = cost_s,
          .share = cost_s / balance.step_s,
          .text = fmt::format(
              "Not the network: ranks{} are late in turn, and {} {} of {} for one another. Look at "
              "what differs between their steps: inputs of uneven length, loading of data, pauses.",
              few.empty() ? "" : fmt::format(" {}", fmt::join(few, " and ")),
              few.empty() ? "wait" : "ranks wait", time_text(cost_s), whole_text(balance))};
}

/// Collectives take little.
record::Verdict computing_verdict(const Imported& imported, const Balance& balance) {
  const double rest_s = balance.exposed_s() + balance.apart_s;
  const std::string little =
      fmt::format("of {} only {} go to collectives that computing does not hide",
                  whole_text(balance), time_text(rest_s));
  if (is_cut_off(imported)) {
    return {.cause = "unknown",
            .text =
                "No verdict: traces end in the middle, and collectives may be in what they lack; "
                "as far as "
                "they go, " +
                little + "."};
  }
  return {.cause = "compute",
          .cost_s = balance.step_s - rest_s,
          .share = 1 - rest_s / balance.step_s,
          .gain_s = rest_s,
          .gain_ci = {0, rest_s},
          .confidence = 0.9,
          .text = fmt::format("Not the network: {}.", little)};
}

record::Verdict timed_verdict(const Imported& imported, const Balance& balance) {
  const double worth_s = kWorthNaming * balance.step_s;
  const double wait_s = balance.exposed_wait_s;
  const double transfer_s = balance.exposed_s() - wait_s;
  // A rank that is late by what computing would have hidden anyway costs nothing.
  const double late_s = balance.late ? std::min(balance.late->delay_s, balance.step_s) : 0;
  if (balance.late && late_s >= worth_s && wait_s >= 0.5 * worth_s &&
      late_s >= std::max(transfer_s, 0.5 * balance.apart_s)) {
    return late_verdict(imported, balance, late_s);
  }
  if (balance.apart_s >= worth_s && balance.apart_s > std::max(wait_s, transfer_s))
    return apart_verdict(balance);
  if (wait_s >= worth_s && wait_s > transfer_s) return in_turn_verdict(balance, wait_s);
  if (transfer_s >= worth_s) return transfer_verdict(imported, balance, transfer_s);
  return computing_verdict(imported, balance);
}

bool only_benchmarks(const Imported& imported) {
  const auto tells = [](const Told& file) { return !file.operations.empty(); };
  return std::any_of(imported.told.begin(), imported.told.end(), tells) &&
         std::all_of(imported.told.begin(), imported.told.end(),
                     [&](const Told& file) { return !tells(file) || is_benchmark(file.kind); });
}

/// "" where all dumps say whose they are, or all that they tell of has ended.
std::string nobodys_text(const Imported& imported) {
  for (const Told& file : imported.told) {
    if (file.kind != "flight_recorder") continue;
    for (const Operation& each : file.operations) {
      const bool is_open = each.state == State::Scheduled || each.state == State::Started;
      if (!is_open || each.rank || is_message(each.op)) continue;
      return fmt::format(
          "Collective {} of group {} ({}{}) did not end, and its dump does not say whose it is: "
          "name "
          "dumps by their rank, nccl_trace_rank_3, to learn who is missing. ",
          each.sequence.value_or(0), printable(each.group), each.op,
          each.bytes ? fmt::format(" of {} bytes", grouped(*each.bytes)) : "");
    }
  }
  return {};
}

/// A timeline of Horovod, of which only one rank writes any.
std::optional<record::Verdict> timeline_verdict(const Imported& imported) {
  const auto found = std::find_if(imported.told.begin(), imported.told.end(),
                                  [](const Told& file) { return file.readiness.has_value(); });
  if (found == imported.told.end()) return {};
  const Readiness& ready = *found->readiness;
  if (ready.share >= kMostlyLate && ready.late_s > ready.moved_s) {
    return record::Verdict{
        .cause = "late_rank",
        .where = place_of(imported.wiring, ready.rank),
        .confidence = kTimelineConfidence,
        .text = fmt::format("Not the network: {} is the last to be ready, by {} summed over "
                            "tensors, and exchanging them takes {}.",
                            who_is(imported, ready.rank), time_text(ready.late_s),
                            time_text(ready.moved_s))};
  }
  return record::Verdict{
      .cause = "unknown",
      .text = fmt::format("No verdict: summed over tensors, ranks wait {} for one another to be "
                          "ready and {} for the exchange; what of it computing hides, a timeline "
                          "does not tell.",
                          time_text(ready.waited_s), time_text(ready.moved_s))};
}

/// What goes before a verdict that says that there is none.
std::string known_text(const Imported& imported) {
  std::string text;
  for (const Remark& remark : remarks_on(imported.wiring)) {
    if (remark.is_trouble && remark.kind != "nccl_warning" && text.empty())
      text = remark.text + ". ";
  }
  if (const std::string failure = failure_text(imported.wiring); !failure.empty())
    text += failure + " ";
  const bool has_dumps = std::any_of(
      imported.told.begin(), imported.told.end(),
      [](const Told& file) { return file.kind == "flight_recorder" && !file.operations.empty(); });
  if (const std::string open = open_messages(imported.told); !open.empty()) {
    text += open + ". ";
  } else if (const std::string idle = idle_ranks(imported.told); !idle.empty()) {
    text += idle + ". ";
  } else if (const std::string of_nobody = nobodys_text(imported); !of_nobody.empty()) {
    text += of_nobody;
  } else if (has_dumps) {
    text += "Nobody is missing: every collective that these dumps tell of has ended. ";
  }
  return text;
}

bool only_flows(const Imported& imported) {
  const auto has_pairs = [](const Told& file) { return !file.pairs.empty(); };
  return std::any_of(imported.told.begin(), imported.told.end(), has_pairs) &&
         std::all_of(imported.told.begin(), imported.told.end(), [&](const Told& file) {
           return file.operations.empty() && (has_pairs(file) || file.records == 0);
         });
}

std::string untold_text(const Imported& imported, bool is_first) {
  if (only_flows(imported) && !imported.steps && is_first) {
    return "No verdict: flow records tell who sent how much to whom, not when; packets, or traces "
           "of torch.profiler of all ranks, tell what a step waits for.";
  }
  if (imported.steps) {
    const std::size_t count = imported.steps->times_s.size();
    return fmt::format(
        "No verdict: {} told, but not what ranks did in {}{}; traces of torch.profiler of all "
        "ranks tell waiting from transfer.",
        count == 1 ? "a step is" : fmt::format("{} steps are", count), count == 1 ? "it" : "them",
        only_benchmarks(imported) ? ", and benchmarks tell what the network can, not what it did"
                                  : "");
  }
  if (only_benchmarks(imported)) {
    return "No verdict on a job, for these are benchmarks: `trainwire fit` gives their latency and "
           "bandwidth, `trainwire expect` what the hardware should reach.";
  }
  const bool only_of_tests = std::all_of(
      imported.told.begin(), imported.told.end(),
      [](const Told& file) { return file.kind == "nccl_tests" && file.operations.empty(); });
  if (only_of_tests && !imported.told.empty()) {
    return "No verdict: nccl-tests came to no row of its table; NCCL's lines before it tell why, "
           "where there are any.";
  }
  return "No verdict: no two ranks tell when they were in their collectives; traces of "
         "torch.profiler of all ranks, or packets, do.";
}

record::Verdict untimed_verdict(const Imported& imported) {
  std::string text = known_text(imported);
  record::Verdict verdict{.cause = "unknown"};
  if (const auto of_timeline = timeline_verdict(imported)) {
    verdict = *of_timeline;
  } else if (const auto of_one = verdict_of_one(imported)) {
    verdict = *of_one;
  } else {
    verdict.text = untold_text(imported, text.empty());
  }
  verdict.text.insert(0, text);
  char& first = verdict.text[0];
  if (first >= 'a' && first <= 'z') first = static_cast<char>(first - 'a' + 'A');
  return verdict;
}

}  // namespace

record::Verdict verdict_of(const Imported& imported) {
  if (!imported.hangs.empty()) return hang_verdict(imported);
  if (imported.balance && imported.balance->step_s > 0)
    return timed_verdict(imported, *imported.balance);
  return untimed_verdict(imported);
}

std::optional<record::Accounting> accounting_of(const Imported& imported) {
  if (!imported.balance || imported.balance->steps == 0) return {};
  const Balance& balance = *imported.balance;
  const double wait_s = balance.exposed_wait_s;
  const double transfer_s = balance.exposed_s() - wait_s;
  record::Accounting made{.method = "what ranks' traces tell", .step_s = balance.step_s};
  const auto add = [&](const char* name, double part_s) {
    if (part_s > 0)
      made.parts.push_back(
          {.name = name, .seconds = part_s, .low_s = 0.8 * part_s, .high_s = part_s});
  };
  add("late_rank", wait_s);
  const bool is_sure = balance.without_file == 0;
  if (is_sure) add("bandwidth", transfer_s);
  add("unexplained", balance.apart_s + (is_sure ? 0 : transfer_s));
  add("compute", balance.step_s - balance.exposed_s() - balance.apart_s);
  made.overlap_s = balance.hidden_s;
  made.not_visible = {"what a transfer would take on a faster network is not in traces",
                      "time of a step in which no kernel runs counts as computing"};
  if (balance.apart_s > 0)
    made.not_visible.emplace_back(
        "whether ranks wait in sends and receives, and in groups of which one rank gave a file");
  if (!is_sure)
    made.not_visible.emplace_back(
        "whether what follows the last rank with a file is transfer or waiting for one without");
  return made;
}

std::string contradiction(const record::Straggler& late, const Imported& imported,
                          const std::string& host) {
  const auto& balance = imported.balance;
  const bool is_known = balance && balance->steps > 0 && balance->without_file == 0 &&
                        balance->ranks > 1 && !is_cut_off(imported);
  if (!is_known || late.delay_s < kWorthNaming * balance->step_s) return {};
  const bool has_late = balance->late && balance->late->delay_s >= kWorthNaming * balance->step_s;
  if (has_late ? host.empty() || host == late.host
               : balance->typical_skew_s >= kAlike * late.delay_s) {
    return {};
  }
  const std::string of_packets = fmt::format("Packets alone take {} for late, by {}",
                                             printable(late.host), time_text(late.delay_s));
  return has_late ? fmt::format("{}; by the traces it is {} ({}).", of_packets,
                                who_is(imported, balance->late->rank), printable(host))
                  : fmt::format("{}; by the traces all ranks come within {} of one another.",
                                of_packets, time_text(balance->typical_skew_s));
}

record::Verdict of_both(const record::Verdict& packets, const record::Verdict& files,
                        std::string_view contradiction) {
  if (files.cause == "missing_rank") return files;
  if (!contradiction.empty()) {
    // A slow link is not what they differ about.
    record::Verdict both = packets.cause == "slow_link" && files.cause == "bandwidth"
                               ? of_both(packets, files)
                               : files;
    both.text += fmt::format(" {}", contradiction);
    return both;
  }
  if (files.cause == "unknown" && files.cost_s == 0) return packets;
  // One rank's trace says less than packets do, where these say something.
  const bool is_of_one = files.cause == "compute" && files.confidence <= kOneTrace;
  if (is_of_one && packets.cause != "unknown") return packets;
  // Nor do traces of some ranks, where another may be late.
  const bool is_doubt = files.cause == "bandwidth" && files.confidence <= kDoubtfulConfidence;
  if (is_doubt && packets.cause == "late_rank") return packets;
  const bool slow_link = packets.cause == "slow_link";
  if (files.cause == "late_rank" && slow_link) {
    record::Verdict both = files.cost_s >= packets.cost_s ? files : packets;
    both.text += " " + (files.cost_s >= packets.cost_s ? packets : files).text;
    return both;
  }
  if (files.cause == "late_rank" && packets.cause == "late_rank") {
    record::Verdict both = files;
    both.text += " The packets agree: " + packets.text;
    return both;
  }
  if (files.cause == "bandwidth" && slow_link) {
    record::Verdict both = packets;
    both.text += " The traces agree: " + files.text;
    return both;
  }
  return files;
}

}  // namespace tw::operations
