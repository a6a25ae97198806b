// SPDX-License-Identifier: Apache-2.0
#include "trainwire/traffic/datagrams.h"

#include "trainwire/base/error.h"
#include "trainwire/load/wire_share.h"
#include "trainwire/os/clock.h"
#include "trainwire/traffic/sockets.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

namespace tw::traffic {
namespace {

constexpr std::size_t kBatch = 64;
constexpr std::int64_t kCatchUpNs = 100'000'000;
/// Datagrams under way when the last one was sent get this long.
constexpr int kAsks = 20;
constexpr int kAskEveryMs = 50;
/// Question and answer may be lost several times where others still fill the line.
constexpr int kAnswerPatienceMs = 10'000;
constexpr int kConnectionsForAnswer = 3;
/// Nearer datagrams go out together: a processor does not wake up more often than this.
constexpr std::int64_t kLeastSleepNs = 20'000;

}  // namespace

std::optional<std::int64_t> ask_sink(const os::FileDescriptor& line, std::uint64_t stream,
                                     const transport::tcp::Token& token, int patience_ms) {
  const FrameBytes query = encode({.kind = FrameKind::Query, .number = stream}, token);
  if (::send(line.get(), query.data(), query.size(), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(query.size())) {
    return {};
  }
  AnswerBytes answer = {};
  std::size_t read = 0;
  const std::int64_t until = os::monotonic_ns() + std::int64_t{1'000'000} * patience_ms;
  while (read < answer.size()) {
    pollfd wait{.fd = line.get(), .events = POLLIN, .revents = 0};
    const std::int64_t left_ms = (until - os::monotonic_ns()) / 1'000'000;
    if (left_ms <= 0 || ::poll(&wait, 1, static_cast<int>(left_ms)) == 0) return {};
    const ssize_t count = ::recv(line.get(), answer.data() + read, answer.size() - read, 0);
    if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)) return {};
    if (count > 0) read += static_cast<std::size_t>(count);
  }
  return static_cast<std::int64_t>(decode_answer(answer));
}

/// Datagrams that are sent with one call: equal but for their headers.
class DatagramPlayer::Batch {
 public:
  Batch(std::int64_t datagram_bytes, std::uint64_t stream, const transport::tcp::Token& token)
      : rest_(static_cast<std::size_t>(datagram_bytes) - kFrameBytes),
        stream_(stream),
        token_(token) {
    for (std::size_t i = 0; i < kBatch; ++i) {
      pieces_[i] = {{{.iov_base = headers_[i].data(), .iov_len = kFrameBytes},
                     {.iov_base = rest_.data(), .iov_len = rest_.size()}}};
      messages_[i].msg_hdr.msg_iov = pieces_[i].data();
      messages_[i].msg_hdr.msg_iovlen = 2;
    }
  }
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

  /// Datagrams numbered from `first`; how many the kernel took, or -1 with errno.
  int send(int socket, std::int64_t first, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      headers_[i] = encode({.kind = FrameKind::Datagram,
                            .number = stream_,
                            .size = static_cast<std::uint64_t>(first) + i},
                           token_);
    }
    return ::sendmmsg(socket, messages_.data(), static_cast<unsigned>(count),
                      MSG_NOSIGNAL | MSG_DONTWAIT);
  }

 private:
  std::vector<std::byte> rest_;
  std::uint64_t stream_;
  transport::tcp::Token token_;
  std::array<FrameBytes, kBatch> headers_ = {};
  std::array<std::array<iovec, 2>, kBatch> pieces_ = {};
  std::array<mmsghdr, kBatch> messages_ = {};
};

void DatagramPlayer::connect() {
  const transport::tcp::Endpoint& to = orders_.destinations.front().endpoint;
  open_line_beside();
  const bool six = to.address.find(':') != std::string::npos;
  datagram_bytes_ = load::payload_of_packet(spec::TrafficKind::Constant,
                                            {.mtu = orders_.task.mtu, .ip_version = six ? 6 : 4});
  gap_ns_ = 8e9 * static_cast<double>(datagram_bytes_) / orders_.task.rate.bits_per_second();
  // Streams of one sink are told apart by where and when they began.
  stream_ = static_cast<std::uint64_t>(os::real_time_ns());
  socket_ = open_datagrams(to, orders_.task.address);
}

void DatagramPlayer::open_line_beside() {
  const transport::tcp::Endpoint& to = orders_.destinations.front().endpoint;
  line_ = open_line(to, orders_.task.address, "");
  wait_connected(line_, to);
  ++tally_.connections;
  // Nothing is asked before the load is over; whoever says nothing is soon dismissed.
  const FrameBytes greeting = encode({.kind = FrameKind::Greeting}, orders_.task.token);
  tally_.framing += static_cast<std::int64_t>(greeting.size());
  ::send(line_.get(), greeting.data(), greeting.size(), MSG_NOSIGNAL);
}

std::int64_t DatagramPlayer::due_ns(std::int64_t datagram) const {
  return begin_ns_ + static_cast<std::int64_t>(std::ceil(gap_ns_ * static_cast<double>(datagram)));
}

bool DatagramPlayer::is_time_over(std::int64_t now) const {
  return orders_.task.duration && now >= begin_ns_ + orders_.task.duration->count();
}

void DatagramPlayer::play(std::int64_t begin_ns) {
  ::prctl(PR_SET_TIMERSLACK, 1);
  begin_ns_ = begin_ns;
  wait_until(begin_ns_);
  try {
    send_until_the_end();
  } catch (const std::exception& error) {
    stop_.fail(error.what());
  }
  end_ns_ = std::max(begin_ns_, os::monotonic_ns());
  if (orders_.task.duration) {
    end_ns_ = std::min(end_ns_, begin_ns_ + orders_.task.duration->count());
  }
  ask_until_all_came();
  last_ns_ = os::monotonic_ns();
}

void DatagramPlayer::send_until_the_end() {
  const auto batch = std::make_unique<Batch>(datagram_bytes_, stream_, orders_.task.token);
  tally_.start(Duration(), 0);
  for (;;) {
    const std::int64_t now = os::monotonic_ns();
    if (stop_.is_raised() || is_time_over(now)) return;
    send_due(*batch, now);
    wait_until(std::max(due_ns(next_), os::monotonic_ns() + kLeastSleepNs));
  }
}

void DatagramPlayer::send_due(Batch& batch, std::int64_t now) {
  const auto late_since =
      static_cast<std::int64_t>(static_cast<double>(now - kCatchUpNs - begin_ns_) / gap_ns_);
  next_ = std::max(next_, late_since);
  while (due_ns(next_) <= now) {
    const auto due =
        static_cast<std::int64_t>(static_cast<double>(now - begin_ns_) / gap_ns_) + 1 - next_;
    const int taken = batch.send(
        socket_.get(), sent_, static_cast<std::size_t>(std::clamp<std::int64_t>(due, 1, kBatch)));
    if (taken < 0 && errno == ECONNREFUSED) {
      stop_.fail("the sink has closed its UDP port");
      return;
    }
    if (taken <= 0) return;  // no room: what is due is tried again after a sleep
    for (int i = 0; i < taken; ++i) tally_.late(Duration(now - due_ns(next_ + i)));
    next_ += taken;
    sent_ += taken;
    tally_.sent.fetch_add(taken * datagram_bytes_, std::memory_order_relaxed);
  }
}

void DatagramPlayer::wait_until(std::int64_t time_ns) const {
  std::int64_t end = time_ns;
  if (orders_.task.duration) end = std::min(end, begin_ns_ + orders_.task.duration->count());
  while (!stop_.is_raised()) {
    const std::int64_t left = end - os::monotonic_ns();
    if (left <= 0) return;
    pollfd wait{.fd = stop_.descriptor(), .events = POLLIN, .revents = 0};
    const timespec timeout{.tv_sec = static_cast<time_t>(left / 1'000'000'000),
                           .tv_nsec = static_cast<long>(left % 1'000'000'000)};
    ::ppoll(&wait, 1, &timeout, nullptr);
  }
}

std::optional<std::int64_t> DatagramPlayer::ask_patiently() {
  for (int i = 1;; ++i) {
    const auto told = ask_sink(line_, stream_, orders_.task.token, kAnswerPatienceMs);
    tally_.framing += static_cast<std::int64_t>(kFrameBytes);
    if (told || i == kConnectionsForAnswer) return told;
    try {
      open_line_beside();
    } catch (const Error&) {
      return {};
    }
  }
}

void DatagramPlayer::ask_until_all_came() {
  std::int64_t came = 0;
  for (int i = 0; i < kAsks; ++i) {
    const auto told = ask_patiently();
    if (!told) {
      stop_.fail("the sink does not say how many datagrams came: is it gone?");
      break;
    }
    // Nothing more came for a while: the rest is lost.
    if (*told == sent_ || (i > 1 && *told == came)) {
      came = *told;
      break;
    }
    came = *told;
    std::this_thread::sleep_for(std::chrono::milliseconds(kAskEveryMs));
  }
  tally_.datagrams_sent = sent_;
  tally_.datagrams_received = came;
  tally_.acknowledged = came * datagram_bytes_;
  tally_.acknowledged_in_time = tally_.acknowledged;
  tally_.offered = tally_.sent;
  tally_.finished = 1;
}

}  // namespace tw::traffic
