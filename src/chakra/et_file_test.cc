// SPDX-License-Identifier: Apache-2.0
#include "trainwire/chakra/et_file.h"

#include "trainwire/base/error.h"

#include <gmock/gmock.h>

namespace tw::chakra {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

// An all-reduce of 1 MiB, byte for byte as ASTRA-sim's own generator writes it.
const std::string kAllReduce(
    "\x07\x0a\x05"
    "0.0.4"
    "H\x12\x14"
    "all_reduce_4npus_1MB"
    "\x18\x07"
    "R\x0e\x0a\x09is_cpu_op\xd8\x01\x00"
    "R\x0d\x0a\x09"
    "comm_typeH\x00"
    "R\x0f\x0a\x09"
    "comm_sizeH\x80\x80\x40",
    81);

TEST(EtFile, ReadsWhatItsOwnGeneratorsWrite) {
  ASSERT_TRUE(is_et(kAllReduce));
  const EtFile file = parse_et(kAllReduce, "x");
  EXPECT_EQ(file.version, "0.0.4");
  EXPECT_FALSE(file.cut_off);
  ASSERT_THAT(file.nodes, SizeIs(1));
  const Node& node = file.nodes[0];
  EXPECT_EQ(node.name, "all_reduce_4npus_1MB");
  EXPECT_EQ(node.type, NodeType::Collective);
  EXPECT_EQ(node.collective, 0);
  EXPECT_EQ(node.bytes, 1 << 20);
  EXPECT_EQ(node.on_host, false);
}

TEST(EtFile, ReadsWhatItWrites) {
  const std::vector<Node> nodes{{.id = 1,
                                 .name = "compute",
                                 .type = NodeType::Compute,
                                 .duration_us = 1500,
                                 .on_host = false},
                                {.id = 2,
                                 .name = "exchange",
                                 .type = NodeType::Collective,
                                 .waits_for = {1},
                                 .start_us = 7,
                                 .collective = 0,
                                 .bytes = std::int64_t{1} << 40,
                                 .group = "dp",
                                 .on_host = false},
                                {.id = 3,
                                 .name = "send",
                                 .type = NodeType::Send,
                                 .waits_for = {1, 2},
                                 .bytes = 8,
                                 .from = 0,
                                 .to = 3,
                                 .tag = 5}};
  EXPECT_EQ(parse_et(et_bytes(nodes), "x").nodes, nodes);
}

TEST(EtFile, CutAnywhereHasTheSameFirstNodes) {
  const std::string whole = et_bytes({{.id = 1, .name = "a", .type = NodeType::Compute},
                                      {.id = 2, .name = "b", .type = NodeType::Collective}});
  for (std::size_t cut = 1; cut < whole.size(); ++cut) {
    const EtFile some = parse_et(std::string_view(whole).substr(0, cut), "x");
    EXPECT_LT(some.nodes.size(), 2U) << cut;
  }
}

TEST(EtFile, OtherBytesAreNone) {
  EXPECT_FALSE(is_et("\x0a\x0d\x0d\x0a"));
  EXPECT_FALSE(is_et("7 apples"));
  EXPECT_THROW(parse_et(std::string("\x02\x0a\x00\x04\x0f\x0f\x0f\x0f", 8), "x"), DataError);
}

}  // namespace
}  // namespace tw::chakra
