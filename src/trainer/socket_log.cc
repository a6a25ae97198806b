// SPDX-License-Identifier: Apache-2.0
#include "trainwire/trainer/socket_log.h"

#include "trainwire/os/clock.h"
#include "trainwire/workload/casts.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <utility>

namespace tw::trainer {

SocketLog::SocketLog(const std::string& path,
                     std::span<const transport::tcp::Connection> connections)
    : path_(path), connections_(connections) {
  if (!path.empty()) file_ = os::open_in_place(path);
}

void SocketLog::sample() {
  if (path_.empty()) return;
  const std::int64_t now = os::real_time_ns();
  const std::lock_guard lock(mutex_);
  for (const transport::tcp::Connection& c : connections_) {
    if (c.lane >= workload::kFirstCastLane) continue;  // no TCP
    const transport::tcp::TcpState state = transport::tcp::tcp_state(c.socket.get());
    fmt::format_to(std::back_inserter(pending_), "{},{},{},{},{},{},{},{}\n", now, c.peer, c.lane,
                   std::llround(1e9 * state.rtt_s), std::llround(1e9 * state.rtt_deviation_s),
                   state.window_bytes, state.retransmitted_packets,
                   transport::tcp::queued_bytes(c.socket.get()));
  }
}

void SocketLog::flush() {
  if (path_.empty()) return;
  std::string text;
  {
    const std::lock_guard lock(mutex_);
    text = std::exchange(pending_, {});
  }
  os::write_all(file_, std::as_bytes(std::span(text)), path_);
}

}  // namespace tw::trainer
