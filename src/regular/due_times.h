// SPDX-License-Identifier: Apache-2.0
// Numbers with a time each, of which the next is asked for again and again, and whose times change:
// a heap that knows where each number stands in it, so that it never holds one twice.
//
// Of equal times the lowest number comes first. Four to a node: fewer cache lines than two.

#pragma once

#include "trainwire/base/units.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tw::regular {

class DueTimes {
 public:
  bool empty() const { return heap_.empty(); }
  /// REQUIRES, as below: not empty.
  Duration next_time() const { return heap_.front().at; }
  std::uint32_t next() const { return heap_.front().number; }

  /// Also of a number that has one already.
  void set(std::uint32_t number, Duration at) {
    if (number >= place_.size()) place_.resize(number + std::size_t{1}, kNowhere);
    const Entry entry{.at = at, .number = number};
    if (place_[number] == kNowhere) {
      heap_.emplace_back();
      rise(heap_.size() - 1, entry);
    } else {
      const std::size_t place = place_[number];
      entry < heap_[place] ? rise(place, entry) : sink(place, entry);
    }
  }

  void pop() {
    place_[heap_.front().number] = kNowhere;
    const Entry last = heap_.back();
    heap_.pop_back();
    if (!heap_.empty()) sink(0, last);
  }

 private:
  static constexpr std::size_t kBranches = 4;
  static constexpr std::uint32_t kNowhere = ~std::uint32_t{0};

  struct Entry {
    Duration at = {};
    std::uint32_t number = 0;
    bool operator<(const Entry& other) const {
      return at != other.at ? at < other.at : number < other.number;
    }
  };

  void put(std::size_t place, const Entry& entry) {
    heap_[place] = entry;
    place_[entry.number] = static_cast<std::uint32_t>(place);
  }
  void rise(std::size_t place, const Entry& entry) {
    for (; place > 0; place = (place - 1) / kBranches) {
      const Entry& above = heap_[(place - 1) / kBranches];
      if (!(entry < above)) break;
      put(place, above);
    }
    put(place, entry);
  }
  void sink(std::size_t place, const Entry& entry) {
    for (std::size_t first = kBranches * place + 1; first < heap_.size();
         first = kBranches * place + 1) {
      const auto end = std::min(first + kBranches, heap_.size());
      std::size_t least = first;
      for (std::size_t i = first + 1; i < end; ++i) {
        if (heap_[i] < heap_[least]) least = i;
      }
      if (!(heap_[least] < entry)) break;
      put(place, heap_[least]);
      place = least;
    }
    put(place, entry);
  }

  std::vector<Entry> heap_ = {};
  std::vector<std::uint32_t> place_ = {};  ///< by number
};

}  // namespace tw::regular
