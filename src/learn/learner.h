// SPDX-License-Identifier: Apache-2.0
// One worker that learns: its model, its share of the samples, stochastic gradient descent with
// momentum.
//
// Samples are put into a random order anew for each epoch, the same for all workers of a seed; who
// takes which is a matter of their number, so that W workers with batches of B take together what one
// takes with batches of W x B. Nothing random is drawn on the way: a learner's state is its parameters
// and its momentum, and the number of samples that were taken says what comes next.

#pragma once

#include "trainwire/learn/data_set.h"
#include "trainwire/learn/network.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tw::learn {

struct Lesson {
  std::string model;             ///< "mlp", "cnn"
  std::vector<int> widths = {};  ///< mlp: layer sizes, inputs first; empty: zoo's
  int batch = 1;
  double learning_rate = 0.05;
  double momentum = 0.9;
  std::uint64_t seed = 1;  ///< of the first model and the samples' order
};

class Learner {
 public:
  /// REQUIRES: `data` outlives it. Throws SpecError when the model cannot read the pictures or has
  /// fewer outputs than there are kinds.
  Learner(const Lesson& lesson, const DataSet& data);

  /// From now on, instead of the lesson's.
  void set_rate(double learning_rate) { lesson_.learning_rate = learning_rate; }

  /// Takes the samples from number `first` on of all that are ever taken, and finds the loss.
  Judgement forward(std::int64_t first);
  /// Until the first `until` gradients are there, or a few more.
  void backward(std::int64_t until);
  /// Adds the gradients [first, first + count) to the momentum and takes the step that it says from
  /// the parameters.
  void descend(std::int64_t first, std::int64_t count);
  /// The step that descend() would take, `share` of it, is left in the gradients; the parameters stay.
  void propose(std::int64_t first, std::int64_t count, double share);

  std::span<float> parameters() { return parameters_; }
  std::span<const float> parameters() const { return parameters_; }
  std::span<float> gradients() { return gradients_; }
  std::span<float> momentum() { return momentum_; }
  std::span<const float> momentum() const { return momentum_; }

  /// On the test set, of any parameters.
  Judgement judge(std::span<const float> parameters);

 private:
  void take(const Samples& from, std::span<const std::uint32_t> numbers);

  const DataSet& data_;
  Lesson lesson_;
  Network network_;
  std::vector<float> light_;  ///< what a pixel's byte is to the network
  std::vector<float> parameters_;
  std::vector<float> gradients_;
  std::vector<float> momentum_;
  std::int64_t epoch_ = -1;
  std::vector<std::uint32_t> order_;  ///< of the samples in that epoch
  std::vector<float> samples_;        ///< of the batch
  std::vector<std::uint8_t> kinds_;
};

}  // namespace tw::learn
