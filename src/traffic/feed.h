// SPDX-License-Identifier: Apache-2.0
// The flows that one of several threads has to play: every n-th of a computed or listed load.

#pragma once

#include "trainwire/load/make.h"
#include "trainwire/traffic/task.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace tw::traffic {

/// A flow with its number in the whole load.
struct DueFlow {
  std::uint64_t number = 0;
  load::Flow flow = {};
};

/// Which part of the load a thread plays.
struct Share {
  std::size_t index = 0;
  std::size_t of = 1;
};

class Feed {
 public:
  /// Computed flows: each thread draws them all, which costs less than to hand them over.
  Feed(const load::Demand& demand, Share share) : share_(share), stream_(demand) {}
  /// REQUIRES: the list outlives it.
  Feed(const std::vector<load::Flow>& list, Share share) : share_(share), list_(&list) {}

  /// Nothing when the load is over.
  std::optional<DueFlow> next() {
    for (;;) {
      std::optional<load::Flow> flow = any();
      if (!flow) return {};
      const std::uint64_t number = number_++;
      if (number % share_.of == share_.index) return DueFlow{.number = number, .flow = *flow};
    }
  }

 private:
  std::optional<load::Flow> any() {
    if (stream_) return stream_->next();
    if (number_ >= list_->size()) return {};
    return (*list_)[number_];
  }

  Share share_;
  std::optional<load::FlowStream> stream_ = {};
  const std::vector<load::Flow>* list_ = nullptr;
  std::uint64_t number_ = 0;
};

/// What the task asks for, as a demand. REQUIRES: its kind is computed.
load::Demand demand_of(const SourceTask& task);

}  // namespace tw::traffic
