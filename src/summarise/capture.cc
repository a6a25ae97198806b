// SPDX-License-Identifier: Apache-2.0
#include "trainwire/summarise/capture.h"

#include "trainwire/stats/quantile.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>

namespace tw::summarise {
namespace {

constexpr std::int64_t kPeakWindowNs = 10'000'000;
/// Windows that are added up side by side; more are folded two and two.
constexpr std::int64_t kMostPeakWindows = 1'000'000;
constexpr std::size_t kNoHost = std::numeric_limits<std::size_t>::max();

/// Adds series up in wider windows and tells the fullest.
class PeakFinder {
 public:
  explicit PeakFinder(const gather::Captured& traffic) {
    const std::int64_t base = std::max<std::int64_t>(traffic.clock.width_ns, 1);
    while (base * fold_ < kPeakWindowNs) ++fold_;
    const std::int64_t count =
        std::min<std::int64_t>((traffic.totals.last_ns - traffic.clock.origin_ns) / base,
                               std::numeric_limits<std::uint32_t>::max());
    while (count / fold_ >= kMostPeakWindows) fold_ *= 2;
    width_ns_ = base * fold_;
    const auto& windows = traffic.series.windows();
    if (!windows.empty()) bytes_.resize(static_cast<std::size_t>(windows.back().index / fold_) + 1);
  }

  void add(const flow::Series& series) {
    for (const flow::Window& window : series.windows()) {
      const std::size_t place = window.index / fold_;
      if (place >= bytes_.size()) bytes_.resize(place + 1);
      bytes_[place] += window.bytes;
    }
  }
  double peak_bps() const {
    const auto most = std::max_element(bytes_.begin(), bytes_.end());
    return most == bytes_.end() ? 0
                                : 8e9 * static_cast<double>(*most) / static_cast<double>(width_ns_);
  }
  void clear() { std::fill(bytes_.begin(), bytes_.end(), 0); }
  std::int64_t width_ns() const { return width_ns_; }

 private:
  std::uint32_t fold_ = 1;  ///< 32 bits, because all windows of all flows are divided by it
  std::int64_t width_ns_ = 1;
  std::vector<std::uint64_t> bytes_;
};

/// Flows by the host that sends (0) or receives (1) them.
using FlowsOfHost = std::vector<std::vector<const flow::Flow*>>;
FlowsOfHost flows_by_host(const gather::Captured& traffic, const HostNames& names, bool sending) {
  FlowsOfHost result(names.count());
  for (const flow::Flow& flow : traffic.flows) {
    result[names.host_of(sending ? flow.key.source : flow.key.destination)].push_back(&flow);
  }
  return result;
}

double mean_bps(std::uint64_t bytes, double seconds) {
  return seconds > 0 ? 8 * static_cast<double>(bytes) / seconds : 0;
}

void look_at_hosts(const gather::Captured& traffic, const HostNames& names, bool sending,
                   PeakFinder& finder, RateFigures& figures) {
  const FlowsOfHost flows = flows_by_host(traffic, names, sending);
  for (std::size_t host = 0; host < flows.size(); ++host) {
    if (flows[host].empty()) continue;
    finder.clear();
    std::uint64_t bytes = 0;
    for (const flow::Flow* flow : flows[host]) {
      finder.add(flow->series);
      bytes += flow->wire_bytes;
    }
    if (finder.peak_bps() <= figures.busiest_peak_bps) continue;
    figures.busiest_host = names.name(host);
    figures.busiest_sends = sending;
    figures.busiest_peak_bps = finder.peak_bps();
    figures.busiest_mean_bps = mean_bps(bytes, duration_s(traffic.totals));
  }
}

/// nccl-tests' PERFORMANCE.md: what the hardware carried over what the operation moved.
double bus_factor(const diagnose::Collective& collective) {
  const double hosts = static_cast<double>(collective.order.size());
  return collective.operation == "all_reduce" && hosts > 0 ? 2 * (hosts - 1) / hosts : 1;
}

/// Sent once, before the steps.
bool is_of_start(const diagnose::Collective& collective) {
  return collective.operation == "broadcast";
}

/// One of several kinds of collectives that fill an exchange together.
bool is_half(const diagnose::Collective& collective) {
  return collective.operation == diagnose::kAllGather ||
         collective.operation == diagnose::kReduceScatter;
}

}  // namespace

diagnose::FlowClass class_of(const SmallFlow& small) {
  return small.flow.payload_bytes <= flow::kTinyBytes ? diagnose::FlowClass::Tiny
                                                      : diagnose::FlowClass::Control;
}

HostNames::HostNames(const gather::Captured& traffic, const diagnose::Analysis& analysis)
    : host_of_(traffic.addresses.size(), kNoHost) {
  for (const gather::Host& host : analysis.hosts) {
    for (const std::uint32_t address : host.addresses) host_of_[address] = names_.size();
    names_.push_back(host.name);
  }
  for (std::size_t address = 0; address < host_of_.size(); ++address) {
    if (host_of_[address] != kNoHost) continue;
    host_of_[address] = names_.size();
    names_.push_back(traffic.addresses[address].text());
  }
}

std::vector<HostPair> host_pairs(const gather::Captured& traffic, const HostNames& names) {
  std::map<std::pair<std::size_t, std::size_t>, flow::PairCount> sums;
  for (const flow::PairCount& pair : traffic.pairs) {
    const auto key = std::pair(names.host_of(pair.source), names.host_of(pair.destination));
    flow::PairCount& sum = sums.try_emplace(key, flow::PairCount{.source = pair.source,
                                                                 .destination = pair.destination})
                               .first->second;
    sum.packets += pair.packets;
    sum.wire_bytes += pair.wire_bytes;
    sum.payload_bytes += pair.payload_bytes;
    sum.stream_bytes += pair.stream_bytes;
    sum.retransmitted_bytes += pair.retransmitted_bytes;
  }
  std::vector<HostPair> pairs;
  pairs.reserve(sums.size());
  for (const auto& [key, sum] : sums) {
    pairs.push_back({.from = key.first, .to = key.second, .count = sum});
  }
  std::stable_sort(pairs.begin(), pairs.end(), [](const HostPair& a, const HostPair& b) {
    return a.count.wire_bytes > b.count.wire_bytes;
  });
  return pairs;
}

RateFigures rate_figures(const gather::Captured& traffic, const HostNames& names) {
  PeakFinder finder(traffic);
  finder.add(traffic.series);
  RateFigures figures{.mean_bps = mean_bps(traffic.totals.wire_bytes, duration_s(traffic.totals)),
                      .peak_bps = finder.peak_bps(),
                      .window_ns = finder.width_ns()};
  look_at_hosts(traffic, names, true, finder, figures);
  look_at_hosts(traffic, names, false, finder, figures);
  return figures;
}

BurstFigures burst_figures(const gather::Captured& traffic, const diagnose::Analysis& analysis) {
  std::vector<double> bytes;
  std::vector<double> lengths;
  for (std::size_t i = 0; i < traffic.flows.size(); ++i) {
    if (analysis.classes[i] != diagnose::FlowClass::Gradient) continue;
    for (const flow::Burst& burst : traffic.flows[i].bursts) {
      bytes.push_back(static_cast<double>(burst.bytes));
      lengths.push_back(static_cast<double>(burst.end_ns - burst.start_ns) / 1e9);
    }
  }
  if (bytes.empty()) return {};
  return {.count = lengths.size(),
          .median_bytes = stats::median(std::move(bytes)),
          .p50_s = stats::quantile(lengths, 0.5),
          .p99_s = stats::quantile(lengths, 0.99)};
}

void add_figures(CaptureResult& result) {
  result.rates = rate_figures(result.traffic, HostNames(result.traffic, result.analysis));
  result.bursts = burst_figures(result.traffic, result.analysis);
}

double retransmitted_share(const gather::Captured& traffic) {
  std::uint64_t payload = 0;
  std::uint64_t again = 0;
  for (const flow::PairCount& pair : traffic.pairs) {
    payload += pair.payload_bytes;
    again += pair.retransmitted_bytes;
  }
  return payload == 0 ? 0 : static_cast<double>(again) / static_cast<double>(payload);
}

std::optional<CollectiveTiming> timing_of(const diagnose::Collective& collective,
                                          const diagnose::Analysis& analysis) {
  // The steps' exchanges are those of the largest collective that each of them repeats.
  if (is_of_start(collective) || is_half(collective)) return {};
  for (const diagnose::Collective& other : analysis.collectives) {
    if (is_of_start(other)) continue;
    if (other.bytes_per_iteration > collective.bytes_per_iteration) return {};
  }
  std::vector<double> times;
  // Without the first, which is start-up: the same exchanges whose median the iterations have.
  const auto& steps = analysis.iterations.steps;
  for (std::size_t i = steps.size() > 2 ? 1 : 0; i < steps.size(); ++i) {
    const std::int64_t length = steps[i].exchange_end_ns - steps[i].exchange_start_ns;
    if (length > 0) times.push_back(static_cast<double>(length) / 1e9);
  }
  if (times.empty()) return {};
  const stats::Estimate time = stats::median_estimate(times);
  const double algbw = 8 * static_cast<double>(collective.bytes_per_iteration) / time.value;
  return CollectiveTiming{
      .time_s = time, .algbw_bps = algbw, .busbw_bps = algbw * bus_factor(collective)};
}

double duration_s(const flow::Totals& totals) {
  return static_cast<double>(totals.last_ns - totals.first_ns) / 1e9;
}

std::optional<std::uint64_t> dropped(const gather::Captured& traffic) {
  std::optional<std::uint64_t> sum;
  for (const gather::FileSummary& file : traffic.files) {
    if (file.dropped) sum = sum.value_or(0) + *file.dropped;
  }
  return sum;
}

record::FlowClasses class_counts(const gather::Captured& traffic,
                                 const diagnose::Analysis& analysis) {
  record::FlowClasses counts{.control = traffic.retired_flows - traffic.retired_tiny_flows,
                             .tiny = traffic.retired_tiny_flows};
  for (const diagnose::FlowClass flow_class : analysis.classes) {
    switch (flow_class) {
      case diagnose::FlowClass::Gradient:
        ++counts.gradient;
        break;
      case diagnose::FlowClass::Acknowledgement:
        ++counts.acknowledgement;
        break;
      case diagnose::FlowClass::Control:
        ++counts.control;
        break;
      case diagnose::FlowClass::Tiny:
        ++counts.tiny;
        break;
      case diagnose::FlowClass::Cross:
        ++counts.cross;
        break;
    }
  }
  return counts;
}

std::string_view name_of(gather::Role role) {
  static constexpr std::array<std::string_view, 5> kNames{"worker", "server", "chief",
                                                          "cross_traffic", "other"};
  return kNames[static_cast<std::size_t>(role)];
}

std::string_view name_of(diagnose::FlowClass flow_class) {
  static constexpr std::array<std::string_view, 5> kNames{"gradient", "acknowledgement", "control",
                                                          "tiny", "cross"};
  return kNames[static_cast<std::size_t>(flow_class)];
}

std::string_view name_of(diagnose::Level level) {
  static constexpr std::array<std::string_view, 3> kNames{"good", "fair", "poor"};
  return kNames[static_cast<std::size_t>(level)];
}

std::string_view name_of(diagnose::Severity severity) {
  static constexpr std::array<std::string_view, 3> kNames{"info", "notice", "warning"};
  return kNames[static_cast<std::size_t>(severity)];
}

std::string_view name_of(packet::Verdict verdict) {
  static constexpr std::array<std::string_view, packet::kVerdicts> kNames{
      "tcp",    "udp",       "rocev2",    "other_ip",    "fragment",
      "not_ip", "too_short", "malformed", "unknown_link"};
  return kNames[static_cast<std::size_t>(verdict)];
}

}  // namespace tw::summarise
