// SPDX-License-Identifier: Apache-2.0
// What NCCL's socket transport puts on the wire for an operation that goes round a ring, to the byte, by NCCL's own rules: so that packets can be
// compared with a log, and nothing is left to explain.
//
// An operation is cut into parts, one for each channel, of whole cells (16 KiB of traffic); a part into chunks, which ranks pass on at once (half of
// the buffer; of broadcast and reduce an eighth); a chunk into slices (two; one of broadcast, reduce and protocol ll). Each slice is one message, also
// when it is empty. Protocol ll sends 16 bytes for each 8. NET/Socket sends the size of a message before it, in 4 bytes, and opens a connection with 13:
// a word of 8, its kind in 4, its number in 1. Each channel has one connection to the next rank, and further ones where several sockets are asked for.
//
// Sources: NCCL 2.22 to 2.29, enqueue.cc, device/prims_simple.h, device/prims_ll.h, transport/net_socket.cc, misc/socket.cc. Tried on 2.28.9.
// Limits: operations that are called one by one, not in groups; ring, protocols simple and ll.

#pragma once

#include "trainwire/operations/operation.h"

#include <cstdint>
#include <optional>

namespace tw::operations {

inline constexpr std::int64_t kRingBuffer_bytes = 4 << 20;  ///< NCCL_BUFFSIZE by itself
inline constexpr std::int64_t kSizeWord_bytes = 4;
inline constexpr std::int64_t kOpening_bytes = 13;
inline constexpr std::int64_t kLlChunk_bytes =
    32'768;  ///< data in a step of ll, whose buffer is fixed

/// What protocol ll makes of data.
inline std::int64_t ll_bytes(std::int64_t data) { return 16 * ((data + 7) / 8); }

/// Of all ranks together.
struct Messages {
  std::int64_t count = 0;
  std::int64_t bytes = 0;  ///< without their sizes
  bool operator==(const Messages&) const = default;

  Messages& operator+=(const Messages& other) {
    count += other.count;
    bytes += other.bytes;
    return *this;
  }
  Messages operator*(std::int64_t times) const { return {count * times, bytes * times}; }
  std::int64_t on_the_wire() const { return bytes + count * kSizeWord_bytes; }
};

/// Nothing where the rules are not known: another algorithm or protocol, no type, no channels.
std::optional<Messages> ring_messages(const Operation& operation,
                                      std::int64_t buffer_bytes = kRingBuffer_bytes);

}  // namespace tw::operations
