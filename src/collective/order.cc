// SPDX-License-Identifier: Apache-2.0
#include "trainwire/collective/order.h"

#include "trainwire/collective/cursor.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace tw::collective {
namespace {

class Maker {
 public:
  Order make(Cursor cursor) && {
    for (; !cursor.done(); cursor.advance()) {
      const Transfer& t = cursor.transfer();
      order_.gate.push_back(gate_of(cursor));
      const int number = static_cast<int>(order_.transfers.size());
      const Wait as{.round = t.round, .sends = cursor.sends()};
      if (t.width == 1) by_chunk_[{as, t.chunk}].push_back(number);
      if (t.width > 1) wide_[as].push_back(number);
      order_.transfers.push_back(t);
    }
    return std::move(order_);
  }

 private:
  /// Transfers of a round that touch the same chunks in the same way wait for the same.
  int gate_of(Cursor& cursor) {
    const Transfer& t = cursor.transfer();
    if (t.round != round_) made_.clear();
    round_ = t.round;
    const auto [made, is_new] = made_.try_emplace({cursor.sends(), t.chunk, t.width}, -1);
    if (!is_new) return made->second;
    std::vector<int> members;
    for (const Wait& wait : cursor.waits()) add_members(wait, t, members);
    if (members.empty()) return -1;
    std::sort(members.begin(), members.end());
    made->second = static_cast<int>(order_.gates.size());
    order_.gates.push_back(std::move(members));
    return made->second;
  }

  void add_members(const Wait& wait, const Transfer& t, std::vector<int>& members) const {
    const auto end = by_chunk_.lower_bound({wait, t.chunk + t.width});
    for (auto it = by_chunk_.lower_bound({wait, t.chunk}); it != end; ++it) {
      members.insert(members.end(), it->second.begin(), it->second.end());
    }
    const auto wide = wide_.find(wait);
    if (wide == wide_.end()) return;
    for (const int number : wide->second) {
      const Transfer& earlier = order_.transfers[static_cast<std::size_t>(number)];
      const bool shares =
          earlier.chunk < t.chunk + t.width && t.chunk < earlier.chunk + earlier.width;
      if (shares) members.push_back(number);
    }
  }

  Order order_;
  std::map<std::pair<Wait, int>, std::vector<int>> by_chunk_;  ///< those of one chunk
  std::map<Wait, std::vector<int>> wide_;                      ///< those of several
  std::int64_t round_ = -1;
  std::map<std::tuple<bool, int, int>, int> made_;  ///< gates of this round
};

}  // namespace

std::span<const int> Order::before(int transfer) const {
  const int number = gate[static_cast<std::size_t>(transfer)];
  if (number < 0) return {};
  return gates[static_cast<std::size_t>(number)];
}

Order order_of(const Schedule& schedule, int rank) { return Maker().make(Cursor(schedule, rank)); }

Order order_of(const Schedule& schedule, int rank, int peer) {
  return Maker().make(Cursor(schedule, rank, peer));
}

}  // namespace tw::collective
