// SPDX-License-Identifier: Apache-2.0
// A network of layers that tells kinds of pictures apart: loss, gradients, judgement.
//
// Parameters are one array, the last layer's first: the order in which backward finds their
// gradients, and in which buckets are filled (zoo/model.h).

#pragma once

#include "trainwire/learn/layer.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tw::learn {

/// How a network did on some samples.
struct Judgement {
  std::int64_t samples = 0;
  std::int64_t right = 0;
  double loss = 0;  ///< sum of cross entropies
  double accuracy() const;
  double mean_loss() const;
};

class Network {
 public:
  /// REQUIRES: each layer reads what the one before makes.
  explicit Network(std::vector<std::unique_ptr<Layer>> layers);

  std::int64_t inputs() const { return layers_.front()->inputs(); }
  std::int64_t kinds() const { return layers_.back()->outputs(); }
  std::int64_t parameters() const { return firsts_.front() + layers_.front()->parameters(); }
  /// The same for the same seed.
  void initialise(std::span<float> parameters, std::uint64_t seed) const;

  /// How well it names `kinds`; keeps what backward needs. REQUIRES: a sample of inputs() values for
  /// each, which must stay until backward is done.
  Judgement forward(std::span<const float> parameters, std::span<const float> samples,
                    std::span<const std::uint8_t> kinds);
  /// Goes on from where it was after forward() until the first `until` gradients of the mean loss
  /// are there, or a few more.
  void backward(std::span<const float> parameters, std::span<float> gradients, std::int64_t until);

 private:
  std::span<const float> input_of(std::size_t layer) const;

  std::vector<std::unique_ptr<Layer>> layers_;
  std::vector<std::int64_t> firsts_;  ///< each layer's first parameter
  std::span<const float> samples_;
  std::vector<std::vector<float>> made_;  ///< each layer's outputs
  std::vector<float> of_outputs_;         ///< the loss's gradient of what `next_` made
  std::vector<float> of_inputs_;
  std::size_t next_ = 0;  ///< layers whose gradients are still to come
};

/// Dense layers of the given sizes, inputs first. REQUIRES: at least two.
Network mlp(std::span<const int> widths);
/// zoo's cnn, for pictures of any size and any number of kinds.
Network cnn(int height, int width, int kinds);

}  // namespace tw::learn
