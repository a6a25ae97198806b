// SPDX-License-Identifier: Apache-2.0
#include "trainwire/text/links_text.h"

#include <gtest/gtest.h>

namespace tw::text {
namespace {

record::Link lossy(const char* name, const char* direction, std::int64_t dropped,
                   std::int64_t lost) {
  return {.name = name,
          .direction = direction,
          .counted = record::CountedLink{.dropped_packets = dropped, .lost_packets = lost}};
}

TEST(LinksText, NamesTheFullestLinkAndWherePacketsWereLost) {
  record::Run run;
  EXPECT_EQ(links_text(run), "");
  run.utilisation = record::Utilisation{
      .link = "core", .direction = "from_host", .share = 0.968, .rate_bps = 24.2e6};
  EXPECT_EQ(links_text(run), "busiest link: core, left to right, 97 % full (24.2 Mbit/s)\n");
  run.network.links = {lossy("host0", "from_host", 0, 0), lossy("host1", "to_host", 2, 7),
                       lossy("core", "from_host", 40, 0), lossy("leaf0-spine1", "to_host", 0, 3),
                       lossy("host2", "from_host", 1, 0)};
  EXPECT_EQ(
      links_text(run),
      "busiest link: core, left to right, 97 % full (24.2 Mbit/s)\n"
      "packets lost at core, left to right: 40 found the queue full; host1 receiving: 2 found "
      "the queue full, 7 as asked for; leaf0-spine1, down: 3 as asked for; 1 more in "
      "links.csv\n");
}

}  // namespace
}  // namespace tw::text
