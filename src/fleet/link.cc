// SPDX-License-Identifier: Apache-2.0
#include "trainwire/fleet/link.h"

#include "trainwire/base/error.h"
#include "trainwire/os/clock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <utility>

namespace tw::fleet {
namespace {

constexpr std::size_t kRoom = 1 << 16;

bool would_wait(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

}  // namespace

Link::Link(os::FileDescriptor socket, std::size_t most_content)
    : socket_(std::move(socket)),
      most_(most_content),
      reader_(most_content),
      heard_ns_(os::monotonic_ns()) {
  ::fcntl(socket_.get(), F_SETFL, ::fcntl(socket_.get(), F_GETFL) | O_NONBLOCK);
  const int on = 1;
  ::setsockopt(socket_.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

void Link::send(const Frame& frame) { out_ += encode(frame); }

void Link::send(const nlohmann::json& message) { send(Frame{.content = message.dump()}); }

void Link::pump() {
  if (is_open()) receive_some();
  if (is_open()) send_some();
}

void Link::send_some() {
  while (!out_.empty()) {
    const ssize_t sent = ::send(socket_.get(), out_.data(), out_.size(), MSG_NOSIGNAL);
    if (sent < 0) {
      if (!would_wait(errno)) close();
      return;
    }
    out_.erase(0, static_cast<std::size_t>(sent));
  }
}

void Link::receive_some() {
  std::array<char, kRoom> room = {};
  for (std::size_t taken = 0; taken <= most_;) {  // more waits until this has been looked at
    const ssize_t count = ::recv(socket_.get(), room.data(), room.size(), 0);
    if (count > 0) {
      heard_ns_ = os::monotonic_ns();
      reader_.take({room.data(), static_cast<std::size_t>(count)});
      taken += static_cast<std::size_t>(count);
      if (static_cast<std::size_t>(count) < room.size()) return;
      continue;
    }
    if (count == 0 || !would_wait(errno)) close();
    return;
  }
}

bool Link::flush(std::chrono::nanoseconds longest) {
  const std::int64_t limit = os::monotonic_ns() + longest.count();
  while (is_open() && has_unsent()) {
    pollfd waited{.fd = descriptor(), .events = POLLOUT, .revents = 0};
    const std::int64_t left = limit - os::monotonic_ns();
    if (left <= 0 || ::poll(&waited, 1, static_cast<int>(left / 1'000'000) + 1) == 0) return false;
    send_some();
  }
  return is_open();
}

nlohmann::json message_of(const Frame& frame) {
  try {
    return nlohmann::json::parse(frame.content);
  } catch (const nlohmann::json::exception& error) {
    throw DataError(fmt::format("reading a message of a host: {}", error.what()));
  }
}

}  // namespace tw::fleet
