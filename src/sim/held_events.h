// SPDX-License-Identifier: Apache-2.0
// What ranks that a fault has stopped do not notice, or would have sent: it happens when they go on.

#pragma once

#include "trainwire/medium/medium.h"
#include "trainwire/play/player.h"
#include "trainwire/sim/faults.h"

#include <cstddef>
#include <map>
#include <set>
#include <vector>

namespace tw::sim {

struct HeldEvent {
  /// In the order in which they happen. What has come, comes first: nothing follows what is there
  /// already.
  enum class What { Send, Came, Left, Woke, Began };

  What what = What::Woke;
  std::size_t job = 0;
  play::Message message = {};
  int rank = 0;  ///< woke
  medium::Tag tag = 0;
  std::vector<medium::Tag> behind = {};

  int of_rank() const;
};

class HeldEvents {
 public:
  void hold(HeldEvent event);
  /// Of a rank that goes on, in the order in which they happen; they are held no more.
  std::vector<HeldEvent> release(const JobRank& rank);

  /// Whether a message is there whose rank does not know.
  bool has_come(medium::Tag tag) const { return come_.contains(tag); }
  bool have_come() const { return !come_.empty(); }
  void notice_came(medium::Tag tag) { come_.erase(tag); }

 private:
  std::map<JobRank, std::vector<HeldEvent>> events_;
  std::set<medium::Tag> come_;
};

}  // namespace tw::sim
