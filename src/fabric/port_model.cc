// SPDX-License-Identifier: Apache-2.0
#include "trainwire/fabric/port_model.h"

#include <fmt/format.h>

#include <algorithm>

namespace tw::fabric {
namespace {

std::string stream_name(const network::Port& port, const char* purpose) {
  return fmt::format("{} {} {}", port.link,
                     port.direction == spec::Direction::FromHost ? "from" : "to", purpose);
}

}  // namespace

// The share of time in the bad state is enter / (enter + leave), which has to be the loss.
LossModel::LossModel(const network::Port& port, std::uint64_t seed)
    : enter_(port.loss >= 1 ? 1 : port.loss / (1 - port.loss) / port.loss_burst),
      leave_(port.loss >= 1 ? 0 : 1 / port.loss_burst),
      random_(seed, stream_name(port, "loss")) {
  // Independent loss is no chain of states: each packet is lost with the same chance.
  if (port.loss_burst <= 1) {
    enter_ = port.loss;
    leave_ = 1 - port.loss;
  }
}

bool LossModel::loses_next(double more) {
  ++seen_;
  if (enter_ > 0) bad_ = random_.uniform() < (bad_ ? 1 - leave_ : enter_);
  const bool lost = bad_ || (more > 0 && random_.uniform() < more);
  lost_ += lost ? 1 : 0;
  return lost;
}

DelayModel::DelayModel(const network::Port& port, std::uint64_t seed)
    : delay_ns_(port.delay.count()),
      jitter_ns_(static_cast<double>(port.jitter.count())),
      random_(seed, stream_name(port, "jitter")) {}

std::int64_t DelayModel::due_ns(std::int64_t now_ns) {
  double extra = jitter_ns_ > 0 ? jitter_ns_ * random_.normal() : 0;
  extra = std::max(extra, -static_cast<double>(delay_ns_));
  last_due_ns_ = std::max(last_due_ns_, now_ns + delay_ns_ + static_cast<std::int64_t>(extra));
  return last_due_ns_;
}

}  // namespace tw::fabric
