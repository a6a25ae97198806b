// SPDX-License-Identifier: Apache-2.0
#include "trainwire/transport/tcp/mesh.h"

#include "trainwire/base/error.h"
#include "trainwire/os/clock.h"
#include "trainwire/os/errno_error.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace tw::transport::tcp {
namespace {

/// Strangers may connect, but not fill our memory.
constexpr std::size_t kMostStrangers = 64;
constexpr std::int64_t kRetryNs = 100'000'000;

/// A connection whose two hellos are on their way.
struct Greeting {
  os::FileDescriptor socket;
  std::optional<Hello> awaited;  ///< who must answer, when we connected; anybody otherwise
  HelloBytes sent = {};
  std::size_t sent_bytes = 0;
  HelloBytes received = {};
  std::size_t received_bytes = 0;
  bool may_send = false;
};

enum class Progress { Waiting, Done, Broken };

class Meeting {
 public:
  Meeting(const Listener& listener, const Peering& peering)
      : listener_(listener),
        peering_(peering),
        limit_ns_(os::monotonic_ns() + peering.patience.count()) {
    for (const int peer : peering.peers) {
      check(peer != peering.rank, "nobody connects with itself");
      for (int lane = 0; lane < peering.lanes; ++lane) {
        missing_.push_back({.rank = peer, .lane = lane});
      }
    }
    missing_.insert(missing_.end(), peering.more.begin(), peering.more.end());
    for (const Hello& whom : missing_) {
      if (whom.rank < peering.rank) begin(whom);
    }
  }

  std::vector<Connection> run() && {
    while (!missing_.empty()) {
      wait();
      retry();
      accept();
      for (Greeting& greeting : greetings_) advance(greeting);
      std::erase_if(greetings_, [](const Greeting& g) { return !g.socket.is_open(); });
    }
    std::sort(made_.begin(), made_.end(), [](const Connection& a, const Connection& b) {
      return std::pair(a.peer, a.lane) < std::pair(b.peer, b.lane);
    });
    return std::move(made_);
  }

 private:
  void begin(const Hello& whom) {
    const auto to = static_cast<std::size_t>(whom.rank);
    check(to < peering_.endpoints.size(), "every peer has an endpoint");
    greetings_.push_back(
        {.socket = begin_connect(peering_.endpoints[to], listener_.endpoint().address),
         .awaited = whom,
         .sent = encode({.rank = peering_.rank, .lane = whom.lane}, peering_.token),
         .may_send = true});
  }

  void wait() {
    const std::int64_t left = limit_ns_ - os::monotonic_ns();
    if (left <= 0) throw Unreachable(complaint(), missing_ranks());
    if (peering_.look) peering_.look();
    std::vector<pollfd> waits{{.fd = listener_.descriptor(), .events = POLLIN, .revents = 0}};
    for (const Greeting& g : greetings_) {
      const bool sending = g.may_send && g.sent_bytes < kHelloBytes;
      waits.push_back({.fd = g.socket.get(),
                       .events = static_cast<short>(sending ? POLLIN | POLLOUT : POLLIN),
                       .revents = 0});
    }
    const bool returns_soon = !failed_.empty() || peering_.look;
    const std::int64_t most = returns_soon ? std::min(left, kRetryNs) : left;
    ::poll(waits.data(), waits.size(), static_cast<int>(most / 1'000'000) + 1);
  }

  /// Those that were refused or broken before they were sure of each other.
  void retry() {
    if (failed_.empty() || os::monotonic_ns() < retry_ns_) return;
    for (const Hello& whom : std::exchange(failed_, {})) begin(whom);
  }

  void accept() {
    while (greetings_.size() < missing_.size() + kMostStrangers) {
      os::FileDescriptor socket = listener_.accept();
      if (!socket.is_open()) return;
      greetings_.push_back({.socket = std::move(socket), .awaited = {}});
    }
  }

  void advance(Greeting& greeting) {
    Progress progress = greet(greeting);
    if (progress == Progress::Done && greeting.awaited) keep(greeting, *greeting.awaited);
    if (progress != Progress::Broken) return;
    if (greeting.awaited && greeting.awaited->rank < peering_.rank) {
      failed_.push_back(*greeting.awaited);
      retry_ns_ = os::monotonic_ns() + kRetryNs;
    }
    greeting.socket = {};
  }

  /// Moves what can be moved of both hellos.
  Progress greet(Greeting& g) {
    if (!send_hello(g) || !receive_hello(g)) return Progress::Broken;
    if (g.received_bytes == kHelloBytes && !g.may_send && !recognise(g)) return Progress::Broken;
    if (!send_hello(g)) return Progress::Broken;
    const bool done = g.sent_bytes == kHelloBytes && g.received_bytes == kHelloBytes;
    if (!done) return Progress::Waiting;
    return decode(g.received, peering_.token) == g.awaited ? Progress::Done : Progress::Broken;
  }

  static bool send_hello(Greeting& g) {
    if (!g.may_send || g.sent_bytes == kHelloBytes) return true;
    if (pending_error(g.socket) != 0) return false;
    const Moved moved = send_some(g.socket.get(), std::span(g.sent).subspan(g.sent_bytes));
    g.sent_bytes += moved.bytes;
    // Not connected yet is no failure.
    return moved.error == 0 || moved.error == ENOTCONN;
  }

  static bool receive_hello(Greeting& g) {
    if (g.received_bytes == kHelloBytes) return true;
    const Moved moved =
        receive_some(g.socket.get(), std::span(g.received).subspan(g.received_bytes));
    g.received_bytes += moved.bytes;
    return !moved.closed && (moved.error == 0 || moved.error == ENOTCONN);
  }

  /// Whoever connected to us has said who it is: is it expected?
  bool recognise(Greeting& g) {
    const std::optional<Hello> who = decode(g.received, peering_.token);
    if (!who || std::find(missing_.begin(), missing_.end(), *who) == missing_.end()) return false;
    g.awaited = who;
    g.sent = encode({.rank = peering_.rank, .lane = who->lane}, peering_.token);
    g.may_send = true;
    return who->rank > peering_.rank;
  }

  void keep(Greeting& greeting, const Hello& who) {
    const auto at = std::find(missing_.begin(), missing_.end(), who);
    if (at == missing_.end()) {
      greeting.socket = {};
      return;
    }
    missing_.erase(at);
    made_.push_back(
        {.peer = who.rank, .lane = who.lane, .socket = std::exchange(greeting.socket, {})});
  }

  std::vector<int> missing_ranks() const {
    std::vector<int> ranks;
    for (const Hello& whom : missing_) {
      if (ranks.empty() || ranks.back() != whom.rank) ranks.push_back(whom.rank);
    }
    return ranks;
  }

  std::string complaint() const {
    return fmt::format("rank {} could not be reached within {}; {} of {} connections are missing",
                       missing_.front().rank, readable(peering_.patience), missing_.size(),
                       missing_.size() + made_.size());
  }

  const Listener& listener_;
  const Peering& peering_;
  std::int64_t limit_ns_;
  std::int64_t retry_ns_ = 0;
  std::vector<Hello> missing_;
  std::vector<Hello> failed_;
  std::vector<Greeting> greetings_;
  std::vector<Connection> made_;
};

}  // namespace

std::vector<Connection> connect_all(const Listener& listener, const Peering& peering) {
  return Meeting(listener, peering).run();
}

}  // namespace tw::transport::tcp
