// SPDX-License-Identifier: Apache-2.0
// What the commands that read captures show: traffic and its analysis under host names, and figures
// derived from both.

#pragma once

#include "trainwire/diagnose/analysis.h"
#include "trainwire/gather/captured.h"
#include "trainwire/record/captured.h"
#include "trainwire/stats/estimate.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tw::summarise {

/// A small flow that ended, of which only this is kept.
struct SmallFlow {
  flow::Flow flow;
  std::string source;
  std::string destination;
};

/// Tiny or control: by the measure with which they are counted.
diagnose::FlowClass class_of(const SmallFlow& small);

/// Most small flows that are listed; all are counted.
inline constexpr std::size_t kMostSmallFlows = 50'000;

/// Hosts of addresses. Addresses that the analysis gave no host are hosts of their own, named by
/// themselves. REQUIRES: traffic and analysis outlive it.
class HostNames {
 public:
  HostNames(const gather::Captured& traffic, const diagnose::Analysis& analysis);
  /// Dense from 0; by address number.
  std::size_t host_of(std::uint32_t address) const { return host_of_[address]; }
  const std::string& name_of(std::uint32_t address) const { return names_[host_of_[address]]; }
  const std::string& name(std::size_t host) const { return names_[host]; }
  std::size_t count() const { return names_.size(); }

 private:
  std::vector<std::size_t> host_of_;
  std::vector<std::string> names_;
};

/// Pairs of hosts, by bytes, most first.
struct HostPair {
  std::size_t from;
  std::size_t to;
  flow::PairCount count;
};
std::vector<HostPair> host_pairs(const gather::Captured& traffic, const HostNames& names);

/// Bytes a window, per host and direction.
struct RateFigures {
  double mean_bps = 0;  ///< of everything, over the whole capture
  double peak_bps = 0;  ///< of everything, in the fullest window
  std::int64_t window_ns = 0;
  std::string busiest_host = {};  ///< with the highest peak in one direction
  bool busiest_sends = true;
  double busiest_mean_bps = 0;
  double busiest_peak_bps = 0;
};
/// Peaks over 10 ms, or the series' window when that is longer.
RateFigures rate_figures(const gather::Captured& traffic, const HostNames& names);

/// Of gradient flows: stretches of payload without a pause longer than the burst gap.
struct BurstFigures {
  std::size_t count = 0;
  double median_bytes = 0;
  double p50_s = 0;
  double p99_s = 0;
};
BurstFigures burst_figures(const gather::Captured& traffic, const diagnose::Analysis& analysis);

/// What each pair of hosts carries in every step, where a schedule says so.
struct ScheduledSteps {
  std::map<std::pair<std::string, std::string>, std::int64_t> bytes = {};  ///< from, to: names
  std::int64_t steps = 0;  ///< iterations; what comes before them is start-up and warm-up
};

/// What the packets of one of several jobs mean.
struct JobAnalysis {
  std::string name;
  diagnose::Analysis analysis;
};

/// Everything that a command read and found out. The figures are filled in by add_figures.
struct CaptureResult {
  gather::Captured traffic = {};
  diagnose::Analysis analysis = {};
  /// Where several jobs are told apart: `analysis` is of the first, but for its classes of flows,
  /// which are of all.
  std::string job = {};
  std::vector<JobAnalysis> other_jobs = {};
  std::vector<SmallFlow> small_flows = {};
  std::optional<imports::StepLog> log = {};
  bool interrupted = false;
  RateFigures rates = {};
  BurstFigures bursts = {};
  std::optional<ScheduledSteps> scheduled = {};
  /// Stream bytes of known cross traffic, by addresses from and to.
  std::map<std::pair<std::string, std::string>, std::int64_t> cross_bytes = {};
};

/// Walks all windows and bursts once, so that text and document need not.
void add_figures(CaptureResult& result);

/// Retransmitted over all payload bytes; 0 without payload.
double retransmitted_share(const gather::Captured& traffic);

/// How long a collective took, and what that means as nccl-tests counts it.
struct CollectiveTiming {
  stats::Estimate time_s;  ///< median over iterations
  double algbw_bps;
  double busbw_bps;
};
/// Only of the collective that carries most: it alone fills an iteration's exchange.
std::optional<CollectiveTiming> timing_of(const diagnose::Collective& collective,
                                          const diagnose::Analysis& analysis);

double duration_s(const flow::Totals& totals);
/// Sum over the files that say; nothing when none does.
std::optional<std::uint64_t> dropped(const gather::Captured& traffic);

/// Small finished flows included.
record::FlowClasses class_counts(const gather::Captured& traffic,
                                 const diagnose::Analysis& analysis);

std::string_view name_of(gather::Role role);
std::string_view name_of(diagnose::FlowClass flow_class);
std::string_view name_of(diagnose::Level level);
std::string_view name_of(diagnose::Severity severity);
std::string_view name_of(packet::Verdict verdict);

}  // namespace tw::summarise
