// SPDX-License-Identifier: Apache-2.0
// The receiving end of an RDMA queue pair: acknowledges when it is asked to, tells the sender of
// marks, but not too often, and of gaps.
//
// Going back, what comes behind a gap is thrown away and a NAK names the packet that is missing,
// once, and again only after a while. Otherwise it is kept, and each such packet is acknowledged by
// itself; what is there counts as received once all before it is.

#pragma once

#include "trainwire/netsim/packet.h"
#include "trainwire/rdma/options.h"

#include <cstdint>
#include <functional>
#include <set>

namespace tw::netsim {

class RdmaReceiver {
 public:
  using Emit = std::function<void(const Packet& packet, Time now)>;

  RdmaReceiver(const rdma::Options& options, int connection, Emit emit);

  void arrived(const Packet& packet, Time now);
  /// The first packet that is missing.
  std::int64_t next() const { return next_; }

 private:
  void take_in_order(const Packet& packet, Time now);
  void take_early(const Packet& packet, Time now);
  Packet answer_to(const Packet& packet, int bytes) const;

  rdma::Options options_;
  int connection_;
  Emit emit_;

  std::int64_t next_ = 0;
  std::set<std::int64_t> early_;  ///< came out of order
  std::int64_t asked_for_ = -1;   ///< the packet that the last NAK named
  Time ask_again_ = 0;
  Time notice_again_ = 0;
};

}  // namespace tw::netsim
