// SPDX-License-Identifier: Apache-2.0
// Jobs' messages on their way, by the tags that they have in the medium.

#pragma once

#include "trainwire/medium/medium.h"
#include "trainwire/play/player.h"
#include "trainwire/sim/faults.h"

#include <cstddef>
#include <set>
#include <vector>

namespace tw::sim {

/// A message on its way.
struct JobMessage {
  std::size_t job = 0;
  play::Message message = {};
};

class Travelling {
 public:
  /// Returns its tag, which is free again once it is forgotten.
  medium::Tag add(const JobMessage& message) {
    if (free_.empty()) {
      free_.push_back(messages_.size());
      messages_.emplace_back();
    }
    const std::size_t place = free_.back();
    free_.pop_back();
    messages_[place] = message;
    return place;
  }
  const JobMessage& at(medium::Tag tag) const { return messages_[tag]; }
  void forget(medium::Tag tag) { free_.push_back(tag); }

  /// Who waits for whom.
  std::vector<Wait> waits() const {
    const std::set<std::size_t> free(free_.begin(), free_.end());
    std::vector<Wait> waits;
    for (std::size_t tag = 0; tag < messages_.size(); ++tag) {
      if (free.contains(tag)) continue;
      const JobMessage& one = messages_[tag];
      waits.push_back({.job = one.job,
                       .rank = one.message.transfer.to,
                       .of = one.message.transfer.from,
                       .step = one.message.step});
    }
    return waits;
  }

 private:
  std::vector<JobMessage> messages_;
  std::vector<std::size_t> free_;
};

}  // namespace tw::sim
