// SPDX-License-Identifier: Apache-2.0
// A member's end of one group: datagrams in any order, some lost, become the hub's stream of bytes.
//
// Limits: what has come in order is kept until it is read, however much it is: the hub sends no more
// than its exchange, which cannot go on without its readers.

#pragma once

#include "trainwire/group/receiver.h"
#include "trainwire/multicast/datagram.h"
#include "trainwire/multicast/options.h"
#include "trainwire/os/file_descriptor.h"
#include "trainwire/transport/tcp/address.h"

#include <poll.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace tw::multicast {

class Receiving {
 public:
  /// Joins the group. Throws SystemError.
  Receiving(const Options& options, Seat seat);
  Receiving(const Receiving&) = delete;
  Receiving& operator=(const Receiving&) = delete;

  /// Takes what has come, answers, passes on; never waits.
  void attend(group::Time now);
  void wait_for(std::vector<pollfd>& waits) const;

  const Count& count() const { return count_; }

 private:
  void hear(group::Time now);
  void keep(std::int64_t number, std::span<const std::byte> payload);
  void answer(const group::Packet& packet);
  void pass_on();

  Tag tag_;
  int place_;
  os::FileDescriptor stream_;
  os::FileDescriptor socket_;
  os::FileDescriptor back_;  ///< from which it answers
  transport::tcp::SocketAddress hub_ = {};
  std::map<std::int64_t, std::vector<std::byte>> early_;  ///< packets before which some are missing
  std::int64_t next_ = 0;                                 ///< packet that is not in the stream yet
  std::vector<std::byte> ready_;                          ///< of the stream, from passed_ on
  std::size_t passed_ = 0;
  std::vector<std::byte> datagram_;
  Count count_;
  group::Receiver receiver_;
};

}  // namespace tw::multicast
