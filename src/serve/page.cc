// SPDX-License-Identifier: Apache-2.0
#include "trainwire/serve/page.h"

#include "trainwire/base/error.h"
#include "trainwire/report/page.h"

namespace tw::serve {
namespace {

constexpr std::string_view kNoRequests = "connect-src 'none'";
constexpr std::string_view kOwnRequests = "connect-src 'self'";
constexpr std::string_view kPolicyBegin = R"(<meta http-equiv="Content-Security-Policy" content=")";

}  // namespace

ServedPage served_page(std::string_view page_template, const report::Maker& maker,
                       const std::string& folder, std::int64_t upload_limit_bytes) {
  std::string page(page_template);
  const std::size_t at = page.find(kNoRequests);
  check(at != page.npos && page.find(kNoRequests, at + 1) == page.npos,
        "the template forbids requests, once");
  page.replace(at, kNoRequests.size(), kOwnRequests);
  const std::size_t begin = page.find(kPolicyBegin);
  check(begin < at, "the template's policy stands in its head");
  const std::size_t policy = begin + kPolicyBegin.size();
  return {
      .html = report::filled(
          page, {{"schema", 1},
                 {"version", maker.version},
                 {"commit", maker.commit},
                 {"serve", {{"folder", folder}, {"upload_limit_bytes", upload_limit_bytes}}}}),
      .policy = page.substr(policy, page.find('"', policy) - policy) + "; frame-ancestors 'none'"};
}

}  // namespace tw::serve
