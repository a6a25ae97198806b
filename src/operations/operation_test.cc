// SPDX-License-Identifier: Apache-2.0
#include "trainwire/operations/operation.h"

#include <gmock/gmock.h>

namespace tw::operations {
namespace {

TEST(Operation, HasOneNameForWhatOthersCallDifferently) {
  for (const char* name :
       {"allreduce", "AllReduce", "nccl:all_reduce", "allreduce_coalesced", "gloo:all_reduce"}) {
    EXPECT_EQ(canonical_op(name), "all_reduce") << name;
  }
  for (const char* name : {"_allgather_base", "all_gather_into_tensor_coalesced", "AllGather",
                           "nccl:_all_gather_base"}) {
    EXPECT_EQ(canonical_op(name), "all_gather") << name;
  }
  EXPECT_EQ(canonical_op("reduce_scatter_tensor"), "reduce_scatter");
  EXPECT_EQ(canonical_op("all_to_allv"), "all_to_all");
  EXPECT_EQ(canonical_op("nccl:send 0->1"), "send");
  EXPECT_EQ(canonical_op("wait"), "");
}

TEST(Operation, SizesAreThoseOfTheLargeSide) {
  EXPECT_EQ(message_elements("all_reduce", 100, 100, 4), 100);
  EXPECT_EQ(message_elements("all_gather", 25, 100, 4), 100);
  EXPECT_EQ(message_elements("all_gather", 25, 0, 4), 100);
  EXPECT_EQ(message_elements("reduce_scatter", 100, 25, 4), 100);
  EXPECT_EQ(message_elements("reduce_scatter", 0, 25, 4), 100);
  EXPECT_EQ(message_elements("all_reduce", -1, 0, 4), std::nullopt);
}

TEST(Operation, ProductsThatDoNotFitAreNone) {
  EXPECT_EQ(product(std::int64_t{1} << 61, 4), std::nullopt);
  EXPECT_EQ(product(-1, 4), std::nullopt);
  EXPECT_EQ(product(1 << 20, 4), 4 << 20);
}

TEST(Operation, KnowsTypesByAllTheirNames) {
  EXPECT_EQ(element_bytes("BFloat16"), 2);
  EXPECT_EQ(element_bytes("c10::Half"), 2);
  EXPECT_EQ(element_bytes("ncclFloat32"), 4);
  EXPECT_EQ(element_bytes("Long"), 8);
  EXPECT_EQ(element_bytes("long int"), 8);
  EXPECT_EQ(element_bytes("weather"), std::nullopt);
}

TEST(Operation, BusFactorsAreThoseOfNcclTests) {
  EXPECT_DOUBLE_EQ(bus_factor("all_reduce", 4), 1.5);
  EXPECT_DOUBLE_EQ(bus_factor("all_gather", 4), 0.75);
  EXPECT_DOUBLE_EQ(bus_factor("broadcast", 4), 1);
}

}  // namespace
}  // namespace tw::operations
