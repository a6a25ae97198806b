// SPDX-License-Identifier: Apache-2.0
#include "trainwire/network/scale_doubts.h"

#include "trainwire/network/plan.h"
#include "trainwire/spec/scale.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace tw::network {
namespace {

constexpr int kFewPackets = 20;

}  // namespace

std::vector<std::string> scale_doubts(const spec::Experiment& experiment) {
  const double scale = *experiment.run.scale;
  if (scale <= 1) return {};
  const spec::Network asked = spec::scaled(experiment).network;
  const Network small(asked);
  const auto frame = static_cast<double>(frame_bytes(*asked.mtu).count());
  double loss = 0, marks = HUGE_VAL, queue = HUGE_VAL, late = 0;
  for (int port = 0; port < small.ports(); ++port) {
    const Request& link = small.request(port);
    loss = std::max(loss, link.loss);
    if (link.ecn) marks = std::min(marks, static_cast<double>(link.ecn->count()) / frame);
    queue = std::min(queue, static_cast<double>(link.queue.count()) / frame);
    const double packet_s = 8 * frame / link.rate.bits_per_second();
    if (link.delay > Duration(0)) late = std::max(late, packet_s / seconds(link.delay));
  }
  std::vector<std::string> doubts;
  const auto doubt = [&](bool is_true, std::string text) {
    if (is_true) doubts.push_back(std::move(text) + "; run.slow_motion keeps it");
  };
  doubt(
      loss > 0,
      fmt::format("loss is counted in packets, which are not scaled: it holds a connection back as "
                  "much as in the cluster while links are {:g} times slower, so it hurts less here",
                  scale));
  doubt(queue < kFewPackets,
        fmt::format("a queue holds {:.0f} packets here, {:g} times fewer than in the cluster: TCP "
                    "fills and starves it sooner",
                    queue, scale));
  doubt(marks < kFewPackets,
        fmt::format("packets are marked from {:.0f} waiting ones on, {:g} times fewer than in the "
                    "cluster",
                    marks, scale));
  doubt(late > 0.5, fmt::format("a packet takes {:.1f} times a link's delay to be sent here: short "
                                "delays do not show",
                                late));
  return doubts;
}

}  // namespace tw::network
