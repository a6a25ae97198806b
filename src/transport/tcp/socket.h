// SPDX-License-Identifier: Apache-2.0
// TCP sockets of the gradients: non-blocking, without Nagle's delay.

#pragma once

#include "trainwire/os/file_descriptor.h"
#include "trainwire/transport/tcp/address.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace tw::transport::tcp {

/// Listens on one address and a port of the kernel's choice. Throws SystemError.
class Listener {
 public:
  explicit Listener(const std::string& address);
  const Endpoint& endpoint() const { return endpoint_; }
  int descriptor() const { return socket_.get(); }
  /// A connection that waits, or a closed descriptor when there is none.
  os::FileDescriptor accept() const;

 private:
  os::FileDescriptor socket_;
  Endpoint endpoint_;
};

/// Begins to connect; writable once that is decided. Throws SystemError.
os::FileDescriptor begin_connect(const Endpoint& to, const std::string& from);
/// The errno with which connecting (or the connection) failed, or 0.
int pending_error(const os::FileDescriptor& socket);

/// What one attempt to move bytes gave.
struct Moved {
  std::size_t bytes = 0;
  bool blocked = false;  ///< the kernel has no more, or no room, now
  bool closed = false;   ///< by the other end
  int error = 0;         ///< errno of a broken connection
};
Moved send_some(int socket, std::span<const std::byte> from);
Moved receive_some(int socket, std::span<std::byte> into);

/// Bytes handed to the kernel that the other end has not acknowledged yet.
std::int64_t queued_bytes(int socket);

/// What TCP knows of a connection.
struct TcpState {
  double rtt_s = 0;
  double rtt_deviation_s = 0;
  std::int64_t window_bytes = 0;           ///< congestion window
  std::int64_t retransmitted_packets = 0;  ///< so far
  std::int64_t acknowledged_bytes = 0;     ///< so far, of what was sent
  int unanswered = 0;  ///< how often the oldest that nobody acknowledged was sent again
};
TcpState tcp_state(int socket);

}  // namespace tw::transport::tcp
