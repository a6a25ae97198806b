// SPDX-License-Identifier: Apache-2.0
#include "trainwire/fleet/meeting.h"

#include "trainwire/base/error.h"
#include "trainwire/base/printable.h"
#include "trainwire/base/units.h"
#include "trainwire/os/clock.h"
#include "trainwire/os/errno_error.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>
#include <thread>

namespace tw::fleet {
namespace {

constexpr int kMostWaiting = 4096;
constexpr int kTryMs = 3000;
constexpr auto kPause = std::chrono::milliseconds(200);

Meeting parse_meeting(std::string_view text) {
  const auto wrong = [&]() -> SpecError {
    return SpecError(
        fmt::format("\"{}\" is no address with a port; write 10.0.0.1:29600", printable(text)));
  };
  const std::size_t colon = text.rfind(':');
  if (colon == text.npos || colon == 0) throw wrong();
  std::string_view address = text.substr(0, colon);
  const std::string_view digits = text.substr(colon + 1);
  if (address.starts_with('[') && address.ends_with(']')) {
    address = address.substr(1, address.size() - 2);
  }
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (error != std::errc() || end != digits.data() + digits.size() || port == 0 ||
      address.empty()) {
    throw wrong();
  }
  return {.address = std::string(address), .port = port};
}

/// An errno, or 0 with the connection.
int try_connect(const addrinfo& to, os::FileDescriptor& into) {
  os::FileDescriptor socket(
      ::socket(to.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP));
  if (!socket.is_open()) return errno;
  if (::connect(socket.get(), to.ai_addr, to.ai_addrlen) != 0 && errno != EINPROGRESS) return errno;
  pollfd waited{.fd = socket.get(), .events = POLLOUT, .revents = 0};
  if (::poll(&waited, 1, kTryMs) <= 0) return ETIMEDOUT;
  int error = 0;
  socklen_t length = sizeof error;
  ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &length);
  if (error == 0) into = std::move(socket);
  return error;
}

std::string try_meeting(const Meeting& meeting, os::FileDescriptor& into) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  const int code =
      ::getaddrinfo(meeting.address.c_str(), std::to_string(meeting.port).c_str(), &hints, &list);
  if (code != 0) return ::gai_strerror(code);
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(list, &::freeaddrinfo);
  int error = 0;
  for (const addrinfo* at = list; at != nullptr; at = at->ai_next) {
    error = try_connect(*at, into);
    if (error == 0) return {};
  }
  return std::strerror(error);
}

/// Whether whoever reads this process's output is gone: ssh, when its run has ended.
bool is_abandoned() {
  pollfd output{.fd = STDOUT_FILENO, .events = 0, .revents = 0};
  return ::poll(&output, 1, 0) > 0 && (output.revents & (POLLERR | POLLHUP)) != 0;
}

}  // namespace

std::vector<Meeting> parse_meetings(std::string_view text) {
  std::vector<Meeting> meetings;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    meetings.push_back(parse_meeting(text.substr(0, comma)));
    text = comma == text.npos ? std::string_view() : text.substr(comma + 1);
  }
  if (meetings.empty()) throw SpecError("--join: which address? write 10.0.0.1:29600");
  return meetings;
}

std::string text_of(const std::vector<Meeting>& meetings) {
  std::string text;
  for (const Meeting& meeting : meetings) {
    const bool is_v6 = meeting.address.find(':') != std::string::npos;
    text += fmt::format("{}{}{}{}:{}", text.empty() ? "" : ",", is_v6 ? "[" : "", meeting.address,
                        is_v6 ? "]" : "", meeting.port);
  }
  return text;
}

Listening listen_everywhere(int port) {
  const std::string what = fmt::format("listening for hosts on port {}", port);
  Listening made{.socket = os::FileDescriptor(
                     ::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP))};
  sockaddr_in6 v6 = {};
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(static_cast<std::uint16_t>(port));
  sockaddr_in v4 = {};
  v4.sin_family = AF_INET;
  v4.sin_port = v6.sin6_port;
  const int on = 1;
  const int off = 0;
  bool bound = false;
  if (made.socket.is_open()) {
    ::setsockopt(made.socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    ::setsockopt(made.socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    bound = ::bind(made.socket.get(), reinterpret_cast<const sockaddr*>(&v6), sizeof v6) == 0;
  }
  if (!bound) {  // a machine without IPv6
    made.socket = os::FileDescriptor(
        ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP));
    if (!made.socket.is_open()) throw os::errno_error(what, errno);
    ::setsockopt(made.socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (::bind(made.socket.get(), reinterpret_cast<const sockaddr*>(&v4), sizeof v4) != 0) {
      throw os::errno_error(what, errno, "take another --port");
    }
  }
  if (::listen(made.socket.get(), kMostWaiting) != 0) throw os::errno_error(what, errno);
  sockaddr_storage name = {};
  socklen_t length = sizeof name;
  ::getsockname(made.socket.get(), reinterpret_cast<sockaddr*>(&name), &length);
  made.port =
      ntohs(reinterpret_cast<const sockaddr_in*>(&name)->sin_port);  // the same place in both
  return made;
}

os::FileDescriptor connect_any(const std::vector<Meeting>& meetings,
                               std::chrono::nanoseconds longest) {
  const std::int64_t limit = os::monotonic_ns() + longest.count();
  std::string why;
  do {
    for (const Meeting& meeting : meetings) {
      os::FileDescriptor socket;
      why = try_meeting(meeting, socket);
      if (why.empty()) return socket;
    }
    if (is_abandoned()) throw SystemError("whoever started this host is gone");
    std::this_thread::sleep_for(kPause);
  } while (os::monotonic_ns() < limit);
  throw SystemError(
      fmt::format("the run at {} has not answered for {}: {}; is it still there, and "
                  "does a firewall let its port through?",
                  text_of(meetings), readable(Duration(longest)), why));
}

}  // namespace tw::fleet
