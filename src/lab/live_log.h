// SPDX-License-Identifier: Apache-2.0
// How far a run has come, in a file that others can read while it goes on: live.jsonl.
//
// One JSON object a line. The first is the header:
//   {"schema": 1, "name", "started_ns", "hosts": [names], "capacity_bps": [of each host's link] or
//   null, "jobs": [{"name", "model", "strategy", "ranks", "steps", "warmup"}]}
// then samples:
//   {"time_ns", "steps": [begun, warm-up included, by job], "sent_bps": [by host],
//   "pairs": [[from host, to host, bytes so far], ...]}
// and at the end {"ended": "why"}. Samples come twice a second at first and less often in a long
// run, so that a day of them is some thousand lines. The file is locked (flock) as long as the run
// goes on, so that readers can tell one that is silent from one that was killed.

#pragma once

#include "trainwire/lab/rank_talk.h"
#include "trainwire/os/file_descriptor.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tw::lab {

inline constexpr const char* kLiveFile = "live.jsonl";

class LiveLog {
 public:
  /// REQUIRES: `jobs` outlive it. Throws SystemError when the file cannot be made. Later lines are
  /// a view, not a result: those that cannot be written are left out.
  LiveLog(std::string path, const nlohmann::ordered_json& header, std::size_t hosts,
          const std::vector<TrainingJob>& jobs);
  LiveLog(const LiveLog&) = delete;
  LiveLog& operator=(const LiveLog&) = delete;
  /// Ends it, if nobody has.
  ~LiveLog();

  /// What hosts send now. Where nobody counts it, it is what their ranks' bytes say.
  void set_rates(std::span<const double> sent_bps);
  /// A sample, when the next one is due.
  void look(const RankTalk& talk);
  /// A sample now: ranks that have told what they counted have done all steps.
  void sample(const RankTalk& talk);
  void end(const std::string& why);

 private:
  void write(const nlohmann::ordered_json& line);
  std::int64_t steps_of(std::size_t job, const RankTalk& talk) const;
  std::vector<std::vector<std::int64_t>> pair_bytes(const RankTalk& talk) const;
  std::vector<double> rates(const std::vector<std::vector<std::int64_t>>& bytes,
                            std::int64_t now_ns);

  std::string path_;
  os::FileDescriptor file_;
  std::size_t hosts_;
  const std::vector<TrainingJob>& jobs_;
  std::vector<double> counted_bps_;
  std::vector<std::int64_t> last_sent_;
  std::vector<double> last_bps_;
  std::int64_t last_ns_ = 0;
  std::int64_t began_ns_;
  std::int64_t due_ns_;
  bool ended_ = false;
};

}  // namespace tw::lab
