// SPDX-License-Identifier: Apache-2.0
#include "trainwire/serve/page.h"

#include "trainwire/report/template.h"

#include <gmock/gmock.h>

namespace tw::serve {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const report::Maker kMaker{.version = "1.2.3", .commit = "abc"};

TEST(ServedPage, MayAskItsServerAndNobodyElse) {
  const ServedPage page = served_page(report::page_template(), kMaker, "runs", 7);
  EXPECT_THAT(page.html, AllOf(HasSubstr("connect-src 'self'"), Not(HasSubstr("src 'none'\">"))));
  EXPECT_THAT(page.html, Not(HasSubstr("connect-src 'none'")));
}

TEST(ServedPage, HasTheSamePolicyInItsHeaderAndNoFrames) {
  const ServedPage page = served_page(report::page_template(), kMaker, "runs", 7);
  EXPECT_THAT(page.policy, AllOf(StartsWith("default-src 'none'; "), HasSubstr("'sha256-"),
                                 HasSubstr("connect-src 'self'"),
                                 EndsWith("; frame-ancestors 'none'"), Not(HasSubstr("\""))));
  const std::string inner = page.policy.substr(0, page.policy.rfind(';'));
  EXPECT_THAT(page.html, HasSubstr("content=\"" + inner + "\""));
}

TEST(ServedPage, CarriesTheFolderAsText) {
  const ServedPage page = served_page(report::page_template(), kMaker, "</script>", 7);
  EXPECT_THAT(page.html, HasSubstr(R"("serve":{"folder":"\u003c/script\u003e",)"
                                   R"("upload_limit_bytes":7})"));
}

TEST(ServedPage, NeedsATemplateThatForbidsRequestsOnce) {
  EXPECT_THROW(served_page("TRAINWIRE_DATA", kMaker, "runs", 7), std::logic_error);
  const std::string twice = std::string(report::page_template()) + "connect-src 'none'";
  EXPECT_THROW(served_page(twice, kMaker, "runs", 7), std::logic_error);
}

}  // namespace
}  // namespace tw::serve
