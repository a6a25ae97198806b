// SPDX-License-Identifier: Apache-2.0
#include "trainwire/zoo/net_builder.h"

#include <gtest/gtest.h>

namespace tw::zoo {
namespace {

Layer last_of(NetBuilder& net) { return std::move(net).take("test").layers.back(); }

TEST(NetBuilder, CountsAConvolution) {
  NetBuilder net({8, 8, 3}, kKerasNorm);
  net.conv("c", {.filters = 16, .kernel = {1, 7}, .stride = 2, .bias = true});
  EXPECT_EQ(net.shape(), (Shape{4, 4, 16}));
  // 7*3*16 = 336 weights and 16 biases; each weight is used at 4*4 places, two operations each.
  EXPECT_EQ(last_of(net), (Layer{"c", 352, 0, 336.0 * 16 * 2}));
}

TEST(NetBuilder, CountsADepthwiseConvolution) {
  NetBuilder net({7, 7, 5}, kKerasNorm);
  net.depthwise("d", 2);
  EXPECT_EQ(net.shape(), (Shape{4, 4, 5}));
  EXPECT_EQ(last_of(net), (Layer{"d", 45, 0, 45.0 * 16 * 2}));
}

TEST(NetBuilder, CountsADenseLayerOnTheFlattenedMap) {
  NetBuilder net({7, 7, 512}, kKerasNorm);
  net.dense("fc", 10);
  EXPECT_EQ(net.shape(), (Shape{1, 1, 10}));
  EXPECT_EQ(last_of(net), (Layer{"fc", 250'890, 0, 2.0 * 250'880}));
}

TEST(NetBuilder, CountsBatchNormalisationAsTheLibraryDoes) {
  const auto normalised = [](BatchNorm norm) {
    NetBuilder net({1, 1, 8}, norm);
    net.batch_norm("bn");
    return last_of(net);
  };
  EXPECT_EQ(normalised(kKerasNorm), (Layer{"bn", 16, 16, 0}));
  EXPECT_EQ(normalised(kKerasUnscaledNorm), (Layer{"bn", 8, 16, 0}));
  EXPECT_EQ(normalised(kTorchNorm), (Layer{"bn", 16, 0, 0}));
}

TEST(NetBuilder, PadsOrNot) {
  // Same: ceil(n / 2). Valid: floor((n - 3) / 2) + 1.
  for (const auto& [size, same, valid] :
       {std::array{224, 112, 111}, std::array{299, 150, 149}, std::array{3, 2, 1}}) {
    NetBuilder net({size, size, 1}, kKerasNorm);
    net.pool({.kernel = 3, .stride = 2, .padding = Padding::Same});
    EXPECT_EQ(net.shape(), (Shape{same, same, 1})) << size;
    net.resume({size, size, 1});
    net.pool({.kernel = 3, .stride = 2});
    EXPECT_EQ(net.shape(), (Shape{valid, valid, 1})) << size;
  }
}

TEST(NetBuilder, RefusesAWindowLargerThanTheMap) {
  NetBuilder net({2, 2, 1}, kKerasNorm);
  EXPECT_THROW(net.pool({.kernel = 3, .stride = 1}), std::logic_error);
}

}  // namespace
}  // namespace tw::zoo
