// SPDX-License-Identifier: Apache-2.0
#include "trainwire/zoo/model.h"

#include <gtest/gtest.h>

namespace tw::zoo {
namespace {

TEST(Model, AddsUpItsLayers) {
  const Model model{.name = "m",
                    .source = "",
                    .input = "",
                    .layers = {{"a", 10, 2, 5.0}, {"b", 0, 0, 1.5}, {"c", 7, 4, 0.0}}};
  EXPECT_EQ(model.trainable(), 17);
  EXPECT_EQ(model.non_trainable(), 6);
  EXPECT_EQ(model.parameters(), 23);
  EXPECT_DOUBLE_EQ(model.forward_flops(), 6.5);
  EXPECT_EQ(model.gradient_bytes(), Bytes(68));
}

}  // namespace
}  // namespace tw::zoo
