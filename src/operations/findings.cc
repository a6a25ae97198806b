// SPDX-License-Identifier: Apache-2.0
#include "trainwire/operations/findings.h"

#include "trainwire/base/units.h"
#include "trainwire/operations/matrix.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

namespace tw::operations {
namespace {

constexpr double kOffThePlan = 0.01;    ///< of what is planned
constexpr std::size_t kMostPauses = 3;  ///< in a sentence
constexpr double kMuchApart = 0.05;     ///< of a step: two counts that do not tell of the same

record::Finding finding(std::string text, bool is_trouble, std::string kind) {
  return {.text = std::move(text),
          .severity = is_trouble ? "warning" : "info",
          .kind = std::move(kind)};
}

std::string clock_text(const WireClock& clock) {
  if (!clock.is_other()) return "packets and files have one clock";
  std::string text = fmt::format("files' times were moved by {} to the packets' clock",
                                 readable(std::chrono::nanoseconds(std::abs(clock.offset_ns))));
  if (clock.also_ns) {
    text += fmt::format("; steps are so alike that {} would fit as well",
                        readable(std::chrono::nanoseconds(std::abs(*clock.also_ns))));
  }
  return text;
}

std::string pauses_text(const std::vector<StepPause>& pauses) {
  std::string list;
  for (std::size_t i = 0; i < std::min(kMostPauses, pauses.size()); ++i) {
    list += fmt::format("{}{} before step {}", i == 0 ? "" : ", ",
                        readable(from_seconds(pauses[i].seconds)), pauses[i].number);
  }
  if (pauses.size() > kMostPauses) list += fmt::format(" and {} more", pauses.size() - kMostPauses);
  return fmt::format(
      "between steps the program does something else ({}): steps of packets have that in them",
      list);
}

record::Finding clock_finding(const WireClock& clock) {
  return finding(
      fmt::format("{} of {} ends of collectives stand where packets pause, within {}: {}",
                  clock.matched, clock.ends,
                  readable(std::chrono::nanoseconds(clock.uncertainty_ns)), clock_text(clock)),
      false, "clock");
}

void compare(record::Run& run, std::string_view who, double measured, std::string_view of,
             double planned) {
  const double apart = planned > 0 ? (measured - planned) / planned : 0;
  run.findings.insert(
      run.findings.begin(),
      {.text = fmt::format("{} {} bytes a step; the plan has {} bytes of {} ({:+.4f} %)", who,
                           grouped(std::llround(measured)), grouped(std::llround(planned)), of,
                           100 * apart),
       .severity = std::abs(apart) > kOffThePlan ? "warning" : "info",
       .kind = "plan"});
}

/// Gradients are summed by these; what sharded training gathers are parameters.
bool sums_gradients(const record::Collective& each) {
  return each.operation == "all_reduce" || each.operation == "reduce_scatter";
}

}  // namespace

void add_findings(record::Run& run, const Imported& imported) {
  std::vector<record::Finding> made;
  for (const Hang& hang : imported.hangs)
    made.push_back(finding(sentence_of(hang), true, "missing_rank"));
  const auto& balance = imported.balance;
  if (balance && balance->late) {
    const Late& late = *balance->late;
    const bool is_even = is_late_in_each(*balance);
    const bool matters = late.delay_s >= 0.1 * balance->step_s;
    made.push_back(finding(
        fmt::format("rank {} is last in {} of {} collectives, {} after the median of the "
                    "others {}, {:.0f} % of all "
                    "lateness",
                    late.rank, late.times, balance->collectives,
                    readable(from_seconds(is_even ? late.delay_s : late.when_late_s)),
                    !is_even ? fmt::format("in {} of {} steps", late.steps_late, balance->steps)
                    : balance->steps > 0 ? "in each step"
                                         : "in all",
                    100 * late.share),
        matters, "straggler"));
  }
  const auto remarks = remarks_on(imported.wiring);
  for (const Remark& remark : remarks) {
    if (remark.is_trouble) made.push_back(finding(remark.text, true, remark.kind));
  }
  if (balance) {
    const std::string of =
        balance->steps > 0 ? fmt::format("a step of {}", readable(from_seconds(balance->step_s)))
                           : readable(from_seconds(balance->step_s));
    made.push_back(finding(
        fmt::format(
            "of {}, a rank is in collectives for {}: {} of it hidden by computing; waiting for the "
            "last rank "
            "{}, transfer {}{}",
            of, readable(from_seconds(balance->in_collectives_s)),
            readable(from_seconds(balance->hidden_s)), readable(from_seconds(balance->wait_s)),
            readable(from_seconds(balance->transfer_s)),
            balance->busbw_bps
                ? fmt::format(" at {} of bus bandwidth", readable(BitRate(*balance->busbw_bps)))
                : "") +
            (balance->apart_s > 0
                 ? fmt::format("; besides, {} in sends and receives, or in groups of one file",
                               readable(from_seconds(balance->apart_s)))
                 : ""),
        false, "arrivals"));
  }
  for (const Agreement& each : imported.agreements) {
    made.push_back(finding(
        each.agrees
            ? fmt::format(
                  "{} and {} tell of the same {} operations of ranks, {} bytes, in the same order",
                  each.one, each.other, grouped(static_cast<std::int64_t>(each.compared)),
                  grouped(static_cast<std::int64_t>(each.bytes)))
            : fmt::format("{} and {} do not tell of the same operations: {}", each.one, each.other,
                          each.difference),
        !each.agrees, "agreement"));
  }
  for (const StepAgreement& each : step_agreements(imported.told, imported.wire_steps)) {
    made.push_back(finding(
        fmt::format(
            "{} and {} tell of {} step{}, from end to end: {} and {} each ({:.2f} % apart); a "
            "single one differs by {:.2f} % at most, {:.2f} % in the middle",
            each.one, each.other, each.compared, each.compared == 1 ? "" : "s",
            readable(from_seconds(each.one_s)), readable(from_seconds(each.other_s)),
            100 * std::abs(each.one_s - each.other_s) / each.other_s, 100 * each.largest,
            100 * each.median),
        each.median > kMuchApart, "agreement"));
  }
  if (const auto pauses = step_pauses(imported.told);
      !pauses.empty() && !imported.wire_steps.empty()) {
    made.push_back(finding(pauses_text(pauses), false, "agreement"));
  }
  if (imported.wire_clock) made.push_back(clock_finding(*imported.wire_clock));
  for (const Remark& remark : remarks) {
    if (!remark.is_trouble) made.push_back(finding(remark.text, false, remark.kind));
  }
  for (const std::string& text : remarks_on(matrix_of(imported.told)))
    made.push_back(finding(text, false, "matrix"));
  for (const Told& file : imported.told) {
    for (const std::string& note : file.notes) made.push_back(finding(note, false, "note"));
  }
  run.findings.insert(run.findings.end(), made.begin(), made.end());
  std::stable_partition(run.findings.begin(), run.findings.end(),
                        [](const record::Finding& each) { return each.severity == "warning"; });
}

void add_plan(record::Run& run, const Planned& planned) {
  const std::size_t before = run.findings.size();
  if (run.operations) {
    double told = 0;
    for (const record::Collective& each : run.collectives) {
      if (sums_gradients(each)) told += static_cast<double>(each.bytes_per_iteration);
    }
    if (told > 0)
      compare(run, "files tell of sums over", told, "gradients", planned.gradient_bytes);
  }
  const bool has_steps = run.iterations && run.iterations->count > 0;
  if (run.capture && run.model_bytes) {
    compare(run, "packets show sums over", static_cast<double>(*run.model_bytes), "gradients",
            planned.gradient_bytes);
  } else if (run.capture && has_steps && run.iterations->bytes_during > 0) {
    compare(run, "packets carry",
            static_cast<double>(run.iterations->bytes_during) /
                static_cast<double>(run.iterations->count),
            "the exchange between hosts", planned.exchange_bytes);
  }
  if (run.findings.size() > before) return;
  run.findings.push_back(
      {.text = fmt::format("nothing to compare with the plan of {}: neither files "
                           "nor packets tell what a step moves",
                           planned.name),
       .severity = "notice",
       .kind = "plan"});
}

}  // namespace tw::operations
