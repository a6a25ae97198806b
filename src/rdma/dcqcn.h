// SPDX-License-Identifier: Apache-2.0
// The rate of an RDMA sender (DCQCN: Zhu et al., "Congestion control for large-scale RDMA
// deployments", SIGCOMM 2015, doi 10.1145/2785956.2787484), as cards do it: a notice of marks cuts
// the rate by half of alpha, which is a running share of periods with notices; without notices the
// rate returns half-way to where it was, then the target rises, slowly at first.
//
// Nothing is done at the timers' times: whoever asks for the rate has all of them caught up with,
// in their order, so a queue pair that sends nothing costs nothing.
//
// Limits: cards also count bytes towards an increase; this does not, nor do the cards that it
// follows in their default setting.

#pragma once

#include "trainwire/base/units.h"

#include <chrono>
#include <cstdint>

namespace tw::rdma {

struct DcqcnOptions {
  /// A receiver tells one sender of marks no sooner. With periods of alpha so short that most have
  /// no notice by that alone, alpha would say nothing.
  Duration notice_gap = std::chrono::microseconds(4);
  Duration alpha_period = std::chrono::microseconds(1);
  Duration decrease_period = std::chrono::microseconds(4);    ///< at most one cut in each
  Duration increase_period = std::chrono::microseconds(300);  ///< since the last cut
  double gain = 1.0 / 256;
  BitRate additive = {};
  BitRate hyper = {};
  BitRate least = {};
  int recoveries = 1;  ///< returns half-way before the target rises
};

/// As cards are set, and as the paper has it, for a line: increments are 5 and 50 Mbit/s at 25
/// Gbit/s and grow with the rate.
DcqcnOptions dcqcn_of_cards(BitRate line);
DcqcnOptions dcqcn_of_paper(BitRate line);

class Dcqcn {
 public:
  Dcqcn(const DcqcnOptions& options, BitRate line);

  /// The receiver saw marks. Time does not go back.
  void notified(Duration now);
  /// Bits a second.
  double rate(Duration now);
  /// Of the time of the last call.
  double alpha() const { return alpha_; }

 private:
  void catch_up(Duration now);
  void settle_alpha(Duration now);
  void decrease();
  void increase();

  DcqcnOptions options_;
  double line_;
  double rate_;
  double target_;
  double alpha_ = 1;
  int stage_ = 0;  ///< increases since the last cut
  bool begun_ = false;
  bool noticed_ = false;  ///< since alpha was last brought up to date
  Duration begin_ = {};   ///< of all periods: the first notice
  std::int64_t alpha_periods_ = 0;
  Duration decrease_at_ = Duration::max();
  Duration increase_at_ = Duration::max();
};

}  // namespace tw::rdma
