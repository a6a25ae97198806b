// SPDX-License-Identifier: Apache-2.0
#include "trainwire/traffic/sink_worker.h"

#include "trainwire/os/clock.h"
#include "trainwire/os/errno_error.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace tw::traffic {
namespace {

constexpr std::size_t kDiscard = 4 << 20;
constexpr int kEvents = 64;
constexpr std::int64_t kMostBetweenSweepsMs = 1000;
/// Reads of one connection before the next one's turn.
constexpr int kTurn = 8;
constexpr std::size_t kMostStreams = 1000;

std::int64_t load(const std::atomic<std::int64_t>& value) {
  return value.load(std::memory_order_relaxed);
}

void add(std::atomic<std::int64_t>& value, std::int64_t more) {
  value.fetch_add(more, std::memory_order_relaxed);
}

}  // namespace

SinkCounts SinkTally::counts() const {
  return {.received = Bytes(load(received)),
          .flows = load(flows),
          .connections = load(connections),
          .refused = load(refused),
          .datagrams = load(datagrams),
          .datagram_bytes = Bytes(load(datagram_bytes))};
}

void DatagramBook::add(std::uint64_t stream, std::int64_t datagrams) {
  const std::lock_guard lock(mutex_);
  const bool known = counts_.contains(stream) || counts_.size() < kMostStreams;
  counts_[known ? stream : UINT64_MAX] += datagrams;
}

std::int64_t DatagramBook::count(std::uint64_t stream) const {
  const std::lock_guard lock(mutex_);
  const auto found = counts_.find(stream);
  return found == counts_.end() ? 0 : found->second;
}

SinkWorker::SinkWorker(SinkShared& shared)
    : shared_(shared),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      nowhere_(std::make_unique_for_overwrite<std::byte[]>(kDiscard)) {
  if (!epoll_.is_open()) throw os::errno_error("waiting for connections", errno);
  epoll_event event{.events = EPOLLIN, .data = {.ptr = nullptr}};
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, shared_.stop.descriptor(), &event);
}

void SinkWorker::adopt(os::FileDescriptor socket) {
  auto guest = std::make_unique<Guest>();
  guest->socket = std::move(socket);
  guest->since_ns = os::monotonic_ns();
  Guest* const added = guest.get();
  const std::lock_guard lock(mutex_);
  guests_.emplace(added, std::move(guest));
  epoll_event event{.events = EPOLLIN, .data = {.ptr = added}};
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, added->socket.get(), &event);
}

void SinkWorker::run() {
  std::array<epoll_event, kEvents> events = {};
  const std::int64_t sweep_every_ms = std::clamp<std::int64_t>(
      shared_.stranger_patience / std::chrono::milliseconds(1), 1, kMostBetweenSweepsMs);
  std::int64_t sweep_at = 0;
  while (!shared_.stop.is_raised()) {
    const int count =
        ::epoll_wait(epoll_.get(), events.data(), kEvents, static_cast<int>(sweep_every_ms));
    for (int i = 0; i < count; ++i) {
      auto* const guest = static_cast<Guest*>(events[static_cast<std::size_t>(i)].data.ptr);
      if (guest != nullptr) serve(*guest);
    }
    const std::int64_t now = os::monotonic_ns();
    if (now < sweep_at) continue;
    dismiss_strangers();
    sweep_at = now + std::int64_t{1'000'000} * sweep_every_ms;
  }
}

void SinkWorker::serve(Guest& guest) {
  for (int turn = 0; turn < kTurn; ++turn) {
    const Served served = guest.left > 0 ? discard(guest) : read_header(guest);
    if (served == Served::Done) return;
  }
}

SinkWorker::Served SinkWorker::discard(Guest& guest) {
  const std::size_t most = std::min<std::uint64_t>(guest.left, kDiscard);
  // MSG_TRUNC on TCP: dropped without being copied (tcp(7)).
  const ssize_t count = ::recv(guest.socket.get(), nowhere_.get(), most, MSG_TRUNC | MSG_DONTWAIT);
  if (count <= 0) {
    if (count == 0 || (errno != EAGAIN && errno != EINTR)) dismiss(guest);
    return Served::Done;
  }
  add(shared_.tally.received, count);
  if (guest.frame.size == kEndless) return Served::WantsMore;
  guest.left -= static_cast<std::uint64_t>(count);
  return guest.left == 0 ? complete(guest) : Served::WantsMore;
}

SinkWorker::Served SinkWorker::read_header(Guest& guest) {
  const ssize_t count = ::recv(guest.socket.get(), guest.header.data() + guest.header_read,
                               guest.header.size() - guest.header_read, MSG_DONTWAIT);
  if (count <= 0) {
    if (count == 0 || (errno != EAGAIN && errno != EINTR)) dismiss(guest);
    return Served::Done;
  }
  guest.header_read += static_cast<std::size_t>(count);
  if (guest.header_read < guest.header.size()) return Served::WantsMore;
  guest.header_read = 0;
  const auto frame = decode(guest.header, shared_.token);
  if (frame) return begin(guest, *frame);
  add(shared_.tally.refused, 1);
  dismiss(guest);
  return Served::Done;
}

SinkWorker::Served SinkWorker::begin(Guest& guest, const Frame& frame) {
  guest.greeted = true;
  guest.frame = frame;
  switch (frame.kind) {
    case FrameKind::Flow:
    case FrameKind::LastFlow:
      guest.left = frame.size;
      return frame.size == 0 ? complete(guest) : Served::WantsMore;
    case FrameKind::Query:
      return answer(guest, static_cast<std::uint64_t>(shared_.book.count(frame.number)));
    case FrameKind::Greeting:
      return Served::WantsMore;
    case FrameKind::Datagram:
      break;
  }
  dismiss(guest);
  return Served::Done;
}

SinkWorker::Served SinkWorker::complete(Guest& guest) {
  add(shared_.tally.flows, 1);
  const Served served = answer(guest, guest.frame.number);
  if (served == Served::WantsMore && guest.frame.kind == FrameKind::LastFlow) {
    // Whoever closes first keeps the port for a minute; here it is the same one for all.
    dismiss(guest);
    return Served::Done;
  }
  return served;
}

SinkWorker::Served SinkWorker::answer(Guest& guest, std::uint64_t value) {
  const AnswerBytes bytes = encode_answer(value);
  const ssize_t count =
      ::send(guest.socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (count == static_cast<ssize_t>(bytes.size())) return Served::WantsMore;
  // Whoever does not read its answers is no sender of ours.
  dismiss(guest);
  return Served::Done;
}

void SinkWorker::dismiss(Guest& guest) {
  const std::lock_guard lock(mutex_);
  guests_.erase(&guest);
  add(shared_.tally.live, -1);
}

void SinkWorker::dismiss_strangers() {
  const std::int64_t before = os::monotonic_ns() - shared_.stranger_patience.count();
  const std::lock_guard lock(mutex_);
  const std::size_t gone = std::erase_if(guests_, [&](const auto& entry) {
    return !entry.second->greeted && entry.second->since_ns < before;
  });
  add(shared_.tally.live, -static_cast<std::int64_t>(gone));
  add(shared_.tally.refused, static_cast<std::int64_t>(gone));
}

}  // namespace tw::traffic
