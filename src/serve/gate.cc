// SPDX-License-Identifier: Apache-2.0
#include "trainwire/serve/gate.h"

#include "trainwire/base/error.h"
#include "trainwire/base/printable.h"
#include "trainwire/os/errno_error.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <utility>
#include <vector>

namespace tw::serve {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kBacklog = 128;
/// A head ends with an empty line; the library takes lines that end without a carriage return too.
constexpr std::string_view kEndOfHead = "\n\r\n";

/// An address of either family with its port, as sockets take it.
struct Endpoint {
  sockaddr_storage storage = {};
  socklen_t length = 0;
};

Endpoint endpoint_of(const std::string& address, int port) {
  Endpoint place;
  auto* const v4 = reinterpret_cast<sockaddr_in*>(&place.storage);
  auto* const v6 = reinterpret_cast<sockaddr_in6*>(&place.storage);
  if (::inet_pton(AF_INET, address.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons(static_cast<std::uint16_t>(port));
    place.length = sizeof *v4;
  } else if (::inet_pton(AF_INET6, address.c_str(), &v6->sin6_addr) == 1) {
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(static_cast<std::uint16_t>(port));
    place.length = sizeof *v6;
  } else {
    throw SpecError(
        fmt::format("listening on {}: expected an address of this machine, like "
                    "127.0.0.1, or ::1",
                    printable(address)));
  }
  return place;
}

os::FileDescriptor listen_on(const std::string& address, int port) {
  const Endpoint place = endpoint_of(address, port);
  os::FileDescriptor fd(
      ::socket(place.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int on = 1;
  // Not SO_REUSEPORT: two servers must not share a port.
  if (!fd.is_open() || ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
      ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&place.storage), place.length) != 0 ||
      ::listen(fd.get(), kBacklog) != 0) {
    throw os::errno_error(fmt::format("listening on {}:{}", printable(address), port), errno,
                          "choose another port (--port, of watch --metrics), or 0 for a free one");
  }
  return fd;
}

int port_of(const os::FileDescriptor& fd) {
  sockaddr_storage own{};
  socklen_t length = sizeof own;
  if (::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&own), &length) != 0) {
    throw os::errno_error("asking for the port", errno);
  }
  return ntohs(own.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6*>(&own)->sin6_port
                                         : reinterpret_cast<sockaddr_in*>(&own)->sin_port);
}

/// What a head that is not taken is answered; whoever does not read it misses it.
void answer(const os::FileDescriptor& socket, std::string_view status, std::string_view error) {
  const std::string body = fmt::format("{{\"error\":\"{}\"}}", error);
  const std::string text = fmt::format(
      "HTTP/1.1 {}\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: "
      "{}\r\n\r\n{}",
      status, body.size(), body);
  ::send(socket.get(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

}  // namespace

Gate::Gate(const std::string& address, int port, const Limits& limits)
    : limits_(limits),
      listening_(listen_on(address, port)),
      wake_(os::make_pipe()),
      port_(port_of(listening_)) {}

void Gate::open(std::function<void(Arrival)> take) {
  take_ = std::move(take);
  worker_ = std::jthread([this] { work(); });
}

Gate::~Gate() {
  wake_.write = {};  // the other end becomes readable
  if (worker_.joinable()) worker_.join();
}

int Gate::wait_ms() const {
  if (waiting_.empty()) return -1;
  const auto left = waiting_.front().until - Clock::now();
  return static_cast<int>(
      std::max<std::int64_t>(0, std::chrono::ceil<std::chrono::milliseconds>(left).count()));
}

void Gate::work() {
  std::vector<pollfd> looked_at;
  while (true) {
    looked_at = {{.fd = wake_.read.get(), .events = POLLIN, .revents = 0},
                 {.fd = listening_.get(), .events = POLLIN, .revents = 0}};
    for (const Waiting& each : waiting_) {
      looked_at.push_back({.fd = each.socket.get(), .events = POLLIN, .revents = 0});
    }
    if (::poll(looked_at.data(), looked_at.size(), wait_ms()) < 0 && errno != EINTR) return;
    if (looked_at[0].revents != 0) return;
    std::size_t i = 2;
    for (Place each = waiting_.begin(); i < looked_at.size(); ++i) {
      const bool stays = looked_at[i].revents == 0 || read_on(*each);
      each = stays ? std::next(each) : waiting_.erase(each);
    }
    refuse_late();
    if (looked_at[1].revents != 0) accept_all();
  }
}

void Gate::accept_all() {
  while (true) {
    os::FileDescriptor socket(
        ::accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket.is_open() && (errno == EMFILE || errno == ENFILE)) {
      // The one that waits longest makes room; without any, others have to end first.
      if (waiting_.empty()) std::this_thread::sleep_for(std::chrono::milliseconds(20));
      if (!waiting_.empty()) waiting_.pop_front();
      return;
    }
    if (!socket.is_open()) return;
    if (waiting_.size() >= limits_.waiting) waiting_.pop_front();
    waiting_.push_back({.socket = std::move(socket), .until = Clock::now() + limits_.head_time});
    // Most have said what they want by now: they do not wait for the next round.
    if (!read_on(waiting_.back())) waiting_.pop_back();
  }
}

bool Gate::read_on(Waiting& waiting) {
  std::array<char, 16 * 1024> block;
  while (true) {
    const auto length = ::recv(waiting.socket.get(), block.data(), block.size(), 0);
    if (length < 0) return errno == EAGAIN || errno == EINTR;
    if (length == 0) return false;
    // What ends the head may lie across two blocks.
    const std::size_t from = waiting.bytes.size() - std::min<std::size_t>(waiting.bytes.size(), 2);
    waiting.bytes.append(block.data(), static_cast<std::size_t>(length));
    const std::size_t end = waiting.bytes.find(kEndOfHead, from);
    if (std::min(end, waiting.bytes.size()) > limits_.head_bytes) {
      answer(waiting.socket, "431 Request Header Fields Too Large",
             fmt::format("the request's head is larger than {} bytes", limits_.head_bytes));
      return false;
    }
    if (end == std::string::npos) continue;
    take_({.socket = std::move(waiting.socket), .bytes = std::move(waiting.bytes)});
    return false;
  }
}

void Gate::refuse_late() {
  while (!waiting_.empty() && waiting_.front().until <= Clock::now()) {
    answer(waiting_.front().socket, "408 Request Timeout",
           "the request's head did not come in time");
    waiting_.pop_front();
  }
}

}  // namespace tw::serve
