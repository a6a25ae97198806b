// SPDX-License-Identifier: Apache-2.0
#include "trainwire/cluster/parts.h"

#include "trainwire/base/error.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

namespace tw::cluster {
namespace {

using testing::ElementsAre;

TEST(Parts, NamesAreThoseOfTheMachineAndPatternsAreMatchedThere) {
  const std::string folder = testing::TempDir() + "files_here";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  for (const char* name : {"node7.pcap", "a[1].pcap", "b1.pcap", "b2.pcap"}) {
    std::ofstream(folder + "/" + name) << "x";
  }
  EXPECT_THAT(files_here({folder + "/{host}.pcap"}, "node7"), ElementsAre(folder + "/node7.pcap"));
  EXPECT_THAT(files_here({folder + "/b?.pcap"}, "node7"),
              ElementsAre(folder + "/b1.pcap", folder + "/b2.pcap"));
  EXPECT_THAT(files_here({folder + "/a[1].pcap"}, "node7"), ElementsAre(folder + "/a[1].pcap"));
  EXPECT_THROW(files_here({folder + "/{host}.pcap"}, "node8"), SpecError);
  EXPECT_THROW(files_here({folder + "/c*"}, "node7"), SpecError);
}

}  // namespace
}  // namespace tw::cluster
