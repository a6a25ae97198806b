// SPDX-License-Identifier: Apache-2.0
#include "trainwire/spec/scale.h"

#include "trainwire/spec/links.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace tw::spec {
namespace {

/// Divides what is held, wherever it is held. Origins are kept: the setting is still the file's.
class Divider {
 public:
  explicit Divider(double by) : by_(by) {}

  void operator()(BitRate& rate) const { rate = rate / by_; }
  void operator()(Bytes& size) const {
    size = Bytes(static_cast<std::int64_t>(static_cast<double>(size.count()) / by_));
  }
  void operator()(Queue& queue) const { (*this)(queue.bytes); }
  void operator()(Load& load) const { (*this)(load.rate); }
  template <typename T>
  void operator()(std::optional<T>& held) const {
    if (held) (*this)(*held);
  }
  template <typename T>
  void operator()(Setting<T>& setting) const {
    (*this)(setting.value);
  }
  /// LinkSettings, LinkOverride.
  template <typename Link>
  void link(Link& settings) const {
    (*this)(settings.rate);
    (*this)(settings.queue);
    (*this)(settings.ecn);
  }

 private:
  double by_;
};

/// Rates divided, times multiplied, wherever they are held.
class SlowMotion {
 public:
  explicit SlowMotion(double by) : by_(by) {}

  void operator()(BitRate& rate) const { rate = rate / by_; }
  void operator()(Duration& time) const {
    time = Duration(std::llround(static_cast<double>(time.count()) * by_));
  }
  void operator()(Load& load) const { (*this)(load.rate); }
  template <typename T>
  void operator()(std::optional<T>& held) const {
    if (held) (*this)(*held);
  }
  template <typename T>
  void operator()(Setting<T>& setting) const {
    (*this)(setting.value);
  }
  template <typename Link>
  void link(Link& settings) const {
    (*this)(settings.rate);
    (*this)(settings.delay);
    (*this)(settings.jitter);
  }

 private:
  double by_;
};

void slow_down(Experiment& experiment, double by) {
  const SlowMotion slow(by);
  slow.link(experiment.network.link);
  slow(experiment.network.core_rate);
  slow(experiment.network.core_delay);
  for (LinkOverride& link : experiment.network.overrides) slow.link(link);
  for (Traffic& traffic : experiment.traffic) {
    slow(traffic.load);
    slow(traffic.burst_width);
    slow(traffic.period);
    slow(traffic.start);
    slow(traffic.duration);
    traffic.time_factor *= by;
  }
  for (Job& job : experiment.jobs) {
    slow(job.start);
    job.time_factor *= by;
  }
}

constexpr int kFewPackets = 20;

/// Of the links as they are emulated: each host's in both directions, and the core's.
std::vector<LinkSettings> links_of(const Network& network) {
  std::vector<LinkSettings> links;
  for (int host = 0; host < *network.hosts; ++host) {
    links.push_back(host_link(network, host, Direction::FromHost));
    links.push_back(host_link(network, host, Direction::ToHost));
  }
  return links;
}

}  // namespace

Experiment scaled(Experiment experiment) {
  slow_down(experiment, std::exchange(experiment.run.slow_motion.value, 1));
  const double scale = std::exchange(experiment.run.scale.value, 1);
  const Divider divide(scale);
  divide.link(experiment.network.link);
  divide(experiment.network.core_rate);
  for (LinkOverride& link : experiment.network.overrides) divide.link(link);
  for (Traffic& traffic : experiment.traffic) {
    divide(traffic.load);
    traffic.payload_divisor *= scale;
  }
  for (Job& job : experiment.jobs) job.payload_divisor *= scale;
  return experiment;
}

std::vector<std::string> scale_doubts(const Experiment& experiment) {
  const double scale = *experiment.run.scale;
  if (scale <= 1) return {};
  const Network small = scaled(experiment).network;
  const int frame = *small.mtu + 14;
  double loss = 0, marks = HUGE_VAL, queue = HUGE_VAL, late = 0;
  for (const LinkSettings& link : links_of(small)) {
    loss = std::max(loss, *link.loss);
    if (*link.ecn) marks = std::min(marks, static_cast<double>((*link.ecn)->count()) / frame);
    queue = std::min(queue, static_cast<double>(queue_bytes(small, link).count()) / frame);
    const double packet_s = 8 * frame / link.rate->bits_per_second();
    if (*link.delay > Duration(0)) late = std::max(late, packet_s / seconds(*link.delay));
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

}  // namespace tw::spec
