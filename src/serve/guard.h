// SPDX-License-Identifier: Apache-2.0
// Who may ask: only pages and programs that were given the server's token.
//
// Any page that a browser on this machine shows can send requests to 127.0.0.1, and a name of
// anybody's can be made to lead there (DNS rebinding). Hence three checks, each enough against one
// of them: the Host is one of ours, an Origin is the same host, and the token is there. The token
// stands in the query of the page itself, which a person opens, and in a header of all other
// requests, which a page of another origin cannot set without our permission.

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tw::serve {

struct Guard {
  int port;
  std::string token;
};

/// What is looked at of a request; `path` is without the query and decoded.
struct RequestHead {
  std::string method;
  std::string path;
  std::vector<std::string> hosts;  ///< every Host header: one is right
  std::optional<std::string> origin = {};
  std::string fetch_site = {};    ///< Sec-Fetch-Site
  std::string header_token = {};  ///< X-Trainwire-Token
  std::string query_token = {};   ///< of the page
  std::string bearer_token = {};  ///< Authorization: Bearer
};

/// Throws Refusal: 403 for strangers, 404 for a path that is none of ours, 405 for its wrong
/// method.
void require_allowed(const Guard& guard, const RequestHead& head);

/// The same for an endpoint with figures for other programs, `/metrics` (metrics.h). Where the guard has no token, this
/// machine alone may ask, and no page of another site.
void require_metrics(const Guard& guard, const RequestHead& head);

/// Takes equally long wherever they differ.
bool same_secret(std::string_view a, std::string_view b);

}  // namespace tw::serve
