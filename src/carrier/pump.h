// SPDX-License-Identifier: Apache-2.0
// Moves the bytes of one wire between the rank's local stream and a library's messages: a thread for
// each direction.

#pragma once

#include "trainwire/os/file_descriptor.h"

#include <cstddef>
#include <span>
#include <thread>

namespace tw::carrier {

/// A library's messages with one other rank, in order. Each direction is used by one thread.
class Link {
 public:
  virtual ~Link() = default;
  /// Memory for the next message; valid until it is sent.
  virtual std::span<std::byte> room() = 0;
  /// Sends the first bytes of room(); false when the other end is gone.
  virtual bool send(std::size_t bytes) = 0;
  /// The next message, valid until the next call; empty when there will be none.
  virtual std::span<const std::byte> receive() = 0;
  /// Whoever waits in send() or receive() comes back. From any thread.
  virtual void close() = 0;
};

class Pump {
 public:
  /// REQUIRES: the link outlives it.
  Pump(os::FileDescriptor local, Link& link);
  ~Pump();
  Pump(const Pump&) = delete;
  Pump& operator=(const Pump&) = delete;

 private:
  void outward();
  void inward();

  os::FileDescriptor local_;
  Link& link_;
  std::thread outward_;
  std::thread inward_;
};

}  // namespace tw::carrier
