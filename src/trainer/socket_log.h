// SPDX-License-Identifier: Apache-2.0
// What TCP says of a rank's connections, a line each every 10 ms while gradients move:
// "time_ns,peer,lane,rtt_ns,rtt_deviation_ns,window_bytes,retransmitted_packets,queued_bytes".

#pragma once

#include "trainwire/transport/tcp/mesh.h"

#include <cstdint>
#include <mutex>
#include <span>
#include <string>

namespace tw::trainer {

class SocketLog {
 public:
  /// With an empty path nothing is written. Throws SystemError.
  SocketLog(const std::string& path, std::span<const transport::tcp::Connection> connections);
  /// From any thread.
  void sample();
  /// Throws SystemError when the disk is full.
  void flush();

 private:
  std::string path_;
  std::span<const transport::tcp::Connection> connections_;
  os::FileDescriptor file_;
  std::mutex mutex_;
  std::string pending_;
};

}  // namespace tw::trainer
