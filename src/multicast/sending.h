// SPDX-License-Identifier: Apache-2.0
// The hub's end of one group: what it gets as a stream of bytes goes to all members as datagrams, and
// again where one misses it. What is sent when is group/sender.h's; here are its sockets and bytes.

#pragma once

#include "trainwire/group/sender.h"
#include "trainwire/multicast/datagram.h"
#include "trainwire/multicast/options.h"
#include "trainwire/os/file_descriptor.h"
#include "trainwire/transport/tcp/address.h"

#include <poll.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace tw::multicast {

class Sending {
 public:
  /// `wake` is readable when nothing is to be sent any more. Throws SystemError.
  Sending(const Options& options, Seat seat, int wake);
  Sending(const Sending&) = delete;
  Sending& operator=(const Sending&) = delete;

  /// Does what can be done; waits only while the host's own queue is full.
  void attend(group::Time now);
  /// What is worth waking up for.
  void wait_for(std::vector<pollfd>& waits) const;
  group::Time due() const { return sender_.due(); }

  const Count& count() const { return count_; }

 private:
  /// Bytes of packets [first, end), all full but the last.
  struct Chunk {
    std::int64_t first = 0;
    std::int64_t end = 0;
    std::vector<std::byte> bytes = {};
  };

  void hear(group::Time now);
  void take(group::Time now);
  void emit(const group::Packet& packet);
  bool wants_more() const { return !ended_ && sender_.sent() == sender_.written(); }
  std::span<const std::byte> payload(std::int64_t number) const;

  Options options_;
  Tag tag_;
  int members_;
  int wake_;
  os::FileDescriptor stream_;
  os::FileDescriptor socket_;
  transport::tcp::SocketAddress group_;
  std::deque<Chunk> chunks_;  ///< that somebody may miss
  std::vector<std::byte> datagram_;
  bool ended_ = false;
  Count count_;
  group::Sender sender_;
};

}  // namespace tw::multicast
