// SPDX-License-Identifier: Apache-2.0
// Constant traffic: UDP datagrams at equal distances, each with its number, that nothing slows
// down.
//
// A connection to the sink stands beside them: it proves that the sink is there and takes the
// token, and at the end asks it how many came. An answer that does not come is asked for again.
//
// Limits: datagrams that the machine could not send within 100 ms of their time are left out, so
// that a stall is not followed by a flood.

#pragma once

#include "trainwire/os/file_descriptor.h"
#include "trainwire/traffic/player.h"

#include <cstdint>
#include <optional>

namespace tw::traffic {

class DatagramPlayer {
 public:
  DatagramPlayer(const PlayOrders& orders, StopSignal& stop) : orders_(orders), stop_(stop) {}

  /// Throws SystemError.
  void connect();
  /// As Player's.
  void play(std::int64_t begin_ns);
  const Tally& tally() const { return tally_; }
  std::int64_t end_ns() const { return end_ns_; }
  std::int64_t last_ns() const { return last_ns_; }

 private:
  class Batch;
  void send_until_the_end();
  void send_due(Batch& batch, std::int64_t now);
  bool is_time_over(std::int64_t now) const;
  std::int64_t due_ns(std::int64_t datagram) const;
  void wait_until(std::int64_t time_ns) const;
  void open_line_beside();
  /// Over another connection when one does not answer; nothing when the sink is gone.
  std::optional<std::int64_t> ask_patiently();
  void ask_until_all_came();

  const PlayOrders& orders_;
  StopSignal& stop_;
  os::FileDescriptor socket_ = {};
  os::FileDescriptor line_ = {};  ///< the connection beside
  std::uint64_t stream_ = 0;
  std::int64_t datagram_bytes_ = 0;
  double gap_ns_ = 0;
  Tally tally_ = {};
  std::int64_t begin_ns_ = 0;
  std::int64_t next_ = 0;  ///< the next datagram by its time; some may be left out
  std::int64_t sent_ = 0;
  std::int64_t end_ns_ = 0;
  std::int64_t last_ns_ = 0;
};

/// Asks the sink how many datagrams of a stream have come; nothing when it does not answer in time.
/// The connection blocks for at most `patience_ms`.
std::optional<std::int64_t> ask_sink(const os::FileDescriptor& line, std::uint64_t stream,
                                     const transport::tcp::Token& token, int patience_ms);

}  // namespace tw::traffic
