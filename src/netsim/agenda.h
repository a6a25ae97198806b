// SPDX-License-Identifier: Apache-2.0
// What is to happen when: a heap of four children a node, which is flatter and reads fewer cache
// lines than one of two. Of equal times the first entered comes first.

#pragma once

#include "trainwire/netsim/time.h"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace tw::netsim {

class Agenda {
 public:
  struct Entry {
    Time at = 0;
    std::uint64_t number = 0;
    std::uint32_t what = 0;  ///< the user's
    std::int32_t whose = 0;  ///< likewise
    bool operator<(const Entry& other) const {
      return at != other.at ? at < other.at : number < other.number;
    }
  };

  bool empty() const { return heap_.empty(); }
  /// REQUIRES: !empty().
  const Entry& first() const { return heap_.front(); }

  void add(Time at, std::uint32_t what, std::int32_t whose) {
    heap_.push_back({.at = at, .number = number_++, .what = what, .whose = whose});
    rise(heap_.size() - 1);
  }

  /// As take() and add(), in one. REQUIRES: !empty().
  void replace_first(Time at, std::uint32_t what, std::int32_t whose) {
    sink({.at = at, .number = number_++, .what = what, .whose = whose});
  }

  /// REQUIRES: !empty().
  Entry take() {
    const Entry first = heap_.front();
    const Entry last = heap_.back();
    heap_.pop_back();
    if (!heap_.empty()) sink(last);
    return first;
  }

 private:
  static constexpr std::size_t kChildren = 4;

  void rise(std::size_t at) {
    const Entry entry = heap_[at];
    while (at > 0) {
      const std::size_t parent = (at - 1) / kChildren;
      if (!(entry < heap_[parent])) break;
      heap_[at] = heap_[parent];
      at = parent;
    }
    heap_[at] = entry;
  }

  /// Puts an entry where the first one was.
  void sink(const Entry& entry) {
    std::size_t at = 0;
    while (true) {
      const std::size_t begin = kChildren * at + 1;
      if (begin >= heap_.size()) break;
      std::size_t least = begin;
      const std::size_t end = begin + kChildren < heap_.size() ? begin + kChildren : heap_.size();
      for (std::size_t i = begin + 1; i < end; ++i) {
        if (heap_[i] < heap_[least]) least = i;
      }
      if (!(heap_[least] < entry)) break;
      heap_[at] = heap_[least];
      at = least;
    }
    heap_[at] = entry;
  }

  std::vector<Entry> heap_;
  std::uint64_t number_ = 0;
};

}  // namespace tw::netsim
