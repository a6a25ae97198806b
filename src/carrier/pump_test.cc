// SPDX-License-Identifier: Apache-2.0
#include "trainwire/carrier/pump.h"

#include "trainwire/carrier/local.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <array>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

namespace tw::carrier {
namespace {

using Message = std::vector<std::byte>;

/// What one end sends the same end receives: a library whose network is a queue.
class Echo : public Link {
 public:
  std::span<std::byte> room() override { return room_; }
  bool send(std::size_t bytes) override {
    const std::lock_guard lock(mutex_);
    queue_.emplace_back(room_.begin(), room_.begin() + static_cast<std::ptrdiff_t>(bytes));
    changed_.notify_all();
    return true;
  }
  std::span<const std::byte> receive() override {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return closed_ || !queue_.empty(); });
    if (queue_.empty()) return {};
    last_ = std::move(queue_.front());
    queue_.pop_front();
    return last_;
  }
  void close() override {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }

 private:
  std::vector<std::byte> room_ = std::vector<std::byte>(1000);
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Message> queue_;
  Message last_;
  bool closed_ = false;
};

TEST(Pump, MovesEveryByteInOrder) {
  auto [ours, theirs] = make_stream();
  Echo echo;
  const Pump pump(std::move(theirs), echo);
  std::string sent;
  for (int i = 0; i < 50'000; ++i) sent += static_cast<char>('a' + i % 23);
  os::write_all(ours, std::as_bytes(std::span(sent)), "the stream");
  std::string heard(sent.size(), ' ');
  for (std::size_t at = 0; at < heard.size();) {
    const auto count = os::read_some(ours, std::as_writable_bytes(std::span(heard)).subspan(at));
    ASSERT_GT(count, 0);
    at += static_cast<std::size_t>(count);
  }
  EXPECT_EQ(heard, sent);
}

TEST(Pump, ALinkThatIsOverEndsTheStream) {
  auto [ours, theirs] = make_stream();
  Echo echo;
  const Pump pump(std::move(theirs), echo);
  echo.close();
  std::array<std::byte, 8> bytes = {};
  EXPECT_EQ(os::read_some(ours, bytes), 0);
}

TEST(Pump, EndsWhenTheRankIsGone) {
  auto [ours, theirs] = make_stream();
  Echo echo;
  {
    const Pump pump(std::move(theirs), echo);
    ours = {};
  }
  SUCCEED();  // its threads have ended
}

}  // namespace
}  // namespace tw::carrier
