// SPDX-License-Identifier: Apache-2.0
#include "trainwire/rhythm/rhythm.h"

#include "trainwire/stats/quantile.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

namespace tw::rhythm {
namespace {

constexpr double kMinorBytes = 0.003;    ///< share of the bytes in bursts too small to end a pause
constexpr std::size_t kMostCuts = 1500;  ///< pauses looked at together when distances are guessed
constexpr std::size_t kMostLags = 40;    ///< pauses inside a step that a guess may skip
constexpr std::size_t kFewestBeats = 3;
constexpr double kWaitWorth = 0.1;    ///< of a pause in which data was still received
constexpr double kInnerPause = 0.2;   ///< of the pause before a beat: shorter ones are accidents
constexpr double kFewestInside = 1;   ///< pauses in a beat, on average
constexpr double kMostInside = 60;    ///< the same that are looked at, long or short
constexpr double kExactly = 0.001;    ///< of the distance: then few are there by chance
constexpr double kOftenThere = 0.35;  ///< of the beats: a place where a pause belongs
constexpr double kUneven = 0.1;       ///< of the mean part
constexpr double kStartUp = 1.5;  ///< of a typical pause: what precedes the first step is longer

/// Bursts of at least this many bytes carry all but kMinorBytes of the stream.
std::uint64_t least_burst(std::span<const flow::Burst> bursts) {
  std::vector<std::uint64_t> sizes;
  double total = 0;
  for (const flow::Burst& burst : bursts) {
    sizes.push_back(burst.bytes);
    total += static_cast<double>(burst.bytes);
  }
  std::sort(sizes.begin(), sizes.end());
  double sum = 0;
  for (const std::uint64_t size : sizes) {
    sum += static_cast<double>(size);
    if (sum > kMinorBytes * total) return std::max<std::uint64_t>(1, size);
  }
  return 1;
}

/// Distances from each place to the next.
std::vector<double> parts_of(const std::vector<double>& places) {
  std::vector<double> parts;
  for (std::size_t i = 1; i < places.size(); ++i) parts.push_back(places[i] - places[i - 1]);
  return parts;
}

/// Whether places divide a distance, the last of them, evenly.
bool are_equal(const std::vector<double>& places) {
  const std::vector<double> parts = parts_of(places);
  const auto [shortest, longest] = std::minmax_element(parts.begin(), parts.end());
  return *longest - *shortest < kUneven * places.back() / static_cast<double>(places.size());
}

/// Whether they would if there were more of them: messages of one size, after some of which pauses
/// are long.
bool are_of_equal_parts(const std::vector<double>& places) {
  const std::vector<double> parts = parts_of(places);
  const double shortest = *std::min_element(parts.begin(), parts.end());
  return std::all_of(parts.begin(), parts.end(), [&](double part) {
    return std::abs(part / shortest - std::round(part / shortest)) < kUneven;
  });
}

/// What a host received up to a moment that only moves forward.
class Receipts {
 public:
  explicit Receipts(std::span<const flow::Burst> received) : received_(received) {}

  /// How much of the pause [begin, end) counts.
  double quiet(std::int64_t begin, std::int64_t end) {
    for (; next_ < received_.size() && received_[next_].start_ns < end; ++next_) {
      last_ns_ = std::max(last_ns_, received_[next_].end_ns);
    }
    const std::int64_t since = std::clamp(last_ns_, begin, end);
    return static_cast<double>(end - since) + kWaitWorth * static_cast<double>(since - begin);
  }

 private:
  std::span<const flow::Burst> received_;
  std::size_t next_ = 0;
  std::int64_t last_ns_ = std::numeric_limits<std::int64_t>::min();
};

/// Of a pause that is so many times as long as most. Long ones are worth more, but none more than
/// six times: a few very long ones must not move the chain off the ends of the stream.
double worth(double times) { return 6 * times / (times + 4); }

struct Mode {
  double value;
  std::size_t count;
};

/// The value around which most lie within the tolerance.
Mode mode_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  Mode best{.value = 0, .count = 0};
  std::size_t low = 0;
  for (std::size_t high = 0; high < values.size(); ++high) {
    while (values[high] > values[low] + slack(values[low], 1)) ++low;
    if (high - low + 1 > best.count) {
      best = {.value = values[(low + high) / 2], .count = high - low + 1};
    }
  }
  return best;
}

std::vector<double> without_near_equals(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  std::vector<double> distinct;
  for (const double value : values) {
    if (distinct.empty() || value > distinct.back() * (1 + kDistanceTolerance / 2)) {
      distinct.push_back(value);
    }
  }
  return distinct;
}

/// When `bytes` of the bursts [first, end) were sent, and by which of them.
struct Point {
  std::int64_t time_ns;
  std::size_t burst;
};

Point point_at(std::span<const flow::Burst> bursts, std::size_t first, std::size_t end,
               double bytes) {
  for (std::size_t i = first; i < end; ++i) {
    const auto size = static_cast<double>(bursts[i].bytes);
    if (bytes <= size && size > 0) {
      const auto length = static_cast<double>(bursts[i].end_ns - bursts[i].start_ns);
      return {bursts[i].start_ns + static_cast<std::int64_t>(length * bytes / size), i};
    }
    bytes -= size;
  }
  return {bursts[end - 1].end_ns, end - 1};
}

}  // namespace

ByteStream::ByteStream(const Channel& channel, std::span<const flow::Burst> received,
                       std::int64_t gap_ns)
    : bursts_(channel.bursts),
      known_(channel.distances),
      beginning_(channel.beginning),
      gap_ns_(static_cast<double>(gap_ns)),
      least_burst_(least_burst(channel.bursts)) {
  const std::span<const flow::Burst> bursts = bursts_;
  double at = 0;
  double busy = 0;
  double longest = 0;
  double quietest = 0;
  Receipts receipts(received);
  const flow::Burst* before = nullptr;
  for (std::size_t i = 0; i < bursts.size(); ++i) {
    if (bursts[i].bytes >= least_burst_) {
      const bool is_first = before == nullptr;
      const double gap = is_first ? 0 : static_cast<double>(bursts[i].start_ns - before->end_ns);
      const double quiet = is_first ? 0 : receipts.quiet(before->end_ns, bursts[i].start_ns);
      longest = std::max(longest, gap);
      quietest = std::max(quietest, quiet);
      pauses_.push_back({.at = is_first ? 0 : at,
                         .gap_ns = gap,
                         .quiet_ns = quiet,
                         .busy_ns = busy,
                         .burst = is_first ? 0 : i,
                         .is_end = is_first,
                         .worth = 0,
                         .full_worth = 0});
      before = &bursts[i];
    }
    at += static_cast<double>(bursts[i].bytes);
    busy += static_cast<double>(bursts[i].end_ns - bursts[i].start_ns);
    bytes_ += bursts[i].bytes;
  }
  pauses_.push_back({.at = at,
                     .gap_ns = 0,
                     .quiet_ns = 0,
                     .busy_ns = busy,
                     .burst = bursts.size(),
                     .is_end = true,
                     .worth = 0,
                     .full_worth = 0});
  for (Pause& pause : pauses_) {
    if (!pause.is_end) continue;
    pause.gap_ns = longest;
    pause.quiet_ns = quietest;
  }
  set_worths(&Pause::quiet_ns, &Pause::worth);
  set_worths(&Pause::gap_ns, &Pause::full_worth);
}

void ByteStream::set_worths(double Pause::*length, double Pause::*worth_of) {
  std::vector<double> lengths;
  for (const Pause& pause : pauses_) lengths.push_back(pause.*length);
  const double typical = std::max(1.0, stats::median(std::move(lengths)));
  for (Pause& pause : pauses_) pause.*worth_of = worth(pause.*length / typical);
}

/// Positions of the pauses of at least `least_ns`: at most kMostCuts neighbouring ones, from the
/// middle, where training is steady.
std::vector<double> ByteStream::cuts(double least_ns) const {
  std::vector<double> result;
  for (const Pause& pause : pauses_) {
    if (pause.gap_ns >= least_ns) result.push_back(pause.at);
  }
  if (result.size() <= kMostCuts) return result;
  const auto begin = result.begin() + static_cast<std::ptrdiff_t>((result.size() - kMostCuts) / 2);
  return {begin, begin + kMostCuts};
}

std::vector<double> ByteStream::find_distances() const {
  double longest = 0;
  double shortest = std::numeric_limits<double>::max();
  for (const Pause& pause : pauses_) {
    longest = std::max(longest, pause.gap_ns);
    shortest = std::min(shortest, pause.gap_ns);
  }
  std::vector<double> guesses;
  std::size_t last_count = 0;
  for (double least = longest; least >= 1 && least > shortest / 1.2; least /= 1.2) {
    const std::vector<double> at = cuts(least);
    if (at.size() <= kFewestBeats || (at.size() == last_count && at.size() < kMostCuts)) continue;
    last_count = at.size();
    for (std::size_t lag = 1; lag <= std::min(kMostLags, at.size() / 2); ++lag) {
      std::vector<double> distances;
      for (std::size_t i = 0; i + lag < at.size(); ++i) distances.push_back(at[i + lag] - at[i]);
      const Mode mode = mode_of(distances);
      if (mode.count >= 2 && 4 * mode.count >= distances.size()) guesses.push_back(mode.value);
    }
  }
  return without_near_equals(std::move(guesses));
}

RhythmFit::Comparison ByteStream::compare(const RhythmFit& fit, double Pause::*length) const {
  std::size_t dominant = 0;
  std::vector<double> ratios;
  for (const ChainLink& link : fit.links) {
    const Pause& edge = pauses_[link.from].is_end ? pauses_[link.to] : pauses_[link.from];
    if (link.distances != 1 || edge.is_end) continue;
    double inside = gap_ns_;
    for (std::size_t i = link.from + 1; i < link.to; ++i) {
      inside = std::max(inside, pauses_[i].*length);
    }
    ratios.push_back(edge.*length / inside);
    dominant += edge.*length > inside ? 1 : 0;
  }
  if (ratios.empty()) return {};
  const std::size_t compared = ratios.size();
  return {.compared = compared, .dominant = dominant, .ratio = stats::median(std::move(ratios))};
}

RhythmFit::Halves ByteStream::halves_of(const RhythmFit& fit) const {
  std::vector<double> longer;
  std::vector<double> at_ends;
  std::vector<double> in_middles;
  for (const ChainLink& link : fit.links) {
    const Pause& from = pauses_[link.from];
    const Pause& to = pauses_[link.to];
    if (link.distances != 1 || from.is_end || to.is_end) continue;
    const Pause* middle = nullptr;
    for (std::size_t i = link.from + 1; i < link.to; ++i) {
      const bool is_half = std::abs(2 * pauses_[i].at - from.at - to.at) <= slack(fit.bytes, 1);
      if (!is_half || (middle != nullptr && middle->gap_ns >= pauses_[i].gap_ns)) continue;
      middle = &pauses_[i];
    }
    if (middle == nullptr) continue;
    longer.push_back(from.gap_ns - middle->gap_ns);
    at_ends.push_back(static_cast<double>(bursts_[from.burst].start_ns));
    in_middles.push_back(static_cast<double>(bursts_[middle->burst].start_ns));
  }
  if (longer.size() < kFewestBeats) return {};
  const double typical = stats::median(std::move(longer));
  return {.resumed_ns = std::move(typical > 0 ? at_ends : in_middles),
          .longer_ns = std::abs(typical)};
}

/// Of the pauses of at least `least_ns`, at places that differ by at most `off` bytes.
ByteStream::Likeness ByteStream::likeness_of(const RhythmFit& fit, double least_ns,
                                             double off) const {
  if (fit.beats < kFewestBeats) return {};
  std::vector<double> places;  // of all beats
  for (const ChainLink& link : fit.links) {
    if (link.distances == 0) continue;
    for (std::size_t i = link.from + 1; i < link.to; ++i) {
      if (pauses_[i].gap_ns < least_ns) continue;
      places.push_back(std::fmod(pauses_[i].at - pauses_[link.from].at, fit.bytes));
    }
  }
  const auto beats = static_cast<double>(fit.beats);
  if (static_cast<double>(places.size()) < kFewestInside * beats) return {};
  std::sort(places.begin(), places.end());
  const double many = std::max(2.0, kOftenThere * beats);
  std::vector<double> common{0};
  double shared = 0;
  for (std::size_t low = 0, high = 0; low < places.size(); low = high) {
    while (high < places.size() && places[high] - places[low] <= off) ++high;
    if (static_cast<double>(high - low) < many) continue;
    shared += static_cast<double>(high - low);
    common.push_back(places[(low + high) / 2]);
  }
  common.push_back(fit.bytes);
  const auto met = static_cast<double>(common.size() - 2);
  const double constancy = met > 0 ? shared / (beats * met) : 0;
  const bool is_even = are_equal(common) || (constancy < kAlways && are_of_equal_parts(common));
  return {.share = is_even ? 0 : shared / static_cast<double>(places.size()),
          .constancy = constancy};
}

double ByteStream::covered_bytes(const std::vector<ChainLink>& links) const {
  double sum = 0;
  for (const ChainLink& link : links) {
    if (link.distances > 0) sum += pauses_[link.to].at - pauses_[link.from].at;
  }
  return sum;
}

/// Of the pauses before links. REQUIRES: there are links.
double ByteStream::typical_gap(const std::vector<ChainLink>& links) const {
  std::vector<double> gaps;
  for (const ChainLink& link : links) gaps.push_back(pauses_[link.from].gap_ns);
  return stats::median(std::move(gaps));
}

double ByteStream::busy_share(const std::vector<ChainLink>& links) const {
  double busy = 0;
  double all = 0;
  for (const ChainLink& link : links) {
    if (link.distances == 0) continue;
    const Pause& from = pauses_[link.from];
    const Pause& to = pauses_[link.to];
    busy += to.busy_ns - from.busy_ns;
    all += static_cast<double>(bursts_[to.burst - 1].end_ns - bursts_[from.burst].start_ns);
  }
  return all > 0 ? busy / all : 0;
}

/// For one distance, from the first to the last byte that is no small message. REQUIRES: there are
/// links.
double ByteStream::whole_time(const std::vector<ChainLink>& links) const {
  std::size_t first = pauses_[links.front().from].burst;
  std::size_t last = pauses_[links.back().to].burst - 1;
  while (first < last && bursts_[first].bytes < least_burst_) ++first;
  while (last > first && bursts_[last].bytes < least_burst_) --last;
  double distances = 0;
  for (const ChainLink& link : links) distances += link.distances;
  return static_cast<double>(bursts_[last].end_ns - bursts_[first].start_ns) /
         std::max(1.0, distances);
}

/// Pauses inside the steps may be the longer ones (others wait for a straggler) and hold a chain
/// that is off by some rounds. One that begins with the stream, and covers as much, is right; so is
/// one that ends with it and covers a step more (before the first, the model may have been sent).
/// A chain that ends with the stream already, and begins after a pause that is long even for it, as
/// start-up is, is left alone unless another covers a step more.
/// Where a part of a step is left over after the last, and the pauses are longer in a chain that
/// ends with the stream, it was sent before the first.
/// Those are not looked for where they cannot be different, or cannot cover enough.
std::vector<ChainLink> ByteStream::chain_at(double distance, double Pause::*worth) const {
  std::vector<ChainLink> best = best_chain(pauses_, distance, worth);
  const double missing = pauses_.back().at - covered_bytes(best);
  const bool is_unbroken =
      !best.empty() && std::all_of(best.begin(), best.end(),
                                   [](const ChainLink& link) { return link.distances > 0; });
  const bool is_whole_from_begin = is_unbroken && best.front().from == 0;
  const bool is_after_start = is_unbroken && best.back().to + 1 == pauses_.size() &&
                              pauses_[best.front().from].gap_ns > kStartUp * typical_gap(best);
  const double needed =
      beginning_ == Beginning::Seen && !is_after_start ? -distance / 10 : distance / 2;
  const auto take_if_better = [&](Anchor anchor, double more) {
    std::vector<ChainLink> other = best_chain(pauses_, distance, worth, anchor);
    if (covered_bytes(other) > covered_bytes(best) + more) best = std::move(other);
  };
  if (missing > needed && !is_whole_from_begin) take_if_better(Anchor::Begin, needed);
  if (missing > distance / 2) take_if_better(Anchor::End, distance / 2);
  const bool ends_early = !best.empty() && best.back().to + 1 < pauses_.size();
  if (!ends_early || missing >= distance) return best;
  const double gap = typical_gap(best);
  std::vector<ChainLink> last = best_chain(pauses_, distance, worth, Anchor::End);
  const bool is_better = !last.empty() && typical_gap(last) > gap &&
                         covered_bytes(last) > covered_bytes(best) - distance / 10;
  return is_better ? last : best;
}

RhythmFit ByteStream::fit(double distance) const {
  RhythmFit result = fit_by(distance, &Pause::worth);
  const std::size_t clear = std::max(result.pauses.dominant, result.quiet.dominant);
  if (result.pauses.compared == 0 || 2 * clear >= result.pauses.compared) return result;
  RhythmFit other = fit_by(distance, &Pause::full_worth);
  const bool is_better = other.coverage > result.coverage - kDistanceTolerance &&
                         5 * other.pauses.dominant >= 4 * other.pauses.compared &&
                         2 * other.pauses.compared >= result.pauses.compared;
  return is_better ? other : result;
}

RhythmFit ByteStream::fit_by(double distance, double Pause::*worth) const {
  RhythmFit result{.bytes = distance, .links = chain_at(distance, worth)};
  double time = 0;
  double counted = 0;
  std::vector<double> times;
  for (const ChainLink& link : result.links) {
    const Pause& from = pauses_[link.from];
    const Pause& to = pauses_[link.to];
    // The first beat includes start-up, and how long the last one's pause is nobody knows.
    if (link.distances > 0 && !from.is_end && !to.is_end) {
      const auto passed =
          static_cast<double>(bursts_[to.burst].start_ns - bursts_[from.burst].start_ns);
      time += passed;
      counted += link.distances;
      times.push_back(passed / link.distances);
    }
    result.beats += link.distances == 1 ? 1 : 0;
  }
  result.coverage = covered_bytes(result.links) / std::max(1.0, pauses_.back().at);
  result.busy = busy_share(result.links);
  if (counted > 0) result.period_ns = time / counted;
  if (!times.empty()) result.typical_ns = stats::median(std::move(times));
  result.pauses = compare(result, &Pause::gap_ns);
  result.quiet = compare(result, &Pause::quiet_ns);
  result.halves = halves_of(result);
  if (!result.links.empty()) {
    result.whole_ns = whole_time(result.links);
    result.likeness =
        likeness_of(result, kInnerPause * typical_gap(result.links), slack(distance, 1)).share;
    const auto inside = static_cast<double>(result.links.back().to - result.links.front().from);
    const bool stands_out = result.pauses.dominant * 5 >= result.pauses.compared * 3;
    if (inside <= kMostInside * static_cast<double>(result.beats)) {
      const Likeness exact = likeness_of(result, 0, kExactly * distance);
      result.constancy = exact.constancy;
      if (!stands_out) result.likeness = std::max(result.likeness, exact.share);
    }
  }
  double expected = 0;
  double met = 0;
  for (const ChainLink& link : result.links) {
    expected += link.distances;
    met += link.distances > 0 ? 1 : 0;
  }
  if (expected > 0) result.seen = met / expected;
  return result;
}

std::optional<RhythmFit> ByteStream::even_fit(double distance) const {
  const double total = pauses_.back().at;
  const double parts = std::round(total / distance);
  if (bursts_.empty() || parts < static_cast<double>(kFewestBeats)) return std::nullopt;
  if (std::abs(total - parts * distance) > slack(distance, 1)) return std::nullopt;
  const auto time = static_cast<double>(bursts_.back().end_ns - bursts_.front().start_ns);
  return RhythmFit{
      .bytes = distance,
      .links = {{.from = 0, .to = pauses_.size() - 1, .distances = static_cast<int>(parts)}},
      .coverage = 1,
      .period_ns = time / parts};
}

void ByteStream::append_beats(std::vector<Beat>& beats, const ChainLink& link) const {
  const Pause& from = pauses_[link.from];
  const Pause& to = pauses_[link.to];
  const int count = std::max(1, link.distances);
  const double bytes = (to.at - from.at) / count;
  // Small messages at either end belong to the pause.
  std::size_t first = from.burst;
  std::size_t last = to.burst - 1;
  while (first < last && bursts_[first].bytes < least_burst_) ++first;
  while (last > first && bursts_[last].bytes < least_burst_) --last;
  Point start{bursts_[first].start_ns, from.burst};
  for (int k = 1; k <= count; ++k) {
    const Point end = k == count ? Point{bursts_[last].end_ns, to.burst - 1}
                                 : point_at(bursts_, from.burst, to.burst, k * bytes);
    beats.push_back({.start_ns = start.time_ns,
                     .end_ns = end.time_ns,
                     .bytes = static_cast<std::uint64_t>(std::llround(bytes)),
                     .first_burst = start.burst,
                     .end_burst = end.burst + 1,
                     .fits = link.distances > 0});
    start = end;
  }
}

std::vector<double> ByteStream::pauses_at(const RhythmFit& fit) const {
  if (fit.links.empty()) return {};
  const double off = slack(fit.bytes, 1);
  // The first place inside the stream; places move along with the pauses that are found there.
  double at = std::fmod(pauses_[fit.links.front().from].at, fit.bytes);
  if (at < off) at += fit.bytes;
  std::vector<double> result;
  std::size_t next = 0;
  for (; at < pauses_.back().at - off; at += fit.bytes) {
    while (pauses_[next].at < at - off) ++next;
    const Pause* longest = nullptr;
    for (std::size_t i = next; pauses_[i].at <= at + off; ++i) {
      if (longest == nullptr || pauses_[i].gap_ns > longest->gap_ns) longest = &pauses_[i];
    }
    result.push_back(longest != nullptr ? longest->gap_ns : 0);
    if (longest != nullptr) at = longest->at;
  }
  return result;
}

std::vector<Beat> ByteStream::beats(const RhythmFit& fit) const {
  std::vector<Beat> result;
  for (const ChainLink& link : fit.links) append_beats(result, link);
  return result;
}

}  // namespace tw::rhythm
