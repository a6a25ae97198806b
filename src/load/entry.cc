// SPDX-License-Identifier: Apache-2.0
#include "trainwire/load/entry.h"

#include "trainwire/base/error.h"
#include "trainwire/load/distribution.h"
#include "trainwire/load/kinds.h"
#include "trainwire/load/read_text.h"
#include "trainwire/load/wire_share.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace tw::load {
namespace {

using spec::TrafficKind;

class Maker {
 public:
  Maker(const spec::Network& network, const Narrowest& narrowest)
      : network_(network), narrowest_(narrowest) {}

  std::vector<Entry> make(const std::vector<spec::Traffic>& traffics) && {
    for (number_ = 0; number_ < traffics.size(); ++number_) {
      const spec::Traffic& traffic = traffics[number_];
      if (*traffic.kind == TrafficKind::File) {
        add_list(traffic);
      } else {
        add_rate(traffic);
      }
    }
    return std::move(made_);
  }

 private:
  int host(const std::string& name) const {
    if (const std::optional<int> number = spec::host_number(network_, name)) return *number;
    throw SpecError(fmt::format("traffic {}: there is no host {}; there are {} to {}", number_,
                                name, spec::host_name(0), spec::host_name(*network_.hosts - 1)));
  }

  Entry& add(const spec::Traffic& traffic, const std::string& to) {
    Entry& made = made_.emplace_back();
    made.number = number_;
    made.kind = *traffic.kind;
    made.from = host(*traffic.from);
    made.to = host(to);
    made.name = fmt::format("{} from {} to {}", name_of(made.kind), *traffic.from, to);
    if (made.from == made.to) {
      throw SpecError(fmt::format("traffic {}: {} is where it comes from", number_, to));
    }
    made.capacity = narrowest_(made.from, made.to);
    made.payload_share =
        payload_share(made.kind, {.mtu = *network_.mtu, .ip_version = *network_.ip_version});
    made.duration = *traffic.duration;
    return made;
  }

  void add_rate(const spec::Traffic& traffic) {
    Entry& made = add(traffic, *traffic.to);
    const double divisor = traffic.payload_divisor;
    made.requested =
        traffic.load->share ? made.capacity * *traffic.load->share : *traffic.load->rate;
    if (made.capacity < made.requested) {
      throw SpecError(
          fmt::format("traffic {}: {} is more than the {} that the way from {} to {} carries; "
                      "ask for less",
                      number_, readable(made.requested * divisor),
                      readable(made.capacity * divisor), *traffic.from, *traffic.to));
    }
    // A wrong table is told before anything is built.
    distribution_named(*traffic.distribution);
  }

  void add_list(const spec::Traffic& traffic) {
    const std::string& path = **traffic.file;
    Load load = parse_load(read_text(path), path);
    const auto slowed = [&](Duration time) {
      return Duration(std::llround(static_cast<double>(time.count()) * traffic.time_factor));
    };
    for (Flow& flow : load.flows) flow.start = slowed(flow.start);
    if (load.duration) load.duration = slowed(*load.duration);
    std::map<std::string, std::vector<Flow>> by_destination;
    for (Flow flow : load.flows) {
      flow.size = Bytes(std::max<std::int64_t>(
          1, static_cast<std::int64_t>(static_cast<double>(flow.size.count()) /
                                       traffic.payload_divisor)));
      by_destination[flow.destination].push_back(std::move(flow));
    }
    for (auto& [to, flows] : by_destination) {
      Entry& made = add(traffic, to);
      Bytes sum = {};
      for (const Flow& flow : flows) sum = sum + flow.size;
      const double span_s = seconds(load.span());
      made.requested = BitRate(
          span_s > 0 ? 8 * static_cast<double>(sum.count()) / span_s / made.payload_share : 1);
      made.list = std::move(flows);
      if (!made.duration) made.duration = load.duration;
    }
  }

  const spec::Network& network_;
  const Narrowest& narrowest_;
  std::size_t number_ = 0;
  std::vector<Entry> made_;
};

}  // namespace

std::vector<Entry> entries(const spec::Experiment& experiment, const Narrowest& narrowest) {
  return Maker(experiment.network, narrowest).make(experiment.traffic);
}

std::string stream_of(const Entry& entry) { return fmt::format("traffic {}", entry.number); }

Demand demand_of(const Entry& entry, const spec::Experiment& experiment) {
  const spec::Traffic& traffic = experiment.traffic[entry.number];
  Demand demand{.kind = entry.kind,
                .rate = entry.payload_rate(),
                .duration = entry.duration,
                .distribution = distribution_named(*traffic.distribution),
                .burst_width = *traffic.burst_width,
                .burst_height = *traffic.burst_height,
                .period = *traffic.period,
                .flows = *traffic.flows,
                .seed = *experiment.run.seed,
                .stream = stream_of(entry)};
  if (traffic.payload_divisor != 1) {
    demand.distribution = demand.distribution.scaled(1 / traffic.payload_divisor);
  }
  return demand;
}

}  // namespace tw::load
