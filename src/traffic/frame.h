// SPDX-License-Identifier: Apache-2.0
// What cross traffic looks like on a connection: a header before each flow, and on each datagram.
// Numbers are in network byte order.
//
//   bytes 0-3    "twt1"
//   byte  4      kind
//   bytes 5-7    zero
//   bytes 8-15   number of the flow, or of the stream of datagrams
//   bytes 16-23  bytes that follow; for a datagram its own number in the stream, from 0
//   bytes 24-39  the run's token
//
// The sink answers a flow, when it has all of it, and a query with eight bytes: the flow's number,
// or how many datagrams of that stream have come. After the last flow it closes. A greeting is
// answered by nothing: it shows the token on a connection that is opened in advance.

#pragma once

#include "trainwire/transport/tcp/hello.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace tw::traffic {

enum class FrameKind : std::uint8_t {
  Flow = 1,
  LastFlow = 2,
  Datagram = 3,
  Query = 4,
  Greeting = 5
};

struct Frame {
  FrameKind kind = FrameKind::Flow;
  std::uint64_t number = 0;
  std::uint64_t size = 0;
  bool operator==(const Frame&) const = default;
};

/// The size of a flow that lasts as long as its connection; it is not answered.
inline constexpr std::uint64_t kEndless = UINT64_MAX;

inline constexpr std::size_t kFrameBytes = 40;
using FrameBytes = std::array<std::byte, kFrameBytes>;
inline constexpr std::size_t kAnswerBytes = 8;
using AnswerBytes = std::array<std::byte, kAnswerBytes>;

FrameBytes encode(const Frame& frame, const transport::tcp::Token& token);
/// Nothing unless it is a frame with this token; takes equally long for every wrong one.
std::optional<Frame> decode(std::span<const std::byte, kFrameBytes> bytes,
                            const transport::tcp::Token& token);

AnswerBytes encode_answer(std::uint64_t value);
std::uint64_t decode_answer(std::span<const std::byte, kAnswerBytes> bytes);

}  // namespace tw::traffic
