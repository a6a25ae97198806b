// SPDX-License-Identifier: Apache-2.0
#include "trainwire/nccl/cluster.h"

#include "trainwire/base/error.h"

#include <gtest/gtest.h>

namespace tw::nccl {
namespace {

TEST(Cluster, ReadsNics) {
  EXPECT_EQ(parse_nics("2x200Gbit"), (Nics{2, 200_Gbit}));
  EXPECT_EQ(parse_nics("25Gbit"), (Nics{1, 25_Gbit}));
  for (const char* text :
       {"", "x", "0x25Gbit", "65x25Gbit", "-1x25Gbit", "2x", "2x0Gbit", "ax25Gbit"}) {
    EXPECT_FALSE(parse_nics(text)) << text;
  }
}

TEST(Cluster, ReadsBytesPerSecondToo) {
  EXPECT_EQ(parse_bandwidth("300GB/s"), BitRate(2.4e12));
  EXPECT_EQ(parse_bandwidth("25Gbit"), 25_Gbit);
  EXPECT_FALSE(parse_bandwidth("GB/s"));
}

TEST(Cluster, KnowsGpusByTheDriversNames) {
  EXPECT_EQ(find_gpu("NVIDIA A100-SXM4-40GB")->name, "a100");
  EXPECT_EQ(find_gpu("Tesla V100-SXM2-16GB")->name, "v100");
  EXPECT_EQ(find_gpu("NVIDIA H200")->name, "h200");
  EXPECT_EQ(find_gpu("NVIDIA H20")->name, "h20");
  EXPECT_FALSE(find_gpu("NVIDIA GeForce RTX 4090"));
}

TEST(Cluster, RefusesWhatCannotBe) {
  Cluster cluster{.ranks = 16, .per_host = 8, .nics = {1, 100_Gbit}, .gpu = *find_gpu("a100")};
  EXPECT_NO_THROW(require_possible(cluster));
  cluster.per_host = 5;
  EXPECT_THROW(require_possible(cluster), SpecError);
  cluster.per_host = 8;
  cluster.nics.rate = {};
  EXPECT_THROW(require_possible(cluster), SpecError);
  cluster.ranks = 8;
  EXPECT_NO_THROW(require_possible(cluster));
  cluster.ranks = 1;
  EXPECT_THROW(require_possible(cluster), SpecError);
}

// Eight ranks of a host that only have the network count as eight hosts with an eighth of a NIC.
TEST(Cluster, OfRanksThatOnlyHaveTheNetworkIsOneOfHosts) {
  const Cluster cluster{.ranks = 16,
                        .per_host = 8,
                        .nics = {1, 100_Gbit},
                        .intra = Intra::None,
                        .gpu = *find_gpu("a100")};
  EXPECT_EQ(cluster.hosts(), 16);
  EXPECT_EQ(cluster.ranks_of_host(), 1);
  EXPECT_DOUBLE_EQ(cluster.nics_of_host(), 0.125);
}

}  // namespace
}  // namespace tw::nccl
