// SPDX-License-Identifier: Apache-2.0
#include "trainwire/operations/balance.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

namespace tw::operations {
namespace {

constexpr double kMostlyOne = 0.5;  ///< of all lateness is one rank's
constexpr double kMuchLess =
    0.5;  ///< of the latest rank's lateness: another that has more is late too
constexpr double kMostlyFew = 0.8;  ///< of all lateness is that of few ranks
constexpr std::size_t kFew = 3;
constexpr double kMostSteps = 0.8;  ///< of them: late in each

double seconds(std::int64_t nanos) { return 1e-9 * static_cast<double>(nanos); }

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// What one file tells of its rank's time.
struct OfFile {
  int rank = 0;
  std::vector<Span> joined = {};  ///< in collectives of which others tell too
  std::vector<Span> apart = {};   ///< in messages, and in groups of which no other file tells
  std::vector<Span> waits = {};   ///< of what is joined, before the last rank came
  std::set<std::string> groups = {};
  double wait_s = 0;
  double transfer_s = 0;
  double share = 1;  ///< of its collectives in these groups that are joined
};
using ByFile = std::map<std::size_t, OfFile>;

void add_apart(const Told& file, OfFile& into) {
  double all = 0;
  for (const Operation& each : file.operations) {
    if (!is_timed(each)) continue;
    if (is_message(each.op) || !into.groups.contains(each.group)) {
      into.apart.push_back({*each.start_ns, *each.end_ns});
    } else {
      ++all;
    }
  }
  if (all > 0) into.share = std::min(1.0, static_cast<double>(into.joined.size()) / all);
}

ByFile by_file(const std::vector<Arrival>& arrivals, const std::vector<Told>& told) {
  ByFile made;
  // Who is done with a collective before others comes so much earlier to the next one: these wait for the network, not for
  // a rank.
  std::map<std::size_t, std::int64_t> ahead_ns;
  for (const Arrival& arrival : arrivals) {
    for (const Part& part : arrival.parts) {
      OfFile& file = made[part.file];
      file.rank = part.rank;
      file.joined.push_back({part.start_ns, part.end_ns});
      const std::int64_t waits_ns = std::min(part.start_ns + ahead_ns[part.file], arrival.last_ns);
      ahead_ns[part.file] = arrival.end_ns - part.end_ns;
      file.waits.push_back({waits_ns, arrival.last_ns});
      file.groups.insert(arrival.group);
      file.wait_s += seconds(arrival.last_ns - waits_ns);
      file.transfer_s += seconds(arrival.transfer_ns());
    }
  }
  for (auto& [number, file] : made) {
    add_apart(told[number], file);
    file.joined = joined(std::move(file.joined));
    file.waits = joined(std::move(file.waits));
    file.apart.insert(file.apart.end(), file.joined.begin(), file.joined.end());
    file.apart = joined(std::move(file.apart));
  }
  return made;
}

/// Means over files; of steps, where `steps` is not 0.
void add_times(const ByFile& files, const std::vector<Told>& told, double steps,
               double above_least_s, Balance& into) {
  for (const auto& [number, file] : files) {
    const std::vector<Span>& computing = told[number].computing;
    const std::int64_t length = length_of(file.joined);
    const std::int64_t hidden = length - length_of(without(file.joined, computing));
    const std::int64_t exposed = length_of(without(file.apart, computing));
    const auto own_steps = static_cast<double>(told[number].steps.size());
    into.in_collectives_s += seconds(length);
    into.hidden_s += seconds(hidden);
    into.wait_s += file.wait_s;
    into.exposed_wait_s += seconds(length_of(without(file.waits, computing)));
    into.transfer_s += file.transfer_s;
    into.apart_s += seconds(exposed - (length - hidden)) * (own_steps > 0 ? steps / own_steps : 1);
  }
  const double per_step = 1 / (steps > 0 ? steps : 1);
  for (double* each : {&into.in_collectives_s, &into.hidden_s, &into.wait_s, &into.exposed_wait_s,
                       &into.transfer_s, &into.apart_s}) {
    *each *= per_step / static_cast<double>(files.size());
  }
  // Waiting that computing hides makes what comes after it late: a transfer that it would have hidden too.
  into.exposed_wait_s =
      std::max(into.exposed_wait_s, std::min(above_least_s * per_step, into.wait_s));
}

/// How many steps the joined collectives are of, by the file in the middle; 0 without steps.
double common_steps(const ByFile& files, const std::vector<Told>& told) {
  std::vector<double> counts;
  for (const auto& [number, file] : files) {
    if (!told[number].steps.empty())
      counts.push_back(file.share * static_cast<double>(told[number].steps.size()));
  }
  return counts.empty() ? 0 : median(counts);
}

/// Steps that a file with arrivals tells, or none; starts only where all are told.
struct TracedSteps {
  std::vector<double> times_s = {};
  std::vector<std::int64_t> starts_ns = {};
};

TracedSteps traced_steps(const ByFile& files, const std::vector<Told>& told) {
  for (const auto& [number, file] : files) {
    TracedSteps made;
    for (const Step& step : told[number].steps) {
      made.times_s.push_back(seconds(step.duration_ns));
      if (step.start_ns) made.starts_ns.push_back(*step.start_ns);
    }
    if (made.times_s.empty()) continue;
    if (made.starts_ns.size() != made.times_s.size()) made.starts_ns.clear();
    std::sort(made.starts_ns.begin(), made.starts_ns.end());
    return made;
  }
  return {};
}

Exposed exposed_of(const ByFile& files, const std::vector<Told>& told,
                   const std::vector<std::int64_t>& starts_ns) {
  Exposed made;
  for (const auto& [number, file] : files)
    made[file.rank] = by_step(without(file.joined, told[number].computing), starts_ns);
  return made;
}

/// One rank, or a few that take turns.
void put_late(const std::vector<Late>& latest, Balance& into) {
  if (latest.empty()) return;
  const auto others = std::find_if(latest.begin(), latest.end(), [&](const Late& each) {
    return each.delay_s < kMuchLess * latest.front().delay_s;
  });
  const auto count = static_cast<std::size_t>(others - latest.begin());
  if (count == 1) {
    if (latest.front().share >= kMostlyOne) into.late = latest.front();
    return;
  }
  double share = 0;
  for (auto each = latest.begin(); each != others; ++each) share += each->share;
  if (count > kFew || count >= into.ranks || share < kMostlyFew) return;
  for (auto each = latest.begin(); each != others; ++each) into.late_in_turn.push_back(each->rank);
  std::sort(into.late_in_turn.begin(), into.late_in_turn.end());
}

}  // namespace

std::int64_t common_ns(const std::vector<Span>& a, const std::vector<Span>& b) {
  std::int64_t common = 0;
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() && j < b.size()) {
    const std::int64_t start = std::max(a[i].start_ns, b[j].start_ns);
    const std::int64_t end = std::min(a[i].end_ns, b[j].end_ns);
    if (end > start) common += end - start;
    if (a[i].end_ns < b[j].end_ns) {
      ++i;
    } else {
      ++j;
    }
  }
  return common;
}

bool is_late_in_each(const Balance& balance) {
  const std::uint64_t late = balance.late ? balance.late->steps_late : 0;
  return late == 0 || static_cast<double>(late) >= kMostSteps * static_cast<double>(balance.steps);
}

std::optional<Balance> balance_of(const std::vector<Arrival>& arrivals,
                                  const std::vector<Told>& told) {
  if (arrivals.empty()) return {};
  Balance made{.collectives = arrivals.size()};
  std::set<int> ranks;
  std::vector<double> skews;
  double bus_bits = 0;
  double bus_s = 0;
  for (const Arrival& arrival : arrivals) {
    for (const Part& part : arrival.parts) ranks.insert(part.rank);
    const int untold = arrival.group_size - static_cast<int>(arrival.parts.size());
    if (untold > made.without_file) {
      made.without_file = untold;
      made.group_size = arrival.group_size;
    }
    if (!waits_for_all(arrival.op)) continue;
    skews.push_back(seconds(arrival.last_ns - arrival.first_ns));
    if (!arrival.bytes) continue;
    bus_bits +=
        8 * bus_factor(arrival.op, arrival.group_size) * static_cast<double>(*arrival.bytes);
    bus_s += seconds(arrival.transfer_ns());
  }
  made.ranks = ranks.size();
  if (!skews.empty()) made.typical_skew_s = median(skews);
  if (bus_bits > 0 && bus_s > 0) made.busbw_bps = bus_bits / bus_s;
  const ByFile files = by_file(arrivals, told);
  const double common = common_steps(files, told);
  const TracedSteps steps = traced_steps(files, told);
  const Exposed exposed = exposed_of(files, told, steps.starts_ns);
  add_times(files, told, common, exposed_above_least_s(exposed), made);
  put_late(lateness(arrivals, steps.starts_ns, exposed), made);
  std::int64_t end_ns = 0;
  for (const Arrival& arrival : arrivals) end_ns = std::max(end_ns, arrival.end_ns);
  made.step_s = seconds(end_ns - arrivals.front().first_ns);
  if (steps.times_s.empty()) return made;
  made.steps = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::llround(common)));
  made.step_s = median(steps.times_s);
  if (!made.late) return made;
  made.late->delay_s /= common;
  // What a few steps cost is a mean of all, and so must be the step that it is a part of.
  if (!is_late_in_each(made)) {
    made.is_mean_step = true;
    made.step_s = std::accumulate(steps.times_s.begin(), steps.times_s.end(), 0.0) /
                  static_cast<double>(steps.times_s.size());
  }
  return made;
}

std::optional<Steps> steps_of(const std::vector<Told>& told) {
  // A step of one kind of file, by each rank that tells of it.
  std::map<std::string, std::map<std::int64_t, std::map<int, const Step*>>> by_kind;
  std::optional<Steps> best;
  for (const Told& file : told) {
    std::map<int, Steps> by_rank;
    for (const Step& step : file.steps) {
      Steps& steps = by_rank[step.rank.value_or(0)];
      steps.times_s.push_back(seconds(step.duration_ns));
      steps.is_shared.push_back(step.is_shared ? 1 : 0);
      if (step.start_ns) steps.starts_s.push_back(seconds(*step.start_ns));
      if (step.rank) by_kind[file.kind][step.number].try_emplace(*step.rank, &step);
    }
    for (auto& [rank, steps] : by_rank) {
      if (best && steps.times_s.size() <= best->times_s.size()) continue;
      steps.kind = file.kind;
      if (steps.starts_s.size() != steps.times_s.size()) steps.starts_s.clear();
      best = std::move(steps);
    }
  }
  if (!best || !by_kind.contains(best->kind)) return best;
  const auto& numbered = by_kind[best->kind];
  if (numbered.size() != best->times_s.size()) return best;
  // Several ranks tell of the same steps: the one in the middle counts, for single ranks may begin early or pause.
  best->times_s.clear();
  best->is_shared.clear();
  for (const auto& [number, ranks] : numbered) {
    std::vector<double> times;
    for (const auto& [rank, step] : ranks) times.push_back(seconds(step->duration_ns));
    best->times_s.push_back(median(times));
    const bool is_shared = std::all_of(ranks.begin(), ranks.end(),
                                       [](const auto& each) { return each.second->is_shared; });
    best->is_shared.push_back(is_shared ? 1 : 0);
  }
  return best;
}

}  // namespace tw::operations
