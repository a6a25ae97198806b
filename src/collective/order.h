// SPDX-License-Identifier: Apache-2.0
// One rank's transfers of an exchange with what each waits for, as lists: what an executor runs.
//
// The order and the waits are cursor.h's; here a wait is a gate, the transfers that must have ended
// (or be ahead, byte by byte), shared by all transfers that wait for the same. Time and memory grow
// with the rank's transfers, not with their square: a root of many children has one gate.

#pragma once

#include "trainwire/collective/schedule.h"

#include <span>
#include <vector>

namespace tw::collective {

struct Order {
  std::vector<Transfer> transfers = {};      ///< in the rank's order
  std::vector<int> gate = {};                ///< of each transfer; -1: it waits for nothing
  std::vector<std::vector<int>> gates = {};  ///< transfers, by number, in order

  /// What a transfer waits for, by number.
  std::span<const int> before(int transfer) const;
};

Order order_of(const Schedule& schedule, int rank);
/// Of the transfers with one peer alone; see Cursor.
Order order_of(const Schedule& schedule, int rank, int peer);

}  // namespace tw::collective
