// SPDX-License-Identifier: Apache-2.0
// The kernel's ring of captured packets (packet(7), TPACKET_V3) on one interface: blocks of memory
// that the kernel fills and we empty, without a system call a packet.
//
// Both directions of the interface are seen, each frame once; on a loopback interface, where every
// frame is sent and received, only its arrival. A super-frame that the kernel has not cut yet is
// one packet with the length it has there.
//
// Limits: Ethernet and loopback interfaces. A VLAN tag that an interface handles itself is not put
// back into the frame.

#pragma once

#include "trainwire/base/units.h"
#include "trainwire/os/file_descriptor.h"
#include "trainwire/packet/record.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace tw::capture {

struct RingOptions {
  std::uint32_t snap_length;  ///< of each frame; > 0
  Bytes size;                 ///< memory of the kernel; rounded up to whole blocks of 256 KiB
  /// A block that is not full is handed to us after one to two of these. Timestamps do not suffer.
  Duration hand_over;
};

/// What came by until close(): every packet either entered the ring or found it full. The kernel
/// counts in 32 bits and starts again at 0.
struct RingCount {
  std::uint32_t entered;
  std::uint32_t dropped;
};

class PacketRing {
 public:
  /// Captures from here on. Throws SystemError when the interface does not exist or is of a kind
  /// that we do not know, or without CAP_NET_RAW in the namespace's user namespace.
  PacketRing(const os::FileDescriptor& network, const std::string& interface,
             const RingOptions& options);
  PacketRing(const PacketRing&) = delete;
  PacketRing& operator=(const PacketRing&) = delete;
  ~PacketRing();

  /// Readable when a block is there to be drained.
  int descriptor() const { return socket_.get(); }
  /// Gives every packet of the blocks handed over to `take`; returns their number. Goes around the
  /// ring once at most, so that it ends even when packets come faster than they are taken. Records
  /// are valid only inside the call.
  std::size_t drain(const std::function<void(const packet::Record&)>& take);
  /// No packet enters the ring afterwards; those inside can still be drained. Once.
  RingCount close();
  /// The errno of a trouble since the last call (the interface went down), which would keep the
  /// descriptor readable for ever.
  std::optional<int> trouble();

 private:
  void bind_to(const std::string& interface);
  void pass_at_most(std::uint32_t bytes);
  void map(const RingOptions& options);

  os::FileDescriptor socket_;
  std::byte* memory_ = nullptr;
  std::size_t blocks_ = 0;
  std::size_t next_ = 0;  ///< the block that is handed over next
};

}  // namespace tw::capture
