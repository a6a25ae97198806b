// SPDX-License-Identifier: Apache-2.0
// One connection of a source and the flow that it carries now.

#pragma once

#include "trainwire/os/file_descriptor.h"
#include "trainwire/traffic/frame.h"
#include "trainwire/traffic/tally.h"

#include <cstdint>

namespace tw::traffic {

class Line {
 public:
  enum class State {
    Connecting,  ///< its flow, if it has one, waits for the handshake
    Idle,
    Sending,
    Awaiting,  ///< the sink's answer, or, of an endless flow, to be allowed more
    Closing,   ///< the sink closes after the last flow
  };
  /// What one attempt to send or to read came to.
  enum class Step { Progress, Blocked, Finished, Broken };

  Line(os::FileDescriptor socket, std::size_t destination, State state)
      : socket_(std::move(socket)), destination_(destination), state_(state) {}

  int descriptor() const { return socket_.get(); }
  const os::FileDescriptor& socket() const { return socket_; }
  std::size_t destination() const { return destination_; }
  State state() const { return state_; }
  bool has_flow() const { return has_flow_; }
  const PlayedFlow& flow() const { return flow_; }
  PlayedFlow& flow() { return flow_; }

  /// The connection stands: idle, or its flow may be sent.
  void connected() { state_ = has_flow_ ? State::Sending : State::Idle; }
  /// Shows the token on an idle connection. False when the kernel refuses it.
  bool greet(const transport::tcp::Token& token, Tally& tally);
  /// Gives it a flow; `size` may be kEndless, then allow() says how much may be sent.
  void begin(const PlayedFlow& flow, const Frame& frame, const transport::tcp::Token& token);
  /// More bytes of an endless flow.
  void allow(std::uint64_t bytes);
  /// One write. Finished when everything allowed is with the kernel.
  Step send(Tally& tally);
  /// Reads what the sink says. Finished when the flow is acknowledged, or, while Closing, when the
  /// sink has closed. Broken for what it should not say.
  Step receive();
  /// The flow is over: the line is idle, or closes when it was the last one.
  void end_flow();
  /// Payload bytes of its flow that the other end's kernel has.
  std::int64_t acknowledged() const;
  std::int64_t written() const { return written_; }

  bool is_queued = false;  ///< among those that may send now; the player's

 private:
  void count(std::size_t bytes, Tally& tally);

  os::FileDescriptor socket_;
  std::size_t destination_;
  State state_;
  bool has_flow_ = false;
  bool endless_ = false;
  bool last_ = false;
  PlayedFlow flow_ = {};
  FrameBytes header_ = {};
  std::size_t header_left_ = 0;
  std::uint64_t left_ = 0;  ///< payload that may be sent
  std::int64_t written_ = 0;
  AnswerBytes answer_ = {};
  std::size_t answered_ = 0;
};

}  // namespace tw::traffic
