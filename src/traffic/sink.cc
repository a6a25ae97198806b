// SPDX-License-Identifier: Apache-2.0
#include "trainwire/traffic/sink.h"

#include "trainwire/base/error.h"
#include "trainwire/traffic/frame.h"
#include "trainwire/traffic/sink_worker.h"
#include "trainwire/traffic/sockets.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <thread>
#include <vector>

namespace tw::traffic {
namespace {

constexpr unsigned kMostThreads = 4;
constexpr std::int64_t kMostConnections = 20'000;
/// Descriptors that are left for everything else.
constexpr std::int64_t kSpare = 64;
constexpr std::size_t kBatch = 64;

int threads_of(const SinkTask& task) {
  if (task.threads > 0) return task.threads;
  return static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1u, kMostThreads));
}

/// Reads the headers of datagrams, many at a call; the rest of each is cut off by the kernel.
class DatagramReader {
 public:
  DatagramReader() {
    for (std::size_t i = 0; i < kBatch; ++i) {
      pieces_[i] = {.iov_base = headers_[i].data(), .iov_len = headers_[i].size()};
      messages_[i].msg_hdr.msg_iov = &pieces_[i];
      messages_[i].msg_hdr.msg_iovlen = 1;
    }
  }

  /// What has come; true when there may be more.
  bool read(int socket, SinkShared& shared) {
    const int count =
        ::recvmmsg(socket, messages_.data(), kBatch, MSG_TRUNC | MSG_DONTWAIT, nullptr);
    for (int i = 0; i < count; ++i) take(static_cast<std::size_t>(i), shared);
    return count == static_cast<int>(kBatch);
  }

 private:
  void take(std::size_t i, SinkShared& shared) {
    const unsigned length = messages_[i].msg_len;
    if (length < kFrameBytes) return;
    const auto frame = decode(headers_[i], shared.token);
    if (!frame || frame->kind != FrameKind::Datagram) return;
    shared.book.add(frame->number, 1);
    shared.tally.datagrams.fetch_add(1, std::memory_order_relaxed);
    shared.tally.datagram_bytes.fetch_add(length, std::memory_order_relaxed);
  }

  std::array<FrameBytes, kBatch> headers_ = {};
  std::array<iovec, kBatch> pieces_ = {};
  std::array<mmsghdr, kBatch> messages_ = {};
};

}  // namespace

class Sink::Impl {
 public:
  explicit Impl(const SinkTask& task)
      : sockets_(listen_on({.address = task.address, .port = task.port})),
        most_(std::min(kMostConnections,
                       static_cast<std::int64_t>(raise_descriptor_limit()) - kSpare)) {
    shared_.token = task.token;
    shared_.stranger_patience = task.stranger_patience;
    for (int i = 0; i < threads_of(task); ++i) {
      workers_.push_back(std::make_unique<SinkWorker>(shared_));
    }
    for (const auto& worker : workers_) threads_.emplace_back([&w = *worker] { w.run(); });
    threads_.emplace_back([this] { welcome(); });
  }

  ~Impl() { stop(); }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  void stop() {
    shared_.stop.raise();
    threads_.clear();
    workers_.clear();
    sockets_.tcp = {};
    sockets_.udp = {};
  }

  std::uint16_t port() const { return sockets_.port; }
  SinkCounts counts() const { return shared_.tally.counts(); }

 private:
  /// The thread that accepts connections and counts datagrams.
  void welcome() {
    std::array<pollfd, 3> waits{{{.fd = shared_.stop.descriptor(), .events = POLLIN, .revents = 0},
                                 {.fd = sockets_.tcp.get(), .events = POLLIN, .revents = 0},
                                 {.fd = sockets_.udp.get(), .events = POLLIN, .revents = 0}}};
    DatagramReader datagrams;
    while (!shared_.stop.is_raised()) {
      ::poll(waits.data(), waits.size(), -1);
      if (waits[1].revents != 0) accept_all();
      if (waits[2].revents != 0) datagrams.read(sockets_.udp.get(), shared_);
    }
  }

  void accept_all() {
    for (;;) {
      os::FileDescriptor socket(
          ::accept4(sockets_.tcp.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
      if (!socket.is_open()) {
        // Out of descriptors: those who wait are accepted when others have left.
        if (errno == EMFILE || errno == ENFILE)
          std::this_thread::sleep_for(std::chrono::milliseconds(10));
        return;
      }
      greet(std::move(socket));
    }
  }

  void greet(os::FileDescriptor socket) {
    if (shared_.tally.live.load(std::memory_order_relaxed) >= most_) {
      shared_.tally.refused.fetch_add(1, std::memory_order_relaxed);
      return;
    }
    const int yes = 1;
    ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    shared_.tally.live.fetch_add(1, std::memory_order_relaxed);
    shared_.tally.connections.fetch_add(1, std::memory_order_relaxed);
    workers_[next_++ % workers_.size()]->adopt(std::move(socket));
  }

  ListeningPair sockets_;
  std::int64_t most_;
  SinkShared shared_ = {};
  std::vector<std::unique_ptr<SinkWorker>> workers_ = {};
  std::size_t next_ = 0;
  std::vector<std::jthread> threads_ = {};
};

Sink::Sink(const SinkTask& task) : impl_(std::make_unique<Impl>(task)) {}
Sink::~Sink() = default;
std::uint16_t Sink::port() const { return impl_->port(); }
SinkCounts Sink::counts() const { return impl_->counts(); }
void Sink::stop() { impl_->stop(); }

}  // namespace tw::traffic
