// SPDX-License-Identifier: Apache-2.0
#include "trainwire/load/make.h"

#include "trainwire/base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace tw::load {
namespace {

using spec::TrafficKind;

/// Few enough that the volume is met within seconds, enough that starts look like Poisson's (their
/// distances differ from exponential ones by 0.3 % at most).
constexpr double kBlockFlows = 128;
/// Algorithm 2's least number of flows outside a burst; here also of a whole web-search load.
constexpr double kFewestFlows = 8;
/// The first flow of a burst takes half of its bytes, give or take; neither takes nearly all.
constexpr double kSplitDeviation = 0.15;
constexpr double kLeastSplit = 0.1;
/// Starts within a burst fall off with this part of its width.
constexpr double kBurstStartMean = 0.25;
/// Of the flows of a constant load, as far as their sizes allow.
constexpr double kConstantGapS = 1e-3;

double bytes_in(BitRate rate, Duration time) { return rate.bits_per_second() / 8 * seconds(time); }

double sum(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

void scale(std::vector<double>& values, double factor) {
  for (double& value : values) value *= factor;
}

/// Exponential with that mean, given that it is below `limit`.
double exponential_below(Random& random, double mean, double limit) {
  const double reach = -std::expm1(-limit / mean);
  return std::min(-mean * std::log1p(-random.uniform() * reach), std::nextafter(limit, 0));
}

}  // namespace

void validate(const Demand& demand) {
  if (demand.kind == TrafficKind::File) {
    throw SpecError("a load of kind file is not computed: it is the list in its file");
  }
  if (!(demand.rate.bits_per_second() > 0)) {
    throw SpecError("a load needs a rate above 0, such as 6Gbit");
  }
  if (demand.duration && *demand.duration <= Duration()) {
    throw SpecError("a load lasts longer than 0, such as 10s");
  }
  if (demand.kind == TrafficKind::Long && (demand.flows < 1 || !demand.duration)) {
    throw SpecError("long flows are at least one, with a duration");
  }
  if (demand.kind != TrafficKind::Burst) return;
  if (demand.burst_width <= Duration() || demand.burst_width >= demand.period) {
    throw SpecError(fmt::format("bursts of {} do not fit in a period of {}; make them shorter",
                                exact(demand.burst_width), exact(demand.period)));
  }
  const double most = seconds(demand.period) / seconds(demand.burst_width);
  if (!(demand.burst_height > 1) || demand.burst_height > most * (1 + 1e-9)) {
    throw SpecError(fmt::format(
        "bursts are more than 1 and at most {:.6g} times as high as the mean: {} of every {} "
        "cannot carry more than all bytes",
        most, exact(demand.burst_width), exact(demand.period)));
  }
}

FlowStream::FlowStream(Demand demand)
    : demand_(std::move(demand)), random_(demand_.seed, demand_.stream) {
  validate(demand_);
  if (demand_.kind == TrafficKind::WebSearch) plan_blocks();
}

void FlowStream::plan_blocks() {
  block_flows_ = static_cast<std::size_t>(kBlockFlows);
  if (!demand_.duration) return;
  const double volume = bytes_in(demand_.rate, *demand_.duration);
  double count = std::floor(volume / demand_.distribution.mean());
  if (count < kFewestFlows) {
    demand_.distribution =
        demand_.distribution.scaled(volume / (kFewestFlows * demand_.distribution.mean()));
    count = kFewestFlows;
  }
  blocks_left_ = static_cast<std::int64_t>(std::ceil(count / kBlockFlows));
  block_flows_ = static_cast<std::size_t>(std::lround(count / static_cast<double>(*blocks_left_)));
}

std::optional<Flow> FlowStream::next() {
  while (ready_.empty()) {
    if (demand_.duration && filled_ >= *demand_.duration) return {};
    fill();
  }
  if (demand_.duration && ready_.front().start >= *demand_.duration) return {};
  Flow flow = std::move(ready_.front());
  ready_.pop_front();
  return flow;
}

void FlowStream::fill() {
  switch (demand_.kind) {
    case TrafficKind::WebSearch:
      return fill_websearch();
    case TrafficKind::Burst:
      return fill_burst();
    case TrafficKind::Constant:
      return fill_constant();
    case TrafficKind::Long:
      return fill_long();
    case TrafficKind::File:
      break;
  }
  check(false, "validate() refuses kinds that are not computed");
}

/// One size from each of `count` equal shares of the distribution, in random order.
std::vector<double> FlowStream::even_sizes(std::size_t count) {
  std::vector<double> sizes(count);
  for (std::size_t i = 0; i < count; ++i) {
    const double share = (static_cast<double>(i) + random_.uniform()) / static_cast<double>(count);
    sizes[i] = demand_.distribution.quantile(std::min(share, 1.0));
  }
  for (std::size_t i = count; i > 1; --i) std::swap(sizes[i - 1], sizes[random_.below(i)]);
  return sizes;
}

/// Adds flows that start uniformly within `length` from `from`.
void FlowStream::spread(const std::vector<double>& sizes, Duration from, Duration length) {
  std::vector<double> starts(sizes.size());
  for (double& start : starts) start = random_.uniform() * seconds(length);
  std::sort(starts.begin(), starts.end());
  for (std::size_t i = 0; i < sizes.size(); ++i) put(from, starts[i], sizes[i]);
}

void FlowStream::put(Duration from, double start_s, double bytes) {
  const auto whole = static_cast<std::int64_t>(std::llround(std::max(1.0, bytes)));
  ready_.push_back({.start = from + Duration(static_cast<std::int64_t>(start_s * 1e9)),
                    .destination = demand_.destination,
                    .size = Bytes(whole)});
}

void FlowStream::fill_websearch() {
  std::vector<double> sizes = even_sizes(block_flows_);
  const double time_s = 8 * sum(sizes) / demand_.rate.bits_per_second();
  check(time_s < 9e9, "a block ends within the range of times");
  Duration length = from_seconds(time_s);
  if (blocks_left_) {
    const Duration left = *demand_.duration - filled_;
    if (--*blocks_left_ <= 0 || length >= left) {
      scale(sizes, bytes_in(demand_.rate, left) / sum(sizes));
      length = left;
    }
  }
  spread(sizes, filled_, length);
  filled_ += length;
}

void FlowStream::fill_burst() {
  const double all = bytes_in(demand_.rate, demand_.period);
  const double burst =
      std::min(all, demand_.burst_height * bytes_in(demand_.rate, demand_.burst_width));
  const double width_s = seconds(demand_.burst_width);
  const double split =
      std::clamp(0.5 + kSplitDeviation * random_.normal(), kLeastSplit, 1 - kLeastSplit);
  std::array<double, 2> starts = {};
  for (double& start : starts) {
    start = exponential_below(random_, kBurstStartMean * width_s, width_s);
  }
  std::sort(starts.begin(), starts.end());
  put(filled_, starts[0], split * burst);
  put(filled_, starts[1], (1 - split) * burst);
  const double rest = all - burst;
  if (rest >= 1) {
    const double count = std::max(kFewestFlows, std::floor(rest / demand_.distribution.mean()));
    std::vector<double> sizes = even_sizes(static_cast<std::size_t>(count));
    scale(sizes, rest / sum(sizes));
    spread(sizes, filled_ + demand_.burst_width, demand_.period - demand_.burst_width);
  }
  filled_ += demand_.period;
}

void FlowStream::fill_constant() {
  const double bytes = std::clamp(demand_.rate.bits_per_second() / 8 * kConstantGapS, 1000.0, 1e6);
  const double gap_s = 8 * std::round(bytes) / demand_.rate.bits_per_second();
  for (int i = 0; i < 128; ++i) {
    put(Duration(), gap_s * static_cast<double>(made_), std::round(bytes));
    ++made_;
  }
  filled_ = from_seconds(gap_s * static_cast<double>(made_));
}

void FlowStream::fill_long() {
  const double bytes = bytes_in(demand_.rate, *demand_.duration) / demand_.flows;
  for (int i = 0; i < demand_.flows; ++i) put(Duration(), 0, bytes);
  filled_ = *demand_.duration;
}

Load make_load(const Demand& demand) {
  check(demand.duration.has_value(), "a load that is listed has an end");
  Load load{.duration = demand.duration};
  FlowStream stream(demand);
  while (auto flow = stream.next()) load.flows.push_back(std::move(*flow));
  return load;
}

BurstRates burst_rates(const Load& load, Duration width, Duration period) {
  check(width > Duration() && width < period, "bursts are shorter than their period");
  Bytes inside;
  for (const Flow& flow : load.flows) {
    if (flow.start % period < width) inside += flow.size;
  }
  const Duration whole = load.span() / period * period;
  const Duration rest = load.span() - whole;
  const Duration burst_time = whole / period * width + std::min(rest, width);
  const Duration other_time = load.span() - burst_time;
  BurstRates rates;
  if (burst_time > Duration()) rates.inside = inside / burst_time;
  if (other_time > Duration()) rates.outside = (load.total() - inside) / other_time;
  return rates;
}

}  // namespace tw::load
