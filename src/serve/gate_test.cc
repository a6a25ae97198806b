// SPDX-License-Identifier: Apache-2.0
#include "trainwire/serve/gate.h"

#include "trainwire/base/error.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <condition_variable>
#include <mutex>
#include <vector>

namespace tw::serve {
namespace {

using std::chrono::milliseconds;

/// A gate, and what came through it.
class Entrance {
 public:
  explicit Entrance(const Gate::Limits& limits) : gate_(kLoopback, 0, limits) {
    gate_.open([this](Arrival arrival) {
      const std::lock_guard lock(mutex_);
      arrivals_.push_back(std::move(arrival));
      changed_.notify_all();
    });
  }

  int port() const { return gate_.port(); }

  os::FileDescriptor connect() const {
    os::FileDescriptor fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port()));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    return fd;
  }

  /// The first `count` arrivals; fewer when ten seconds do not bring them.
  std::vector<std::string> arrived(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(10), [&] { return arrivals_.size() >= count; });
    std::vector<std::string> heads;
    for (const Arrival& arrival : arrivals_) heads.push_back(arrival.bytes);
    return heads;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Arrival> arrivals_;
  Gate gate_;
};

void say(const os::FileDescriptor& fd, const std::string& text) {
  ::send(fd.get(), text.data(), text.size(), MSG_NOSIGNAL);
}

/// What the gate says before it closes; waits ten seconds at most.
std::string answer_to(const os::FileDescriptor& fd) {
  std::string text;
  char block[4096];
  pollfd one{.fd = fd.get(), .events = POLLIN, .revents = 0};
  while (::poll(&one, 1, 10'000) > 0) {
    const auto length = ::recv(fd.get(), block, sizeof block, 0);
    if (length <= 0) return text;
    text.append(block, static_cast<std::size_t>(length));
  }
  return text + "(still open)";
}

TEST(Gate, HandsOnAWholeHeadAndWhatCameOfTheBody) {
  Entrance entrance({});
  const os::FileDescriptor slow = entrance.connect(), quick = entrance.connect();
  say(slow, "POST / HTTP/1.1\r\nHost: x\r");
  say(quick, "GET / HTTP/1.1\n\r\nbody");
  EXPECT_THAT(entrance.arrived(1), testing::ElementsAre("GET / HTTP/1.1\n\r\nbody"));
  say(slow, "\n\r");
  say(slow, "\n");
  EXPECT_EQ(entrance.arrived(2).back(), "POST / HTTP/1.1\r\nHost: x\r\n\r\n");
}

TEST(Gate, RefusesAHeadThatIsTooLarge) {
  Entrance entrance({.head_bytes = 100});
  const os::FileDescriptor endless = entrance.connect();
  say(endless, "GET / HTTP/1.1\r\nX: " + std::string(200, 'a'));
  EXPECT_THAT(answer_to(endless), testing::StartsWith("HTTP/1.1 431 "));
  const os::FileDescriptor whole = entrance.connect();
  say(whole, "GET / HTTP/1.1\r\nX: " + std::string(200, 'a') + "\r\n\r\n");
  EXPECT_THAT(answer_to(whole), testing::StartsWith("HTTP/1.1 431 "));
  EXPECT_TRUE(entrance.arrived(0).empty());
}

TEST(Gate, RefusesAHeadThatDripsPastItsTime) {
  Entrance entrance({.head_time = milliseconds(50)});
  const os::FileDescriptor silent = entrance.connect();
  say(silent, "GET");
  EXPECT_THAT(answer_to(silent), testing::StartsWith("HTTP/1.1 408 "));
}

TEST(Gate, LetsTheOldestGoWhenTooManyWait) {
  Entrance entrance({.waiting = 2});
  const os::FileDescriptor first = entrance.connect(), second = entrance.connect(),
                           third = entrance.connect();
  EXPECT_EQ(answer_to(first), "");
  say(second, "GET /2 HTTP/1.1\r\n\r\n");
  EXPECT_EQ(entrance.arrived(1).size(), 1U);
}

TEST(Gate, SaysWhichPortIsTaken) {
  Entrance entrance({});
  EXPECT_THROW(Gate(kLoopback, entrance.port(), {}), SystemError);
}

}  // namespace
}  // namespace tw::serve
