// SPDX-License-Identifier: Apache-2.0
#include "trainwire/fleet/handshake.h"

#include "trainwire/base/error.h"
#include "trainwire/fleet/device.h"
#include "trainwire/fleet/host.h"
#include "trainwire/fleet/host_process.h"
#include "trainwire/os/clock.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <array>
#include <filesystem>
#include <future>

namespace tw::fleet {
namespace {

using nlohmann::json;
using std::chrono::seconds;
using testing::HasSubstr;
using testing::Not;
using transport::tcp::make_token;
using transport::tcp::Token;

std::array<Link, 2> make_links() {
  std::array<int, 2> ends = {};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
  return {Link(os::FileDescriptor(ends[0]), kMostHello),
          Link(os::FileDescriptor(ends[1]), kMostHello)};
}

/// What comes next from the other end; null when it has gone.
json heard(Link& link) {
  for (const auto limit = os::monotonic_ns() + 20'000'000'000; os::monotonic_ns() < limit;) {
    link.pump();
    if (const auto frame = link.next()) return message_of(*frame);
    if (!link.is_open()) break;
    pollfd waited{.fd = link.descriptor(), .events = POLLIN, .revents = 0};
    ::poll(&waited, 1, 10);
  }
  return {};
}

/// "" when host and run have met, otherwise why not. `play` is the run.
template <typename Play>
std::string meeting_of(const Token& token, Play play) {
  auto links = make_links();
  auto host = std::async(std::launch::async, [&]() -> std::string {
    try {
      meet_run(links[0], token, {{"number", 3}}, seconds(20), [] {});
    } catch (const Error& error) {
      links[0].close();
      return error.what();
    }
    return "";
  });
  play(links[1]);
  return host.get();
}

TEST(Handshake, IsDoneWhenBothKnowTheToken) {
  const Token token = make_token();
  const Nonce nonce = make_token();
  json hello;
  EXPECT_EQ(meeting_of(token,
                       [&](Link& run) {
                         run.send(json{{"nonce", transport::tcp::text_of(nonce)}});
                         hello = heard(run);
                         const auto answer = answer_to(hello, token, nonce);
                         ASSERT_TRUE(answer);
                         run.send(json{{"proof", *answer}});
                         run.flush(seconds(5));
                       }),
            "");
  EXPECT_EQ(hello.at("number"), 3);
  EXPECT_THAT(hello.dump(), Not(HasSubstr(transport::tcp::text_of(token))));
  EXPECT_FALSE(answer_to(hello, token, make_token())) << "said again on another connection";
  EXPECT_FALSE(answer_to(hello, make_token(), nonce)) << "by another token";
}

TEST(Handshake, RefusesAHostThatDoesNotKnowTheToken) {
  const Token token = make_token();
  const Nonce nonce = make_token();
  const std::string own = transport::tcp::text_of(make_token());
  for (const json& hello :
       {json(), json(3), json{{"token", transport::tcp::text_of(token)}},
        json{{"nonce", own}, {"proof", std::string(64, '0')}}, json{{"nonce", own}, {"proof", 1}},
        json{{"nonce", "short"}, {"proof", ""}}}) {
    EXPECT_FALSE(answer_to(hello, token, nonce)) << hello.dump();
  }
}

TEST(Handshake, TurnsAwayFromARunThatDoesNotKnowTheToken) {
  const json nonce{{"nonce", transport::tcp::text_of(make_token())}};
  for (const bool mirrors : {false, true}) {
    EXPECT_THAT(meeting_of(make_token(),
                           [&](Link& run) {
                             run.send(nonce);
                             const json hello = heard(run);
                             run.send(mirrors ? json{{"proof", hello.at("proof")}}
                                              : json{{"proof", std::string(64, 'a')}});
                             run.flush(seconds(5));
                             EXPECT_EQ(heard(run), json());
                           }),
                HasSubstr("has not proven that he knows the run's token"));
  }
  for (const json& first : {json{{"begin", 1}}, json{{"start", 1}}, json(1), json()}) {
    EXPECT_THAT(meeting_of(make_token(),
                           [&](Link& run) {
                             run.send(first);
                             run.flush(seconds(5));
                           }),
                HasSubstr("has not proven"))
        << first.dump();
  }
}

TEST(Handshake, SaysWhyAHostWasRefused) {
  EXPECT_EQ(meeting_of(make_token(),
                       [](Link& run) {
                         run.send(json{{"refused", "full\x1b"}});
                         run.flush(seconds(5));
                       })
                .substr(0, 31),
            "the run refused this host: full");
}

TEST(Link, TakesNoMoreThanItMayBeforeThatIsLookedAt) {
  std::array<int, 2> ends = {};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
  const os::FileDescriptor writer(ends[0]);
  Link link(os::FileDescriptor(ends[1]), kMostHello);
  const int room = 1 << 20;
  ::setsockopt(writer.get(), SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
  const std::string much(std::size_t{1} << 17, 'x');
  const ssize_t sent = ::send(writer.get(), much.data(), much.size(), MSG_DONTWAIT);
  if (sent < static_cast<ssize_t>(much.size())) GTEST_SKIP() << "small buffers";
  link.pump();
  int left = 0;
  ASSERT_EQ(::ioctl(link.descriptor(), FIONREAD, &left), 0);
  EXPECT_EQ(left, 1 << 16);
  EXPECT_THROW(link.next(), DataError);
}

TEST(Host, StartsNothingForARunWithoutTheToken) {
  const std::vector<Device> here = devices();
  if (here.empty()) GTEST_SKIP() << "no network device but the loopback";
  const std::string folder = testing::TempDir() + "handshake_state";
  ::setenv("TRAINWIRE_STATE", folder.c_str(), 1);
  const std::string trace = testing::TempDir() + "handshake_trace";
  std::filesystem::remove(trace);
  Listening listening = listen_everywhere(0);
  auto host = std::async(std::launch::async, [&]() -> std::string {
    try {
      run_host({.meetings = {{here.front().address, listening.port}},
                .token = make_token(),
                .interface = here.front().name});
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  });
  pollfd waited{.fd = listening.socket.get(), .events = POLLIN, .revents = 0};
  ASSERT_EQ(::poll(&waited, 1, 20'000), 1);
  Link run(os::FileDescriptor(::accept4(listening.socket.get(), nullptr, nullptr, SOCK_CLOEXEC)),
           kMostContent);
  run.send(json{{"nonce", transport::tcp::text_of(make_token())}});
  run.send(json{{"begin", {{"folder", "/x"}, {"captures", false}, {"snap_length", 64}}}});
  Orders orders;
  orders.words = {"/bin/touch", trace};
  run.send(json{{"start", to_json(orders)}});
  run.flush(seconds(5));
  EXPECT_THAT(host.get(), HasSubstr("has not proven that he knows the run's token"));
  EXPECT_FALSE(std::filesystem::exists(trace));
  ::unsetenv("TRAINWIRE_STATE");
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace tw::fleet
