// SPDX-License-Identifier: Apache-2.0
#include "trainwire/fleet/frames.h"

#include "trainwire/base/error.h"

#include <fmt/format.h>

namespace tw::fleet {
namespace {

constexpr std::size_t kLengthBytes = 4;
constexpr std::size_t kHeadBytes = 5;  ///< kind and channel

void append_number(std::string& bytes, std::uint32_t number) {
  for (const int shift : {24, 16, 8, 0}) bytes += static_cast<char>((number >> shift) & 255U);
}

std::uint32_t number_at(std::string_view bytes, std::size_t at) {
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    number = (number << 8U) | static_cast<unsigned char>(bytes[at + i]);
  }
  return number;
}

}  // namespace

std::string encode(const Frame& frame) {
  check(frame.content.size() <= kMostContent, "a frame is not larger than is allowed");
  std::string bytes;
  bytes.reserve(kLengthBytes + kHeadBytes + frame.content.size());
  append_number(bytes, static_cast<std::uint32_t>(kHeadBytes + frame.content.size()));
  bytes += static_cast<char>(frame.kind);
  append_number(bytes, frame.channel);
  return bytes + frame.content;
}

std::optional<Frame> FrameReader::next() {
  const std::string_view left = std::string_view(bytes_).substr(read_);
  if (left.size() < kLengthBytes) return {};
  const std::size_t length = number_at(left, 0);
  if (length < kHeadBytes || length > kHeadBytes + most_) {
    throw DataError(
        fmt::format("a frame of {} bytes, where 5 to {} are allowed: the other end is no "
                    "trainwire of this version",
                    length, kHeadBytes + most_));
  }
  if (left.size() < kLengthBytes + length) return {};
  const auto kind = static_cast<unsigned char>(left[kLengthBytes]);
  if (kind > static_cast<unsigned char>(FrameKind::Bytes)) {
    throw DataError(fmt::format(
        "a frame of kind {}, which nobody knows: the other end is no trainwire of this version",
        kind));
  }
  Frame frame{.kind = static_cast<FrameKind>(kind),
              .channel = number_at(left, kLengthBytes + 1),
              .content = std::string(left.substr(kLengthBytes + kHeadBytes, length - kHeadBytes))};
  read_ += kLengthBytes + length;
  if (read_ == bytes_.size() || read_ > kMostContent) {
    bytes_.erase(0, read_);
    read_ = 0;
  }
  return frame;
}

}  // namespace tw::fleet
