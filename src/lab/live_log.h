// SPDX-License-Identifier: Apache-2.0
// How far ranks have come, told to record/live.h: samples twice a second at first and less often in
// a long run, so that a day of them is some thousand lines.

#pragma once

#include "trainwire/lab/rank_talk.h"
#include "trainwire/network/plan.h"
#include "trainwire/record/live.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tw::lab {

/// What ports carry now, as a sample has it: by host, by link between switches, and the fullest.
record::LiveSample counted_rates(std::span<const double> ports_bps, const network::NetPlan& plan);
/// When the next sample is due in a log that began at `began_ns`.
std::int64_t next_sample_ns(std::int64_t now_ns, std::int64_t began_ns);

class LiveLog {
 public:
  /// REQUIRES: `jobs` outlive it. Throws SystemError when the file cannot be made.
  LiveLog(std::string path, const record::LiveHeader& header, const std::vector<TrainingJob>& jobs);

  /// What ports carry now. Where nobody counts it, what hosts send is what their ranks' bytes say.
  void set_rates(std::span<const double> ports_bps, const network::NetPlan& plan);
  /// A sample, when the next one is due.
  void look(const RankTalk& talk);
  /// A sample now: ranks that have told what they counted have done all steps.
  void sample(const RankTalk& talk);
  void end(const std::string& why) { file_.end(why); }

 private:
  std::int64_t steps_of(std::size_t job, const RankTalk& talk) const;
  std::vector<std::vector<std::int64_t>> pair_bytes(const RankTalk& talk) const;
  std::vector<double> rates(const std::vector<std::vector<std::int64_t>>& bytes,
                            std::int64_t now_ns);

  record::LiveWriter file_;
  std::size_t hosts_;
  const std::vector<TrainingJob>& jobs_;
  record::LiveSample counted_;  ///< rates alone
  std::vector<std::int64_t> last_sent_;
  std::vector<double> last_bps_;
  std::int64_t last_ns_ = 0;
  std::int64_t began_ns_;
  std::int64_t due_ns_;
};

}  // namespace tw::lab
