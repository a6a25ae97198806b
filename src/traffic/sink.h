// SPDX-License-Identifier: Apache-2.0
// Takes cross traffic: counts bytes, throws them away, acknowledges each flow when it is complete.
//
// Threads share the connections, one at a time given to the next; another counts datagrams. Bytes
// are discarded inside the kernel (MSG_TRUNC), so that the sink costs less than the sender. Nothing
// is allocated by what a stranger says; whoever has not shown the token within ten seconds, or
// shows a wrong one, is cut off.

#pragma once

#include "trainwire/traffic/outcome.h"
#include "trainwire/traffic/task.h"

#include <cstdint>
#include <memory>

namespace tw::traffic {

class Sink {
 public:
  /// Listens at once. Throws SystemError (the address or port is not to be had), SpecError (the
  /// address is none).
  explicit Sink(const SinkTask& task);
  ~Sink();
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;

  std::uint16_t port() const;
  /// So far.
  SinkCounts counts() const;
  /// Closes every connection; the counts stay.
  void stop();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tw::traffic
