// SPDX-License-Identifier: Apache-2.0
// Loads that are computed: a demand (a rate, in a pattern) into flows, one by one, without end
// unless the demand has one. The same seed gives the same flows on every machine.
//
// Web search is Algorithm 1 of Salamy's thesis ("Understanding distributed DNN training in the
// presence of cross traffic", MIT 2022): Poisson arrivals, sizes from a distribution, as many
// flows as the rate needs by the distribution's mean. Independent draws would miss the rate by a
// tenth over 10 s at 800 Mbit/s, because few large flows carry most bytes. Therefore flows come in
// blocks of about 128: a block has one size from each of as many equal shares of the distribution,
// in random order, and takes exactly the time that the rate gives its bytes; its starts are
// uniform in that time, which is a Poisson process of which the count is known. Each flow alone
// still has the distribution's size; over times longer than a block the load is steadier than a
// Poisson process. When the demand has an end, the last block is scaled to meet its volume.
//
// Burst is Algorithm 2: each period begins with a burst of `width` that carries height * width /
// period of the period's bytes in two flows (parted by a normal draw, each started by an
// exponential draw within the burst); the rest are at least 8 flows from the distribution, scaled
// down where the rate would not fill 8. Each period has its bytes exactly.
//
// Constant is equal flows at equal distances, long is `flows` of them at once for the whole time.
//
// Limits: rates count bytes that applications send, without headers (wire_share.h); a load says
// when flows start, not when their bytes pass: a flow larger than the link carries in a burst lasts
// longer than the burst.

#pragma once

#include "trainwire/base/random.h"
#include "trainwire/load/distribution.h"
#include "trainwire/load/load_file.h"
#include "trainwire/spec/experiment.h"

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace tw::load {

struct Demand {
  spec::TrafficKind kind = spec::TrafficKind::WebSearch;
  BitRate rate = {};                                                ///< of payload
  std::optional<Duration> duration = {};                            ///< without end when absent
  std::string destination = {};                                     ///< of every flow
  SizeDistribution distribution = distribution_named("websearch");  ///< websearch, burst
  Duration burst_width = std::chrono::milliseconds(1);
  double burst_height = 3;  ///< times the mean rate
  Duration period = std::chrono::milliseconds(10);
  int flows = 1;  ///< long
  std::uint64_t seed = 1;
  std::string stream = "traffic";  ///< names the random stream beside the seed
};

/// Throws SpecError, with what to write instead: no rate, bursts that do not fit in their period or
/// carry more than everything, a kind that cannot be computed (file), long without an end.
void validate(const Demand& demand);

/// The flows of a demand, in the order of their starts.
class FlowStream {
 public:
  /// Throws as validate().
  explicit FlowStream(Demand demand);
  /// The next flow; nothing once the demand's time is over. Memory is that of a block.
  std::optional<Flow> next();

 private:
  void plan_blocks();
  void fill();
  void fill_websearch();
  void fill_burst();
  void fill_constant();
  void fill_long();
  std::vector<double> even_sizes(std::size_t count);
  void spread(const std::vector<double>& sizes, Duration from, Duration length);
  void put(Duration from, double start_s, double bytes);

  Demand demand_;
  Random random_;
  std::deque<Flow> ready_ = {};
  Duration filled_ = {};                          ///< flows that start before this have been made
  std::optional<std::int64_t> blocks_left_ = {};  ///< websearch with an end
  std::size_t block_flows_ = 0;                   ///< websearch
  std::int64_t made_ = 0;                         ///< constant
};

/// All flows. REQUIRES: demand.duration.
Load make_load(const Demand& demand);

/// What a load asks for inside and outside the bursts of a demand, by where flows start.
struct BurstRates {
  BitRate inside = {};
  BitRate outside = {};
};
BurstRates burst_rates(const Load& load, Duration width, Duration period);

}  // namespace tw::load
