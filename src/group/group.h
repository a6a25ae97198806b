// SPDX-License-Identifier: Apache-2.0
// Messages of several hosts that a network treats as one, packet by packet: summed by switches on
// their way to the hub, or multicast from there, once over each link of a tree (tree.h).
//
//   sums        members' packets  up, one sum a number from each switch on | answers down, to all
//   multicasts  the hub's packets down, one over each link                 | answers up, from each
//
// The n-th message of each member belongs together: of sums they have come when the hub has all of
// the sum, of a multicast the hub has w messages of equal bytes, sent as one once all are there, and
// each has come when its member has all of it. A message has left when each of its packets was sent
// once.
//
// Limits: members trust one another to send messages of equal bytes in one order. Switches take no
// time for sums. See sender.h for what is lost, summing.h for slots.

#pragma once

#include "trainwire/group/options.h"
#include "trainwire/group/receiver.h"
#include "trainwire/group/sender.h"
#include "trainwire/group/summing.h"
#include "trainwire/group/tree.h"
#include "trainwire/netsim/guest.h"
#include "trainwire/netsim/net.h"
#include "trainwire/netsim/packet.h"
#include "trainwire/netsim/ring.h"
#include "trainwire/netsim/time.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace tw::group {

class Group : private netsim::Guest {
 public:
  struct Told {
    std::function<void(std::uint64_t tag, Time now)> left;
    std::function<void(std::uint64_t tag, Time now)> came;
  };

  /// REQUIRES: network and pool outlive it.
  Group(netsim::Net& net, Tree tree, const Options& options, SlotPool& pool, Told told);
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  /// A member's next message; of a multicast: the hub's for that member. REQUIRES: bytes > 0, as
  /// many as other members' of the same number.
  void send(int member, std::int64_t bytes, std::uint64_t tag, Time now);
  /// Packets that switches passed on without a sum, and that were sent again.
  std::int64_t passed() const;
  std::int64_t resent() const;

 private:
  struct Message {
    std::int64_t bytes = 0;
    std::int64_t end = 0;                  ///< packet
    std::vector<std::uint64_t> tags = {};  ///< by member
    int said = 0;                          ///< members that have sent it
  };
  /// Of a member, by number: messages that it sent, that have left, that have come.
  struct Progress {
    std::int64_t said = 0;
    std::int64_t left = 0;
    std::int64_t came = 0;
  };

  void arrive(int port, const Packet& packet, Time now) override;
  void wake(int sender, Time at) override;
  Time emit(int branch, bool down, Packet packet, Places places, Time now);
  void up(int branch, int from, Packet packet, Time now);
  void down(int branch, int from, const Packet& packet, Time now);
  void at_hub(const Packet& packet, Time now);
  void at_member(int place, const Packet& packet, Time now);
  void expect(int sender);
  void settle(int place, Time now);
  void settle_hub(Time now);
  void tell(int place, Time now);
  void forget_told();

  netsim::Net& net_;
  int connection_;  ///< of its packets
  Tree tree_;
  Options options_;
  Told told_;
  std::vector<Sender> senders_;      ///< by place; of a multicast the hub
  std::vector<Receiver> receivers_;  ///< the hub; of a multicast by place
  std::vector<Summing> summing_;     ///< by branch: at the switch below it
  Summing at_hub_;
  std::uint32_t fan_ = 1;  ///< packets that brought the last sum
  Ring<Message> messages_;
  std::vector<Progress> progress_;  ///< by member
  std::vector<Time> entries_;       ///< by sender: when it will be woken
};

}  // namespace tw::group
