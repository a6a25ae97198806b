// SPDX-License-Identifier: Apache-2.0
#include "trainwire/cli/test_program.h"
#include "trainwire/result/test_folder.h"

#include <gmock/gmock.h>
#include <netinet/in.h>
#include <nlohmann/json.hpp>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

namespace tw::cli {
namespace {

using result::TestFolder;
using testing::AllOf;
using testing::HasSubstr;
using testing::MatchesRegex;

/// SIGTERM waits for the server while one of these lives: it ends as soon as it has started.
class EndAtOnce {
 public:
  EndAtOnce() {
    sigset_t signals;
    ::sigemptyset(&signals);
    ::sigaddset(&signals, SIGTERM);
    ::pthread_sigmask(SIG_BLOCK, &signals, &before_);
    ::pthread_kill(::pthread_self(), SIGTERM);
  }
  ~EndAtOnce() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_ = {};
};

TEST(ServeCommand, PrintsTheAddressAndEndsWithASignal) {
  const TestFolder folder;
  const EndAtOnce end;
  const Result result = trainwire({"serve", folder / ""});
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.out, MatchesRegex("http://127.0.0.1:[0-9]+/\\?token=[0-9a-f]{32}\n"));
  EXPECT_THAT(result.err, HasSubstr("Ctrl-C ends it"));
}

TEST(ServeCommand, TellsTheAddressAsJson) {
  const TestFolder folder;
  const EndAtOnce end;
  const Result result = trainwire({"serve", folder / "", "--json"});
  const auto document = nlohmann::json::parse(result.out);
  EXPECT_EQ(document["schema"], 1);
  EXPECT_THAT(document["address"].get<std::string>(),
              HasSubstr(":" + std::to_string(document["port"].get<int>()) + "/?token="));
}

TEST(ServeCommand, DrawsANewTokenEachTime) {
  const TestFolder folder;
  std::string first;
  {
    const EndAtOnce end;
    first = trainwire({"serve", folder / ""}).out;
  }
  const EndAtOnce end;
  const std::string second = trainwire({"serve", folder / ""}).out;
  EXPECT_NE(first.substr(first.find("token=")), second.substr(second.find("token=")));
}

TEST(ServeCommand, SaysThatAPortIsTaken) {
  const TestFolder folder;
  const int taken = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  ASSERT_EQ(::bind(taken, reinterpret_cast<sockaddr*>(&address), length), 0);
  ASSERT_EQ(::listen(taken, 1), 0);
  ::getsockname(taken, reinterpret_cast<sockaddr*>(&address), &length);
  const std::string port = std::to_string(ntohs(address.sin_port));
  const Result result = trainwire({"serve", folder / "", "--port", port});
  ::close(taken);
  EXPECT_EQ(result.code, 3);
  EXPECT_THAT(result.err, AllOf(HasSubstr("listening on 127.0.0.1:" + port), HasSubstr("in use"),
                                HasSubstr("--port")));
}

TEST(ServeCommand, RefusesWhatItCannotServe) {
  const TestFolder folder;
  EXPECT_EQ(trainwire({"serve", folder / "absent"}).code, 3);
  EXPECT_EQ(trainwire({"serve", folder / "", "--port", "65536"}).code, 2);
  EXPECT_EQ(trainwire({"serve", folder / "", "--port", "-1"}).code, 2);
  const Result limit = trainwire({"serve", folder / "", "--upload-limit", "much"});
  EXPECT_EQ(limit.code, 2);
  EXPECT_THAT(limit.err, HasSubstr("like 500MB"));
}

}  // namespace
}  // namespace tw::cli
