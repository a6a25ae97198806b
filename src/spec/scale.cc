// SPDX-License-Identifier: Apache-2.0
#include "trainwire/spec/scale.h"

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

}  // namespace

Experiment scaled(Experiment experiment) {
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

}  // namespace tw::spec
