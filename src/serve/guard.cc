// SPDX-License-Identifier: Apache-2.0
#include "trainwire/serve/guard.h"

#include "trainwire/base/shipped.h"
#include "trainwire/serve/refusal.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tw::serve {
namespace {

struct Route {
  std::string_view path;
  std::string_view method;
};

constexpr std::array<Route, 6> kRoutes{{{"/", "GET"},
                                        {"/api/runs", "GET"},
                                        {"/api/page", "GET"},
                                        {"/api/live", "GET"},
                                        {"/api/tasks", "GET"},
                                        {"/api/upload", "POST"}}};

bool is_own_host(int port, const RequestHead& head) {
  if (head.hosts.size() != 1) return false;
  const std::string& host = head.hosts.front();
  return host == fmt::format("127.0.0.1:{}", port) || host == fmt::format("localhost:{}", port) ||
         host == fmt::format("[::1]:{}", port);
}

/// REQUIRES: there is a Host.
bool is_of_another_site(const RequestHead& head) {
  const bool foreign = head.origin && *head.origin != "http://" + head.hosts.front();
  return foreign || head.fetch_site == "cross-site";
}

void require_host(const Guard& guard, const RequestHead& head) {
  if (is_own_host(guard.port, head)) return;
  throw Refusal(403,
                fmt::format("the Host header is not this server's; open http://127.0.0.1:{}/ with "
                            "the token that `trainwire serve` printed",
                            guard.port));
}

void require_origin(const RequestHead& head) {
  if (!is_of_another_site(head)) return;
  throw Refusal(403,
                "the request comes from another site's page; copy the address that `trainwire "
                "serve` printed into the browser");
}

void require_token(const Guard& guard, const RequestHead& head) {
  const std::string& given = head.path == "/" ? head.query_token : head.header_token;
  if (same_secret(given, guard.token)) return;
  throw Refusal(403,
                fmt::format("{}; open the whole address that `trainwire serve` printed",
                            given.empty() ? "the request has no token" : "the token is wrong"));
}

}  // namespace

bool same_secret(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
  }
  return difference == 0;
}

void require_allowed(const Guard& guard, const RequestHead& head) {
  require_host(guard, head);
  require_origin(head);
  require_token(guard, head);
  const auto route = std::find_if(kRoutes.begin(), kRoutes.end(),
                                  [&](const Route& each) { return each.path == head.path; });
  if (route == kRoutes.end()) {
    throw Refusal(404, fmt::format("there is nothing at this address; {} lists what there is",
                                   shipped("docs/serve.md")));
  }
  if (route->method != head.method) {
    throw Refusal(405, fmt::format("this address takes {} only", route->method));
  }
}

void require_metrics(const Guard& guard, const RequestHead& head) {
  if (guard.token.empty()) {
    if (!is_own_host(guard.port, head) || is_of_another_site(head)) {
      throw Refusal(403,
                    fmt::format("ask http://127.0.0.1:{}/metrics, from this machine", guard.port));
    }
  } else if (!same_secret(head.bearer_token, guard.token)) {
    throw Refusal(401, "the token is missing or wrong; send it as `Authorization: Bearer TOKEN`");
  }
  if (head.path != "/metrics") throw Refusal(404, "there is nothing at this address but /metrics");
  if (head.method != "GET") throw Refusal(405, "this address takes GET only");
}

}  // namespace tw::serve
