// SPDX-License-Identifier: Apache-2.0
// Sums of a group's packets at one place: in the slots of a switch, or in the memory of the hub.
//
// A slot is taken by the first packet of a number, and free again when an answer tells that the sum
// has arrived. Nobody's packet is added twice; the k-th copy of anybody's has the sum sent for the
// k-th time, as it may be the sum that was lost. Where no slot is free, packets of that number are
// passed on as they are (one bit that the switch keeps), to be summed further on, at the hub at
// last: best effort, as ATP has it (Lao et al. 2021). Members that share switches share their slots.

#pragma once

#include "trainwire/group/tree.h"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace tw::group {

/// Slots of all switches, by node.
class SlotPool {
 public:
  /// Each switch has at least so many from now on.
  void enlarge(int slots) { slots_ = slots > slots_ ? slots : slots_; }
  bool take(int node) {
    int& taken = taken_[node];
    if (taken >= slots_) return false;
    ++taken;
    return true;
  }
  void give_back(int node) { --taken_[node]; }
  int taken(int node) const {
    const auto found = taken_.find(node);
    return found == taken_.end() ? 0 : found->second;
  }

 private:
  int slots_ = 0;
  std::unordered_map<int, int> taken_;
};

/// What becomes of a packet.
enum class Summed {
  Kept,      ///< it is part of a sum that is not complete, or has gone on already
  Complete,  ///< the sum goes on
  Passed,    ///< it goes on itself
};

class Summing {
 public:
  /// Of the members below. No pool: there is room for all (a host).
  Summing(Places below, SlotPool* pool, int node) : below_(below), pool_(pool), node_(node) {}

  /// A packet with this number, that sums those places.
  Summed add(std::int64_t number, Places places, bool asks);
  /// An answer passes by: everything before `next`, and `also`, has arrived.
  void free_before(std::int64_t next);
  void free_one(std::int64_t number);

  /// Of the sum that add() called complete: whether somebody asked for an answer.
  bool asks(std::int64_t number) const { return sums_.at(number).asks; }
  /// And how many packets it came in, without those that came again.
  std::uint32_t packets(std::int64_t number) const { return sums_.at(number).packets; }
  std::int64_t passed() const { return passed_; }

 private:
  struct Sum {
    std::vector<std::uint16_t> copies = {};  ///< by place
    int there = 0;                           ///< places
    std::uint16_t most = 0;                  ///< copies of anybody
    std::uint16_t sent = 0;
    bool asks = false;
    bool passes = false;  ///< no slot
    std::uint32_t packets = 0;
  };

  void forget(std::unordered_map<std::int64_t, Sum>::iterator sum);

  Places below_;
  SlotPool* pool_;
  int node_;
  std::unordered_map<std::int64_t, Sum> sums_;
  std::int64_t free_until_ = 0;  ///< numbers before it have arrived
  std::int64_t passed_ = 0;
};

}  // namespace tw::group
