// SPDX-License-Identifier: Apache-2.0
// What a run and its hosts say to one another, in frames over one connection.
//
//   bytes 0-3  length of what follows, in network byte order
//   byte  4    kind
//   bytes 5-8  channel: the process or file that it is about
//   then       the content
//
// Frames come from outside: a length that cannot be meant, or a kind that nobody knows, is refused
// before anything is kept.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tw::fleet {

enum class FrameKind : std::uint8_t {
  Message = 0,  ///< JSON, between the run and the host itself
  Control = 1,  ///< JSON, between the run and a process of the host
  Bytes = 2,    ///< of a file
};

struct Frame {
  FrameKind kind = FrameKind::Message;
  std::uint32_t channel = 0;
  std::string content = {};
  bool operator==(const Frame&) const = default;
};

/// Content of a frame, at most.
inline constexpr std::size_t kMostContent = std::size_t{4} << 20;
/// Of the first one, from somebody who has not yet proven to know the run's token.
inline constexpr std::size_t kMostHello = 4096;

/// REQUIRES: the content is not larger than kMostContent.
std::string encode(const Frame& frame);

/// Bytes in, frames out.
class FrameReader {
 public:
  explicit FrameReader(std::size_t most_content) : most_(most_content) {}
  void set_most(std::size_t most_content) { most_ = most_content; }
  void take(std::string_view bytes) { bytes_.append(bytes); }
  /// The next whole frame. Throws DataError for bytes that are none.
  std::optional<Frame> next();

 private:
  std::size_t most_;
  std::string bytes_;
  std::size_t read_ = 0;  ///< of bytes_
};

}  // namespace tw::fleet
