// SPDX-License-Identifier: Apache-2.0
#include "trainwire/traffic/line.h"

#include "trainwire/base/error.h"
#include "trainwire/transport/tcp/socket.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace tw::traffic {
namespace {

/// What flows carry: zeros, always the same ones, so that sending touches little memory. One write
/// is short enough that the next start is not kept waiting.
constexpr std::size_t kQuantum = 128 << 10;
std::array<std::byte, kQuantum> payload;

bool is_passing(int error) {
  return error == EAGAIN || error == EWOULDBLOCK || error == EINTR || error == ENOBUFS;
}

}  // namespace

bool Line::greet(const transport::tcp::Token& token, Tally& tally) {
  const FrameBytes bytes = encode({.kind = FrameKind::Greeting}, token);
  tally.framing += static_cast<std::int64_t>(bytes.size());
  return ::send(descriptor(), bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
         static_cast<ssize_t>(bytes.size());
}

void Line::begin(const PlayedFlow& flow, const Frame& frame, const transport::tcp::Token& token) {
  check(!has_flow_, "a line carries one flow at a time");
  has_flow_ = true;
  flow_ = flow;
  endless_ = frame.size == kEndless;
  last_ = frame.kind == FrameKind::LastFlow;
  header_ = encode(frame, token);
  header_left_ = header_.size();
  left_ = endless_ ? 0 : frame.size;
  written_ = 0;
  answered_ = 0;
  if (state_ == State::Idle) state_ = endless_ ? State::Awaiting : State::Sending;
}

void Line::allow(std::uint64_t bytes) {
  check(endless_, "only an endless flow is allowed more");
  left_ = bytes;
  if (state_ == State::Awaiting) state_ = State::Sending;
}

Line::Step Line::send(Tally& tally) {
  std::array<iovec, 2> pieces{
      {{.iov_base = header_.data() + (header_.size() - header_left_), .iov_len = header_left_},
       {.iov_base = payload.data(), .iov_len = std::min<std::uint64_t>(left_, kQuantum)}}};
  msghdr message = {};
  message.msg_iov = header_left_ > 0 ? pieces.data() : &pieces[1];
  message.msg_iovlen = header_left_ > 0 ? 2 : 1;
  const ssize_t sent = ::sendmsg(descriptor(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent < 0) return is_passing(errno) ? Step::Blocked : Step::Broken;
  count(static_cast<std::size_t>(sent), tally);
  if (header_left_ > 0 || left_ > 0) return Step::Progress;
  state_ = State::Awaiting;
  return Step::Finished;
}

void Line::count(std::size_t bytes, Tally& tally) {
  const std::size_t header = std::min(bytes, header_left_);
  header_left_ -= header;
  tally.framing += static_cast<std::int64_t>(header);
  const std::size_t rest = bytes - header;
  left_ -= rest;
  written_ += static_cast<std::int64_t>(rest);
  tally.sent.fetch_add(static_cast<std::int64_t>(rest), std::memory_order_relaxed);
}

Line::Step Line::receive() {
  std::array<std::byte, kAnswerBytes + 1> buffer = {};
  const ssize_t count =
      ::recv(descriptor(), buffer.data(), buffer.size() - answered_, MSG_DONTWAIT);
  if (count < 0) return is_passing(errno) ? Step::Blocked : Step::Broken;
  if (count == 0) {
    if (state_ == State::Closing) return Step::Finished;
    errno = ECONNRESET;
    return Step::Broken;
  }
  const std::size_t total = answered_ + static_cast<std::size_t>(count);
  errno = EPROTO;
  if (state_ != State::Awaiting || endless_ || total > kAnswerBytes) return Step::Broken;
  std::copy_n(buffer.begin(), count, answer_.begin() + static_cast<std::ptrdiff_t>(answered_));
  answered_ = total;
  if (answered_ < kAnswerBytes) return Step::Progress;
  return decode_answer(answer_) == flow_.number ? Step::Finished : Step::Broken;
}

void Line::end_flow() {
  has_flow_ = false;
  state_ = last_ ? State::Closing : State::Idle;
}

std::int64_t Line::acknowledged() const {
  const auto header = static_cast<std::int64_t>(kFrameBytes - header_left_);
  const std::int64_t queued = transport::tcp::queued_bytes(descriptor());
  return std::clamp<std::int64_t>(
      written_ + header - queued - static_cast<std::int64_t>(kFrameBytes), 0, written_);
}

}  // namespace tw::traffic
