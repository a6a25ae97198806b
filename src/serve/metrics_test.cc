// SPDX-License-Identifier: Apache-2.0
#include "trainwire/serve/metrics.h"

#include "trainwire/base/error.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

namespace tw::serve {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

int port_in(const MetricsServer& server) {
  const std::string address = server.address();
  return std::atoi(address.substr(address.rfind(':') + 1).c_str());
}

/// All that is answered to a GET with these header lines.
std::string asked(const MetricsServer& server, const std::string& path, const std::string& lines) {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(port_in(server)));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::connect(socket, reinterpret_cast<sockaddr*>(&to), sizeof to), 0);
  const std::string head = "GET " + path + " HTTP/1.1\r\n" + lines + "\r\n";
  EXPECT_EQ(::send(socket, head.data(), head.size(), 0), static_cast<ssize_t>(head.size()));
  std::string answer;
  std::array<char, 4096> block;
  for (ssize_t length = 1; length > 0;) {
    length = ::recv(socket, block.data(), block.size(), 0);
    if (length > 0) answer.append(block.data(), static_cast<std::size_t>(length));
  }
  ::close(socket);
  return answer;
}

MetricsOptions some(const std::string& token) {
  return {.address = "127.0.0.1",
          .token = token,
          .content_type = "application/openmetrics-text; version=1.0.0; charset=utf-8",
          .text = [] { return std::string("x_total 1\n# EOF\n"); }};
}

TEST(Metrics, ThisMachineAsksWithoutAToken) {
  const MetricsServer server(some(""));
  const std::string host = "Host: localhost:" + std::to_string(port_in(server)) + "\r\n";
  const std::string answer = asked(server, "/metrics", host);
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(
      answer,
      HasSubstr("Content-Type: application/openmetrics-text; version=1.0.0; charset=utf-8"));
  EXPECT_TRUE(answer.ends_with("x_total 1\n# EOF\n"));
  EXPECT_THAT(asked(server, "/", host), StartsWith("HTTP/1.1 404"));
  // Names of others that lead here, and pages of other sites.
  EXPECT_THAT(asked(server, "/metrics", "Host: evil.example\r\n"), StartsWith("HTTP/1.1 403"));
  EXPECT_THAT(asked(server, "/metrics", host + "Origin: http://evil.example\r\n"),
              StartsWith("HTTP/1.1 403"));
}

TEST(Metrics, OthersNeedTheToken) {
  const MetricsServer server(some("secret"));
  const std::string host = "Host: node7:9464\r\n";
  EXPECT_THAT(asked(server, "/metrics", host), StartsWith("HTTP/1.1 401"));
  EXPECT_THAT(asked(server, "/metrics", host + "Authorization: Bearer secreT\r\n"),
              StartsWith("HTTP/1.1 401"));
  EXPECT_THAT(asked(server, "/metrics", host + "Authorization: Bearer secret\r\n"),
              StartsWith("HTTP/1.1 200"));
}

TEST(Metrics, WhatCannotBeListenedOnIsSaid) {
  MetricsOptions options = some("secret");
  options.address = "nowhere";
  EXPECT_THROW(MetricsServer{options}, SpecError);
  EXPECT_TRUE(is_loopback("::1"));
  EXPECT_FALSE(is_loopback("0.0.0.0"));
}

}  // namespace
}  // namespace tw::serve
