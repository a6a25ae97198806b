// SPDX-License-Identifier: Apache-2.0
#include "trainwire/transport/control.h"

#include "trainwire/base/error.h"
#include "trainwire/os/errno_error.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <string>

namespace tw::transport {
namespace {

using nlohmann::json;

constexpr std::size_t kMostBytes = 1 << 20;
constexpr int kRoom = 1 << 20;

json parse(const std::string& text) {
  try {
    return json::parse(text);
  } catch (const json::exception& error) {
    throw DataError(fmt::format("reading a message of the run: {}", error.what()));
  }
}

/// -1 with errno, 0 when the other end is gone.
ssize_t receive_text(int socket, std::string& text, int flags) {
  text.resize(kMostBytes);
  ssize_t count = 0;
  do {
    count = ::recv(socket, text.data(), text.size(), flags);
  } while (count < 0 && errno == EINTR);
  text.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  return count;
}

}  // namespace

bool Control::send(const json& message) const {
  const std::string text = message.dump();
  while (::send(socket_.get(), text.data(), text.size(), MSG_NOSIGNAL) < 0) {
    if (errno == EPIPE || errno == ECONNRESET || errno == ENOTCONN) return false;
    if (errno != EINTR) throw os::errno_error("speaking with the run", errno);
  }
  return true;
}

json Control::receive() const {
  std::string text;
  if (receive_text(socket_.get(), text, 0) <= 0)
    throw Error("the run that this rank is of has ended");
  return parse(text);
}

bool Control::wait(int milliseconds) const {
  pollfd waited{.fd = socket_.get(), .events = POLLIN, .revents = 0};
  return ::poll(&waited, 1, milliseconds) > 0;
}

std::optional<json> Control::poll() const {
  std::string text;
  const ssize_t count = receive_text(socket_.get(), text, MSG_DONTWAIT);
  const bool is_quiet = errno == EAGAIN || errno == ECONNRESET || errno == ENOTCONN;
  if (count < 0 && !is_quiet) throw os::errno_error("hearing from a rank", errno);
  if (count <= 0) return {};
  return parse(text);
}

std::pair<os::FileDescriptor, os::FileDescriptor> make_control_sockets() {
  std::array<int, 2> ends = {};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    throw os::errno_error("making a channel to a rank", errno);
  }
  for (const int end : ends) ::setsockopt(end, SOL_SOCKET, SO_SNDBUF, &kRoom, sizeof kRoom);
  return {os::FileDescriptor(ends[0]), os::FileDescriptor(ends[1])};
}

}  // namespace tw::transport
