// SPDX-License-Identifier: Apache-2.0
#include "trainwire/learn/network.h"

#include "trainwire/base/random.h"
#include "trainwire/zoo/zoo.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace tw::learn {
namespace {

struct Batch {
  std::vector<float> samples;
  std::vector<std::uint8_t> kinds;
};

Batch batch_of(const Network& network, int count) {
  Random random(3, "batch");
  Batch batch;
  for (std::int64_t i = 0; i < count * network.inputs(); ++i) {
    batch.samples.push_back(static_cast<float>(random.normal()));
  }
  for (int i = 0; i < count; ++i) {
    batch.kinds.push_back(
        static_cast<std::uint8_t>(random.below(static_cast<std::uint64_t>(network.kinds()))));
  }
  return batch;
}

/// Every gradient against the slope between two points near by. Where a value passes zero between
/// them the slope is none of either side: a few in a hundred may differ.
void expect_slopes(Network network) {
  std::vector<float> parameters(static_cast<std::size_t>(network.parameters()));
  network.initialise(parameters, 7);
  const Batch batch = batch_of(network, 4);
  std::vector<float> gradients(parameters.size());
  network.forward(parameters, batch.samples, batch.kinds);
  network.backward(parameters, gradients, network.parameters());
  constexpr float kStep = 1e-2f;
  std::size_t looked = 0;
  std::size_t off = 0;
  for (std::size_t i = 0; i < parameters.size(); i += 1 + parameters.size() / 400) {
    std::vector<float> moved = parameters;
    moved[i] += kStep;
    const double above = network.forward(moved, batch.samples, batch.kinds).mean_loss();
    moved[i] -= 2 * kStep;
    const double below = network.forward(moved, batch.samples, batch.kinds).mean_loss();
    const double slope = (above - below) / (2 * static_cast<double>(kStep));
    ++looked;
    off += std::fabs(slope - static_cast<double>(gradients[i])) > 2e-3 + 0.05 * std::fabs(slope);
  }
  EXPECT_GE(looked, 200u);
  EXPECT_LE(off, looked * 3 / 100);
}

TEST(Network, OfDenseLayersFindsItsGradients) { expect_slopes(mlp(std::array{9, 12, 8, 5})); }

TEST(Network, OfConvolutionsFindsItsGradients) { expect_slopes(cnn(8, 8, 3)); }

TEST(Network, HasTheParametersThatZooCounts) {
  EXPECT_EQ(mlp(std::array{784, 256, 256, 10}).parameters(), zoo::find("mlp")->trainable());
  EXPECT_EQ(cnn(28, 28, 10).parameters(), zoo::find("cnn")->trainable());
}

TEST(Network, FillsGradientsFromTheFrontAsFarAsAsked) {
  Network network = mlp(std::array{4, 3, 2});
  std::vector<float> parameters(static_cast<std::size_t>(network.parameters()));
  network.initialise(parameters, 7);
  const Batch batch = batch_of(network, 4);
  // The last layer has 3 x 2 + 2 parameters.
  std::vector<float> gradients(parameters.size(), 9);
  network.forward(parameters, batch.samples, batch.kinds);
  network.backward(parameters, gradients, 8);
  EXPECT_NE(gradients[7], 9);
  EXPECT_EQ(gradients[8], 9);
  network.backward(parameters, gradients, network.parameters());
  EXPECT_NE(gradients.back(), 9);
}

TEST(Network, OfEqualOutputsLosesTheLogarithmOfTheKinds) {
  Network network = mlp(std::array{4, 10});
  const std::vector<float> parameters(static_cast<std::size_t>(network.parameters()));
  const Batch batch = batch_of(network, 6);
  EXPECT_NEAR(network.forward(parameters, batch.samples, batch.kinds).mean_loss(), std::log(10),
              1e-6);
}

}  // namespace
}  // namespace tw::learn
