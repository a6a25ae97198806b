// SPDX-License-Identifier: Apache-2.0
#include "trainwire/excerpt/cut.h"

#include "trainwire/base/error.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

namespace tw::excerpt {
namespace {

gather::Captured read(const std::string& path) {
  return gather::read_traffic(std::vector<std::string>{path});
}

class Cut : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::remove(path_); }
  void TearDown() override { std::filesystem::remove(path_); }

  const std::string path_ = testing::TempDir() + "excerpt_cut.pcapng";
  const gather::Captured traffic_ = read(TW_SOURCE_DIR "/tests/captures/ddp2_mlp.pcap.zst");
};

TEST_F(Cut, OfEverythingIsTheCapture) {
  EXPECT_EQ(cut(traffic_.files, {}, path_), traffic_.totals.packets);
  const gather::Captured again = read(path_);
  EXPECT_EQ(again.totals.packets, traffic_.totals.packets);
  EXPECT_EQ(again.totals.wire_bytes, traffic_.totals.wire_bytes);
  EXPECT_EQ(again.totals.first_ns, traffic_.totals.first_ns);
}

TEST_F(Cut, HasThePacketsOfAFlowAndNoOthers) {
  const flow::Flow& flow = traffic_.flows.front();
  const Selection selection{.ways = {{.from = traffic_.addresses[flow.key.source],
                                      .to = traffic_.addresses[flow.key.destination],
                                      .protocol = flow.key.protocol,
                                      .from_port = flow.key.source_port,
                                      .to_port = flow.key.destination_port}}};
  EXPECT_EQ(cut(traffic_.files, selection, path_), flow.packets);
  EXPECT_EQ(read(path_).pairs.size(), 1u);
}

TEST_F(Cut, KeepsAFileThatIsThere) {
  std::ofstream(path_) << "precious";
  EXPECT_THROW(cut(traffic_.files, {}, path_), SpecError);
  EXPECT_EQ(std::filesystem::file_size(path_), 8u);
}

}  // namespace
}  // namespace tw::excerpt
