// SPDX-License-Identifier: Apache-2.0
#include "trainwire/spec/scale.h"

#include <cmath>
#include <utility>

namespace tw::spec {
namespace {

/// Run.scale: rates and sizes are divided.
struct Smaller {
  double by;
  void operator()(BitRate& rate) const { rate = rate / by; }
  void operator()(Bytes& size) const {
    size = Bytes(static_cast<std::int64_t>(static_cast<double>(size.count()) / by));
  }
};

/// Run.slow_motion: rates are divided, times multiplied.
struct Slower {
  double by;
  void operator()(BitRate& rate) const { rate = rate / by; }
  void operator()(Duration& time) const {
    time = Duration(std::llround(static_cast<double>(time.count()) * by));
  }
};

/// Changes values wherever they are held. Origins are kept: the setting is still the file's.
template <typename Change>
class Held {
 public:
  explicit Held(double by) : change_{by} {}

  template <typename T>
  void operator()(T& value) const {
    change_(value);
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

 private:
  Change change_;
};

/// LinkSettings, LinkOverride.
template <typename Link>
void shrink_link(const Held<Smaller>& divide, Link& link) {
  divide(link.rate);
  divide(link.queue);
  divide(link.ecn);
}

template <typename Link>
void slow_link(const Held<Slower>& slow, Link& link) {
  slow(link.rate);
  slow(link.delay);
  slow(link.jitter);
}

void slow_down(Experiment& experiment, double by) {
  const Held<Slower> slow(by);
  slow_link(slow, experiment.network.link);
  slow(experiment.network.core_rate);
  slow(experiment.network.core_delay);
  for (LinkOverride& link : experiment.network.overrides) slow_link(slow, link);
  for (Traffic& traffic : experiment.traffic) {
    slow(traffic.load);
    slow(traffic.burst_width);
    slow(traffic.period);
    slow(traffic.start);
    slow(traffic.duration);
    traffic.time_factor *= by;
  }
  for (Fault& fault : experiment.faults) {
    slow(fault.at);
    slow(fault.lasting);
    slow(fault.period);
    slow(fault.rate);
  }
  for (Job& job : experiment.jobs) {
    slow(job.start);
    slow(job.restart_after);
    job.time_factor *= by;
  }
}

}  // namespace

Experiment scaled(Experiment experiment) {
  slow_down(experiment, std::exchange(experiment.run.slow_motion.value, 1));
  const double scale = std::exchange(experiment.run.scale.value, 1);
  const Held<Smaller> divide(scale);
  shrink_link(divide, experiment.network.link);
  divide(experiment.network.core_rate);
  divide(experiment.network.ecn_until);
  for (LinkOverride& link : experiment.network.overrides) shrink_link(divide, link);
  for (Traffic& traffic : experiment.traffic) {
    divide(traffic.load);
    traffic.payload_divisor *= scale;
  }
  for (Fault& fault : experiment.faults) divide(fault.rate);
  for (Job& job : experiment.jobs) job.payload_divisor *= scale;
  return experiment;
}

}  // namespace tw::spec
