// SPDX-License-Identifier: Apache-2.0
#include "trainwire/serve/guard.h"

#include "trainwire/serve/refusal.h"

#include <gmock/gmock.h>

namespace tw::serve {
namespace {

const Guard kGuard{.port = 8123, .token = "00112233445566778899aabbccddeeff"};

RequestHead asking(const std::string& path) {
  return {.method = "GET",
          .path = path,
          .hosts = {"127.0.0.1:8123"},
          .header_token = kGuard.token,
          .query_token = kGuard.token};
}

/// 200 when allowed.
int status_of(const RequestHead& head) {
  try {
    require_allowed(kGuard, head);
    return 200;
  } catch (const Refusal& refusal) {
    return refusal.status();
  }
}

TEST(Guard, LetsInWhoHasTheToken) {
  EXPECT_EQ(status_of(asking("/")), 200);
  EXPECT_EQ(status_of(asking("/api/runs")), 200);
}

TEST(Guard, WantsTheTokenOfThePageInItsQueryAndOfAllElseInTheHeader) {
  RequestHead page = asking("/");
  page.query_token = "";
  EXPECT_EQ(status_of(page), 403);
  RequestHead api = asking("/api/runs");
  api.header_token = "";
  EXPECT_EQ(status_of(api), 403);
}

TEST(Guard, RefusesAWrongToken) {
  for (const std::string wrong :
       {"0", "00112233445566778899aabbccddeefe", "00112233445566778899aabbccddeeff0",
        "10112233445566778899aabbccddeeff"}) {
    RequestHead head = asking("/api/runs");
    head.header_token = wrong;
    EXPECT_EQ(status_of(head), 403) << wrong;
  }
}

TEST(Guard, TakesOnlyItsOwnNamesAsHost) {
  for (const std::string host : {"127.0.0.1:8123", "localhost:8123", "[::1]:8123"}) {
    RequestHead head = asking("/");
    head.hosts = {host};
    EXPECT_EQ(status_of(head), 200) << host;
  }
  for (const std::string host : {"", "127.0.0.1", "127.0.0.1:80", "evil.example:8123",
                                 "localhost:8123.evil.example", "127.0.0.1:8123@evil.example"}) {
    RequestHead head = asking("/");
    head.hosts = {host};
    EXPECT_EQ(status_of(head), 403) << host;
  }
}

TEST(Guard, TakesExactlyOneHost) {
  RequestHead head = asking("/");
  head.hosts = {};
  EXPECT_EQ(status_of(head), 403);
  head.hosts = {"127.0.0.1:8123", "127.0.0.1:8123"};
  EXPECT_EQ(status_of(head), 403);
}

TEST(Guard, TakesOnlyTheSameHostAsOrigin) {
  RequestHead head = asking("/api/runs");
  head.origin = "http://127.0.0.1:8123";
  EXPECT_EQ(status_of(head), 200);
  for (const std::string origin : {"", "null", "https://127.0.0.1:8123", "http://localhost:8123",
                                   "http://127.0.0.1:8124", "http://evil.example"}) {
    head.origin = origin;
    EXPECT_EQ(status_of(head), 403) << origin;
  }
}

TEST(Guard, RefusesRequestsOfOtherSites) {
  RequestHead head = asking("/api/runs");
  head.fetch_site = "same-origin";
  EXPECT_EQ(status_of(head), 200);
  head.fetch_site = "cross-site";
  EXPECT_EQ(status_of(head), 403);
}

TEST(Guard, KnowsItsPathsAndTheirMethods) {
  EXPECT_EQ(status_of(asking("/api/run")), 404);
  EXPECT_EQ(status_of(asking("/api/runs/")), 404);
  EXPECT_EQ(status_of(asking("/../etc/passwd")), 404);
  EXPECT_EQ(status_of(asking("/api/upload")), 405);
  RequestHead head = asking("/api/runs");
  head.method = "POST";
  EXPECT_EQ(status_of(head), 405);
  head.method = "HEAD";
  EXPECT_EQ(status_of(head), 405);
}

TEST(Guard, TellsStrangersNothingOfItsPaths) {
  RequestHead head = asking("/api/nothing");
  head.header_token = "";
  EXPECT_EQ(status_of(head), 403);
}

}  // namespace
}  // namespace tw::serve
