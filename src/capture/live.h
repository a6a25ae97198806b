// SPDX-License-Identifier: Apache-2.0
// Live capture on many hosts at once: one capture file for each interface, one thread for all.
//
// Times are the kernel's, taken when the packet passed the interface, in nanoseconds. A file that
// cannot be written (disk full) ends only itself: its packets are still counted, and stop() says
// what happened.
//
// Limits: those of live_ring.h. Packets are in the order in which the kernel stored them, which on
// several processors may differ from the order of their times by some microseconds.

#pragma once

#include "trainwire/base/units.h"
#include "trainwire/capture/writer.h"
#include "trainwire/os/file_descriptor.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tw::capture {

struct LiveInterface {
  const os::FileDescriptor& network;  ///< namespace; needed only while the capture is started
  std::string name;
  std::string file;  ///< created or emptied
};

struct LiveOptions {
  std::uint32_t snap_length = 150;  ///< bytes kept of each frame; 0: all
  /// Memory of the kernel for each interface: what may be waiting while the disk is slow. A packet
  /// takes its snap length and about 100 bytes of it.
  Bytes ring = 16_MiB;
  /// Pcapng also stores the interface's name and how many packets were dropped.
  FileFormat format = FileFormat::Pcap;
  /// Asked for each packet, by the capture's thread, whether it is written; empty: all are.
  std::function<bool(const packet::Record&)> keep = {};
  /// A file that has grown to this gets no further packet. 0: no limit.
  Bytes most = Bytes(0);
};

/// What one interface's capture came to.
struct LiveResult {
  std::string file;
  std::uint64_t packets = 0;  ///< handed over by the kernel: in the file unless it failed
  std::uint64_t written = 0;  ///< of these; fewer where some are not kept
  bool is_full = false;       ///< the limit was reached, and what came later is not in the file
  std::uint64_t bytes = 0;    ///< of whole frames, whatever the snap length
  std::uint64_t dropped = 0;  ///< by the kernel, because the ring was full
  /// Why the file is not complete: "writing x.pcap: No space left on device".
  std::optional<std::string> failure = {};
};

class LiveCapture {
 public:
  /// Every packet from here on is captured. Throws SystemError when an interface or a file cannot
  /// be opened; nothing is captured then.
  explicit LiveCapture(const std::vector<LiveInterface>& interfaces,
                       const LiveOptions& options = {});
  LiveCapture(LiveCapture&&) noexcept;
  LiveCapture& operator=(LiveCapture&&) noexcept;
  /// Stops, but cannot say what went wrong.
  ~LiveCapture();

  /// What passed before the call is in the files afterwards, even with traffic still running. In
  /// the order of the interfaces; once.
  std::vector<LiveResult> stop();

 private:
  class Session;
  std::unique_ptr<Session> session_;
};

}  // namespace tw::capture
