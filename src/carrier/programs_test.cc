// SPDX-License-Identifier: Apache-2.0
#include "trainwire/carrier/programs.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

namespace tw::carrier {
namespace {

TEST(CarrierPrograms, OwnSocketsNeedNone) {
  EXPECT_FALSE(is_carried("tcp"));
  EXPECT_FALSE(is_carried("rdma"));
  for (const Transport& transport : transports()) EXPECT_TRUE(is_carried(transport.name));
}

TEST(CarrierPrograms, OnesThatWereNotBuiltAreNotThere) {
  EXPECT_EQ(program_of("gloo", "/nowhere/trainwire"), "");
}

TEST(CarrierPrograms, LieBesideTheProgramThatAsks) {
  const std::filesystem::path folder = testing::TempDir() + "carrier_programs";
  std::filesystem::create_directories(folder);
  const std::filesystem::path program = folder / "trainwire-grpc";
  std::ofstream(program) << "#!/bin/sh\n";
  EXPECT_EQ(program_of("grpc", folder / "trainwire"), "");  // nobody may run it
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  EXPECT_EQ(program_of("grpc", folder / "trainwire"), program.string());
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace tw::carrier
