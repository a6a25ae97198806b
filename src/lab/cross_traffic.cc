// SPDX-License-Identifier: Apache-2.0
#include "trainwire/lab/cross_traffic.h"

#include "trainwire/base/error.h"
#include "trainwire/load/distribution.h"
#include "trainwire/load/load_file.h"
#include "trainwire/load/wire_share.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

namespace tw::lab {
namespace {

using spec::TrafficKind;

BitRate narrowest(const network::NetPlan& plan, int from, int to) {
  std::optional<BitRate> least;
  for (const int port : plan.path(from, to)) {
    const BitRate rate = plan.ports[static_cast<std::size_t>(port)].rate;
    if (!least || rate < *least) least = rate;
  }
  return *least;
}

load::Load read_load(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) throw SystemError(fmt::format("cannot read {}: is the path right?", path));
  return load::parse_load(text.str(), path);
}

class Maker {
 public:
  Maker(const spec::Experiment& experiment, const network::NetPlan& plan,
        std::span<const HostAddress> hosts, const std::string& folder)
      : seed_(*experiment.run.seed), plan_(plan), hosts_(hosts), folder_(folder) {}

  std::vector<CrossTraffic> make(const std::vector<spec::Traffic>& traffics) && {
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
    for (std::size_t i = 0; i < hosts_.size(); ++i) {
      if (hosts_[i].name == name) return static_cast<int>(i);
    }
    throw SpecError(fmt::format("traffic {}: there is no host {}; there are {} to {}", number_,
                                name, hosts_.front().name, hosts_.back().name));
  }

  CrossTraffic& add(const spec::Traffic& traffic, const std::string& to) {
    CrossTraffic& made = made_.emplace_back();
    made.from = host(*traffic.from);
    made.to = host(to);
    made.name = fmt::format("{} from {} to {}", traffic::name_of(*traffic.kind), *traffic.from, to);
    if (made.from == made.to) {
      throw SpecError(fmt::format("traffic {}: {} is where it comes from", number_, to));
    }
    made.capacity = narrowest(plan_, made.from, made.to);
    made.payload_share =
        load::payload_share(*traffic.kind, {.mtu = plan_.mtu, .ip_version = plan_.ip_version});
    const transport::tcp::Token token = transport::tcp::make_token();
    made.sink = {.address = hosts_[static_cast<std::size_t>(made.to)].address, .token = token};
    made.source.address = hosts_[static_cast<std::size_t>(made.from)].address;
    made.source.token = token;
    made.source.kind = *traffic.kind;
    made.source.reuse = *traffic.reuse_connections;
    made.source.seed = seed_;
    made.source.stream = fmt::format("traffic {}", number_);
    made.source.start = *traffic.start;
    made.source.duration = *traffic.duration;
    made.source.mtu = plan_.mtu;
    made.source.log = flows_file(folder_, made_.size() - 1);
    return made;
  }

  void add_rate(const spec::Traffic& traffic) {
    CrossTraffic& made = add(traffic, *traffic.to);
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
    made.source.rate = made.requested * made.payload_share;
    made.source.flows = *traffic.flows;
    made.source.distribution = *traffic.distribution;
    made.source.size_scale = 1 / divisor;
    made.source.burst_width = *traffic.burst_width;
    made.source.burst_height = *traffic.burst_height;
    made.source.period = *traffic.period;
    // A wrong table is told before anything is built.
    load::distribution_named(*traffic.distribution);
  }

  void add_list(const spec::Traffic& traffic) {
    load::Load load = read_load(**traffic.file);
    const auto slowed = [&](Duration time) {
      return Duration(std::llround(static_cast<double>(time.count()) * traffic.time_factor));
    };
    for (load::Flow& flow : load.flows) flow.start = slowed(flow.start);
    if (load.duration) load.duration = slowed(*load.duration);
    std::map<std::string, std::vector<load::Flow>> by_destination;
    for (load::Flow flow : load.flows) {
      flow.size = Bytes(std::max<std::int64_t>(
          1, static_cast<std::int64_t>(static_cast<double>(flow.size.count()) /
                                       traffic.payload_divisor)));
      by_destination[flow.destination].push_back(std::move(flow));
    }
    for (auto& [to, flows] : by_destination) {
      CrossTraffic& made = add(traffic, to);
      Bytes sum = {};
      for (const load::Flow& flow : flows) sum = sum + flow.size;
      const double span_s = tw::seconds(load.span());
      made.requested = BitRate(
          span_s > 0 ? 8 * static_cast<double>(sum.count()) / span_s / made.payload_share : 1);
      made.source.list = std::move(flows);
      if (!made.source.duration) made.source.duration = load.duration;
    }
  }

  std::uint64_t seed_;
  const network::NetPlan& plan_;
  std::span<const HostAddress> hosts_;
  const std::string& folder_;
  std::size_t number_ = 0;
  std::vector<CrossTraffic> made_;
};

}  // namespace

std::string flows_file(const std::string& folder, std::size_t number) {
  return fmt::format("{}/traffic{}-flows.tmp", folder, number);
}

std::vector<CrossTraffic> cross_traffic(const spec::Experiment& experiment,
                                        const network::NetPlan& plan,
                                        std::span<const HostAddress> hosts,
                                        const std::string& folder) {
  return Maker(experiment, plan, hosts, folder).make(experiment.traffic);
}

}  // namespace tw::lab
