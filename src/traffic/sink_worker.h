// SPDX-License-Identifier: Apache-2.0
// One thread of a sink: reads from its connections, throws away, answers.

#pragma once

#include "trainwire/base/units.h"
#include "trainwire/os/file_descriptor.h"
#include "trainwire/traffic/frame.h"
#include "trainwire/traffic/outcome.h"
#include "trainwire/traffic/stop_signal.h"

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace tw::traffic {

/// Counted by all threads of a sink.
struct SinkTally {
  std::atomic<std::int64_t> received = 0;
  std::atomic<std::int64_t> flows = 0;
  std::atomic<std::int64_t> connections = 0;
  std::atomic<std::int64_t> refused = 0;
  std::atomic<std::int64_t> datagrams = 0;
  std::atomic<std::int64_t> datagram_bytes = 0;
  std::atomic<std::int64_t> live = 0;  ///< connections that are open

  SinkCounts counts() const;
};

/// How many datagrams of which stream have come.
class DatagramBook {
 public:
  /// Streams beyond the first thousand are not told apart: counted together.
  void add(std::uint64_t stream, std::int64_t datagrams);
  std::int64_t count(std::uint64_t stream) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::uint64_t, std::int64_t> counts_ = {};
};

/// What the threads of a sink share. Outlives them.
struct SinkShared {
  transport::tcp::Token token = {};
  SinkTally tally = {};
  DatagramBook book = {};
  StopSignal stop = {};
  Duration stranger_patience = {};
};

class SinkWorker {
 public:
  /// Throws SystemError.
  explicit SinkWorker(SinkShared& shared);
  /// From any thread: this connection is now the worker's.
  void adopt(os::FileDescriptor socket);
  /// Until the stop signal.
  void run();

 private:
  /// One connection: between flows it reads a header, then as many bytes as that says.
  struct Guest {
    os::FileDescriptor socket = {};
    std::int64_t since_ns = 0;
    bool greeted = false;  ///< has shown the token
    FrameBytes header = {};
    std::size_t header_read = 0;
    Frame frame = {};
    std::uint64_t left = 0;
  };
  enum class Served { WantsMore, Done };
  void serve(Guest& guest);
  Served read_header(Guest& guest);
  Served discard(Guest& guest);
  Served begin(Guest& guest, const Frame& frame);
  Served answer(Guest& guest, std::uint64_t value);
  Served complete(Guest& guest);
  void dismiss(Guest& guest);
  void dismiss_strangers();

  SinkShared& shared_;
  os::FileDescriptor epoll_;
  /// Where discarded bytes would go; nothing is written to it, so it takes no memory.
  std::unique_ptr<std::byte[]> nowhere_;
  std::mutex mutex_;  ///< of guests_: another thread adopts
  std::unordered_map<Guest*, std::unique_ptr<Guest>> guests_ = {};
};

}  // namespace tw::traffic
