// SPDX-License-Identifier: Apache-2.0
// A connection between a run and one of its hosts: frames in both directions, never waiting unless
// it is said.

#pragma once

#include "trainwire/fleet/frames.h"
#include "trainwire/os/file_descriptor.h"

#include <nlohmann/json_fwd.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace tw::fleet {

class Link {
 public:
  Link() = default;
  /// Of a connected socket, which becomes non-blocking.
  Link(os::FileDescriptor socket, std::size_t most_content);

  int descriptor() const { return socket_.get(); }
  bool is_open() const { return socket_.is_open(); }
  void close() { socket_ = {}; }
  void set_most(std::size_t most_content) {
    most_ = most_content;
    reader_.set_most(most_content);
  }

  /// Goes out with the next pump().
  void send(const Frame& frame);
  void send(const nlohmann::json& message);
  bool has_unsent() const { return !out_.empty(); }
  /// Sends and takes what goes without waiting, but takes little more than one frame can have: the
  /// rest after that has been looked at. Closes itself when the other end is gone.
  void pump();
  /// The next frame that has come. Throws DataError for bytes that are none.
  std::optional<Frame> next() { return reader_.next(); }
  /// Sends everything, waiting at most that long. False when it could not.
  bool flush(std::chrono::nanoseconds longest);
  /// When something came last; CLOCK_MONOTONIC.
  std::int64_t heard_ns() const { return heard_ns_; }

 private:
  void send_some();
  void receive_some();

  os::FileDescriptor socket_;
  std::size_t most_ = kMostContent;
  FrameReader reader_{kMostContent};
  std::string out_;
  std::int64_t heard_ns_ = 0;
};

/// The message in a frame. Throws DataError when it is none.
nlohmann::json message_of(const Frame& frame);

}  // namespace tw::fleet
