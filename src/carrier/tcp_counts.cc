// SPDX-License-Identifier: Apache-2.0
#include "trainwire/carrier/tcp_counts.h"

#include "trainwire/os/errno_error.h"
#include "trainwire/transport/tcp/socket.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <optional>
#include <string_view>
#include <thread>

namespace tw::carrier {
namespace {

using NameOf = int (*)(int, sockaddr*, socklen_t*);

/// As in the kernel's tcp_states.h: states in which the other end's FIN has come, which counts as a
/// byte received.
constexpr std::array kAfterTheirEnd{6, 7, 8, 9, 11};

/// Bytes given to the stream so far. What was sent less what was repeated counts too much when the
/// kernel did not book a repeated segment; what was acknowledged has one more for the SYN at the end
/// that connected, and one for a FIN. Together they tell: they differ by whole segments.
std::int64_t sent_bytes(int socket, const tcp_info& info) {
  const auto booked = static_cast<std::int64_t>(info.tcpi_bytes_sent - info.tcpi_bytes_retrans) +
                      info.tcpi_notsent_bytes;
  const std::int64_t numbered =
      static_cast<std::int64_t>(info.tcpi_bytes_acked) + transport::tcp::queued_bytes(socket);
  const std::int64_t segment = std::max<std::int64_t>(info.tcpi_snd_mss, 1);
  if (booked <= numbered) return booked;
  for (const std::int64_t besides : {0, 1, 2}) {
    if ((booked - (numbered - besides)) % segment == 0) return numbered - besides;
  }
  return booked;
}

std::optional<std::string> name_of(int socket, NameOf which) {
  sockaddr_storage storage = {};
  socklen_t length = sizeof storage;
  if (which(socket, reinterpret_cast<sockaddr*>(&storage), &length) != 0) return {};
  std::array<char, INET6_ADDRSTRLEN> text = {};
  if (storage.ss_family == AF_INET) {
    const auto* const v4 = reinterpret_cast<const sockaddr_in*>(&storage);
    ::inet_ntop(AF_INET, &v4->sin_addr, text.data(), text.size());
    return fmt::format("{}:{}", text.data(), ntohs(v4->sin_port));
  }
  if (storage.ss_family != AF_INET6) return {};
  const auto* const v6 = reinterpret_cast<const sockaddr_in6*>(&storage);
  ::inet_ntop(AF_INET6, &v6->sin6_addr, text.data(), text.size());
  // A socket for both versions tells an IPv4 address as part of an IPv6 one.
  constexpr std::string_view kMapped = "::ffff:";
  const std::string_view address(text.data());
  return fmt::format("{}:{}",
                     address.starts_with(kMapped) ? address.substr(kMapped.size()) : address,
                     ntohs(v6->sin6_port));
}

bool is_connected_tcp(int socket) {
  int protocol = 0;
  socklen_t length = sizeof protocol;
  if (::getsockopt(socket, SOL_SOCKET, SO_PROTOCOL, &protocol, &length) != 0) return false;
  return protocol == IPPROTO_TCP && name_of(socket, ::getpeername).has_value();
}

std::vector<int> own_descriptors() {
  std::vector<int> numbers;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    const std::string text = entry.path().filename().string();
    int number = -1;
    std::from_chars(text.data(), text.data() + text.size(), number);
    if (number >= 0) numbers.push_back(number);
  }
  return numbers;
}

/// Whether two descriptors are of one socket.
bool are_same(int one, int other) {
  struct stat a = {};
  struct stat b = {};
  return ::fstat(one, &a) == 0 && ::fstat(other, &b) == 0 && a.st_ino == b.st_ino;
}

}  // namespace

std::vector<int> own_connections() {
  std::vector<int> numbers = own_descriptors();
  std::erase_if(numbers, [](int number) { return !is_connected_tcp(number); });
  return numbers;
}

HeldConnections::HeldConnections() {
  for (const int number : own_connections()) {
    os::FileDescriptor copy(::fcntl(number, F_DUPFD_CLOEXEC, 0));
    if (!copy.is_open()) throw os::errno_error("keeping a connection to count it", errno);
    held_.push_back({.original = number,
                     .copy = std::move(copy),
                     .from = name_of(number, ::getsockname).value_or(""),
                     .to = name_of(number, ::getpeername).value_or("")});
  }
}

void HeldConnections::await_closing() const {
  using std::chrono::milliseconds;
  const auto limit = std::chrono::steady_clock::now() + milliseconds(500);
  while (std::chrono::steady_clock::now() < limit && std::ranges::any_of(held_, [](const Held& h) {
           return are_same(h.original, h.copy.get());
         })) {
    std::this_thread::sleep_for(milliseconds(2));
  }
}

std::vector<TcpCount> HeldConnections::counts() const {
  std::vector<TcpCount> counts;
  for (const Held& held : held_) {
    const int socket = held.copy.get();
    tcp_info info = {};
    socklen_t length = sizeof info;
    if (::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &length) != 0) continue;
    const bool ended = std::ranges::find(kAfterTheirEnd, info.tcpi_state) != kAfterTheirEnd.end();
    counts.push_back(
        {.from = held.from,
         .to = held.to,
         .sent = sent_bytes(socket, info),
         .received = static_cast<std::int64_t>(info.tcpi_bytes_received) - (ended ? 1 : 0)});
  }
  return counts;
}

}  // namespace tw::carrier
