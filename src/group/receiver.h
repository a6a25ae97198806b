// SPDX-License-Identifier: Apache-2.0
// A receiver of a group's packets: what is there, and what it answers. It answers when it is asked
// to, when something is missing or comes again; an answer names the first packet that is missing,
// and where that is not all, the packet that has come with those right before it.

#pragma once

#include "trainwire/netsim/packet.h"
#include "trainwire/netsim/time.h"

#include <cstdint>
#include <functional>
#include <set>
#include <utility>

namespace tw::group {

using netsim::Packet;
using netsim::Time;

class Receiver {
 public:
  using Emit = std::function<void(const Packet& answer, Time now)>;
  explicit Receiver(Emit emit) : emit_(std::move(emit)) {}

  /// A packet is there. The answer has `says` as its train: of a sum, how many packets brought it;
  /// of a multicast, which sending it was.
  void arrived(std::int64_t number, bool asks, std::uint32_t says, Time now);
  /// The first packet that is missing.
  std::int64_t next() const { return next_; }
  bool has(std::int64_t number) const { return number < next_ || beyond_.contains(number); }

 private:
  Emit emit_;
  std::int64_t next_ = 0;
  std::set<std::int64_t> beyond_;
};

}  // namespace tw::group
