// SPDX-License-Identifier: Apache-2.0
#include "trainwire/gather/filter.h"

#include "trainwire/base/error.h"
#include "trainwire/capture/ladder.h"

#include <gmock/gmock.h>

namespace tw::gather {
namespace {

int matching(const std::string& expression, std::uint32_t link_type) {
  Filter filter(expression);
  int count = 0;
  const auto frames =
      capture::ladder("0 a.1 > b.2 1:101\n0 a > c udp 50\n0 c > b 1:9 ", {.link_type = link_type});
  for (const capture::LadderFrame& frame : frames) {
    const packet::Record record{.bytes = frame.bytes,
                                .original_bytes = frame.original_bytes,
                                .time_ns = frame.time_ns,
                                .interface = 0,
                                .link = packet::link_of(link_type)};
    count += filter.matches(record, link_type) ? 1 : 0;
  }
  return count;
}

TEST(Filter, SelectsAsTcpdumpDoesOnEveryLink) {
  // Ethernet, BSD loopback, raw IP, OpenBSD loopback, Linux cooked in both versions.
  for (const std::uint32_t link_type : {1u, 0u, 101u, 108u, 113u, 276u}) {
    EXPECT_EQ(matching("tcp", link_type), 2) << link_type;
    EXPECT_EQ(matching("udp and host 10.0.0.3", link_type), 1) << link_type;
    EXPECT_EQ(matching("tcp port 2", link_type), 1) << link_type;
  }
}

TEST(Filter, RefusesAWrongExpressionInLibpcapsWords) {
  try {
    Filter("tcp porf 80");
    FAIL() << "accepted";
  } catch (const SpecError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("\"tcp porf 80\": "));
    EXPECT_THAT(error.what(), testing::HasSubstr("syntax error"));
  }
}

TEST(Filter, RefusesAnExpressionThatMeansNothingOnTheLink) {
  EXPECT_THROW(matching("ether host 02:00:00:00:00:01", 101), SpecError);
}

}  // namespace
}  // namespace tw::gather
