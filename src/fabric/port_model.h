// SPDX-License-Identifier: Apache-2.0
// What happens to a packet at a port, in one place for every engine that decides in user space:
// lost or not, when it is due.

#pragma once

#include "trainwire/base/random.h"
#include "trainwire/network/plan.h"

#include <cstdint>

namespace tw::fabric {

/// Decides packet by packet whether a port loses it: independent loss, or bursts with the mean
/// length of the port (Gilbert's two-state model, every packet lost in the bad state), each giving
/// the port's share over time. The seed and the port's name fix the sequence.
class LossModel {
 public:
  LossModel(const network::Port& port, std::uint64_t seed);
  /// `more`: the share that is lost besides.
  bool loses_next(double more = 0);
  std::uint64_t seen() const { return seen_; }
  std::uint64_t lost() const { return lost_; }

 private:
  double enter_;  ///< chance to go from good to bad
  double leave_;  ///< chance to go from bad to good
  bool bad_ = false;
  Random random_;
  std::uint64_t seen_ = 0;
  std::uint64_t lost_ = 0;
};

/// When packets leave a port after its delay and jitter, never overtaking one another.
class DelayModel {
 public:
  DelayModel(const network::Port& port, std::uint64_t seed);
  /// Time of release of a packet that arrives at `now_ns`.
  std::int64_t due_ns(std::int64_t now_ns);

 private:
  std::int64_t delay_ns_;
  double jitter_ns_;
  Random random_;
  std::int64_t last_due_ns_ = 0;
};

}  // namespace tw::fabric
