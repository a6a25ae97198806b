// SPDX-License-Identifier: Apache-2.0
// The channel between a process of a run and whoever conducts it: messages on a local socket, off
// the network under measurement.
//
// A rank gets its task, tells its port, gets everybody's endpoints, tells that it is connected,
// gets the start, tells each step, and at its end what it counted; then it waits for leave, so that
// nobody closes a connection that others still use.

#pragma once

#include "trainwire/os/file_descriptor.h"

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <utility>

namespace tw::transport {

class Control {
 public:
  explicit Control(os::FileDescriptor socket) : socket_(std::move(socket)) {}

  int descriptor() const { return socket_.get(); }
  /// False when the other end is gone. Throws SystemError.
  bool send(const nlohmann::json& message) const;
  /// Waits for the next message. Throws Error when the other end is gone, DataError for what is
  /// none.
  nlohmann::json receive() const;
  /// Whether a message is there, or the other end is gone, within that time.
  bool wait(int milliseconds) const;
  /// The next message if there is one; nothing too when the other end is gone.
  std::optional<nlohmann::json> poll() const;

 private:
  os::FileDescriptor socket_;
};

/// Both ends. Throws SystemError.
std::pair<os::FileDescriptor, os::FileDescriptor> make_control_sockets();

}  // namespace tw::transport
