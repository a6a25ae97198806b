// SPDX-License-Identifier: Apache-2.0
#include "trainwire/carrier/tcp_counts.h"

#include "trainwire/transport/tcp/socket.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <poll.h>

#include <thread>

namespace tw::carrier {
namespace {

using transport::tcp::Listener;

/// Both ends of a connection in this process.
struct Ends {
  Listener listener{"127.0.0.1"};
  os::FileDescriptor one = transport::tcp::begin_connect(listener.endpoint(), "127.0.0.1");
  os::FileDescriptor other = accepted();

  os::FileDescriptor accepted() const {
    pollfd wait{.fd = listener.descriptor(), .events = POLLIN, .revents = 0};
    ::poll(&wait, 1, 5000);
    return listener.accept();
  }
};

const TcpCount* find(const std::vector<TcpCount>& counts, const std::string& to) {
  for (const TcpCount& count : counts) {
    if (count.to == to) return &count;
  }
  return nullptr;
}

TEST(TcpCounts, AreKnownAfterTheOwnerHasClosed) {
  Ends ends;
  const std::string to = fmt::format("127.0.0.1:{}", ends.listener.endpoint().port);
  const std::vector<std::byte> bytes(1234);
  ASSERT_EQ(transport::tcp::send_some(ends.one.get(), bytes).bytes, bytes.size());
  std::vector<std::byte> into(4096);
  pollfd wait{.fd = ends.other.get(), .events = POLLIN, .revents = 0};
  ASSERT_EQ(::poll(&wait, 1, 5000), 1);
  ASSERT_EQ(transport::tcp::receive_some(ends.other.get(), into).bytes, bytes.size());
  const HeldConnections held;
  ends.one = {};
  ends.other = {};
  held.await_closing();
  const std::vector<TcpCount> counts = held.counts();
  const TcpCount* const sent = find(counts, to);
  ASSERT_NE(sent, nullptr);
  EXPECT_EQ(sent->sent, 1234);
  EXPECT_EQ(sent->received, 0);
  const TcpCount* const received = find(counts, sent->from);
  ASSERT_NE(received, nullptr);
  EXPECT_EQ(received->received, 1234);
  EXPECT_EQ(received->sent, 0);
}

TEST(TcpCounts, LeaveOutWhatIsNotConnected) {
  const Listener listener("127.0.0.1");
  for (const TcpCount& count : HeldConnections().counts()) {
    EXPECT_NE(count.from, fmt::format("127.0.0.1:{}", listener.endpoint().port));
  }
}

}  // namespace
}  // namespace tw::carrier
