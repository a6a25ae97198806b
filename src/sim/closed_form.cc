// SPDX-License-Identifier: Apache-2.0
#include "trainwire/sim/closed_form.h"

#include "trainwire/load/wire_share.h"
#include "trainwire/medium/flow_paths.h"
#include "trainwire/medium/sending.h"
#include "trainwire/network/network.h"
#include "trainwire/regular/answer.h"
#include "trainwire/regular/at_once.h"
#include "trainwire/sim/group_connections.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <tuple>
#include <utility>

namespace tw::sim {
namespace {

/// Of a full frame, as rates count it: with Ethernet's header.
int frame_bytes(const spec::Network& network) { return *network.mtu + load::kEthernetHeader; }

/// As FlowNetwork has it, which the tests hold it to.
regular::Line line_of(const network::Network& network, int frame, int from, int to) {
  regular::Line line{.ports = network.path(from, to)};
  BitRate rate;
  Duration serial = {};
  for (const int port : line.ports) {
    const network::Request& request = network.request(port);
    if (std::exchange(rate, request.rate) != request.rate) serial = Bytes(frame) / request.rate;
    line.travelling += request.delay;
    (port == line.ports.front() ? line.first : line.travelling) += serial;
  }
  return line;
}

/// Hosts behind one switch whose own ports are alike. REQUIRES, as below: the network outlives what
/// is returned.
std::function<int(int)> alike_in(const network::Network& network) {
  using Kind = std::tuple<int, double, Duration>;
  const auto numbers = std::make_shared<std::map<Kind, int>>();
  return [&network, numbers](int host) {
    const network::Request& own = network.request(2 * host);
    const Kind kind(network.wiring().switch_of(host), own.rate.bits_per_second(), own.delay);
    return numbers->try_emplace(kind, static_cast<int>(numbers->size())).first->second;
  };
}

regular::Physics physics_of(const network::Network& network, const spec::Network& asked) {
  const double share = medium::payload_share(asked);
  const int frame = frame_bytes(asked);
  return {.ports = network.ports(),
          .line = [&network, frame](int from, int to) { return line_of(network, frame, from, to); },
          .capacity =
              [&network, share](int port) {
                return share * network.request(port).rate.bits_per_second() / 8;
              },
          .leaving =
              [](double bytes, double rate) {
                return Duration(static_cast<std::int64_t>(std::ceil(bytes / rate * 1e9)));
              },
          .alike = alike_in(network),
          .passes_on = [frame](std::int64_t bytes) { return bytes > 2 * frame; }};
}

/// Whether a link loses packets anywhere: then rates are not the links' alone.
bool loses(const spec::Network& network) {
  return *network.link.loss > 0 ||
         std::any_of(network.overrides.begin(), network.overrides.end(),
                     [](const spec::LinkOverride& link) { return link.loss && **link.loss > 0; });
}

/// Whether switches have a choice.
bool has_equal_ways(const spec::Network& network) {
  return *network.topology == spec::Topology::LeafSpine ||
         *network.topology == spec::Topology::FatTree;
}

std::vector<medium::PortFigures> figures_of(const std::vector<double>& payload, double share,
                                            int frame) {
  std::vector<medium::PortFigures> ports;
  ports.reserve(payload.size());
  for (const double bytes : payload) {
    ports.push_back({.payload_bytes = bytes,
                     .wire_bytes = bytes / share,
                     .packets = std::llround(bytes / share / frame)});
  }
  return ports;
}

/// Why rates may be others than links' shares; empty: they are those.
std::string asks_for_streams(const spec::Experiment& experiment) {
  if (!experiment.traffic.empty()) return "there is cross traffic";
  if (!experiment.faults.empty()) return "there are faults";
  if (loses(experiment.network)) return "links lose packets";
  if (*experiment.network.socket_buffer) return "sockets limit what is under way";
  if (*experiment.network.paths != spec::Paths::Destination && has_equal_ways(experiment.network)) {
    return "ways are not picked by destination";
  }
  for (const spec::Job& job : experiment.jobs) {
    if (*job.priority != *experiment.jobs.front().priority) return "jobs have several priorities";
    if (*job.congestion_control == "mltcp") return "MLTCP's shares change while a message goes";
    if (medium::sending_of(experiment.network, job).manner == medium::Manner::Rdma) {
      return "RDMA has packets of another size";
    }
    if (uses_groups(job)) return "switches sum or copy messages";
    if (*job.forward_overlap) return "forward begins before the exchange has ended";
  }
  return {};
}

using Answering = std::function<regular::Outcome(const std::vector<const workload::Training*>& jobs,
                                                 const regular::Physics& physics)>;

ClosedForm answered(const spec::Experiment& experiment, const char* mode,
                    const Answering& answering) {
  if (const std::string more = asks_for_streams(experiment); !more.empty()) return {.reason = more};
  Simulated made{.mode = mode};
  for (const spec::Job& job : experiment.jobs) {
    made.jobs.push_back({.training = workload::training_of(experiment, job)});
  }
  std::vector<const workload::Training*> trainings;
  for (const SimulatedJob& job : made.jobs) trainings.push_back(&job.training);
  const network::Network network(experiment.network);
  regular::Outcome outcome = answering(trainings, physics_of(network, experiment.network));
  if (!outcome.reason.empty()) return {.reason = outcome.reason};
  outcome.answer.jobs.resize(made.jobs.size());  // without an answer it was stopped
  for (std::size_t i = 0; i < made.jobs.size(); ++i) {
    regular::JobAnswer& job = outcome.answer.jobs[i];
    made.jobs[i].rounds = std::move(job.times.steps);
    made.jobs[i].sent = std::move(job.sent_bytes);
    made.messages += job.messages;
  }
  outcome.answer.port_bytes.resize(static_cast<std::size_t>(network.ports()));
  made.ports = figures_of(outcome.answer.port_bytes, medium::payload_share(experiment.network),
                          frame_bytes(experiment.network));
  made.end = outcome.answer.end;
  made.reason = outcome.answer.because;
  return {.found = std::move(made)};
}

}  // namespace

ClosedForm in_closed_form(const spec::Experiment& experiment) {
  return answered(experiment, kClosedForm,
                  [](const auto& jobs, const auto& physics) { return answer(jobs, physics); });
}

ClosedForm found_at_once(const spec::Experiment& experiment,
                         const std::function<bool(Duration)>& goes_on) {
  return answered(experiment, kAtOnce, [&](const auto& jobs, const auto& physics) {
    return answer_at_once(jobs, physics, goes_on);
  });
}

}  // namespace tw::sim
