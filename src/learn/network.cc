// SPDX-License-Identifier: Apache-2.0
#include "trainwire/learn/network.h"

#include "trainwire/base/error.h"

#include <algorithm>
#include <cmath>

namespace tw::learn {
namespace {

/// Turns a sample's outputs into the gradient of its cross entropy, which is returned.
double judge(std::span<float> outputs, std::size_t kind) {
  const float most = *std::ranges::max_element(outputs);
  double sum = 0;
  for (const float value : outputs) sum += std::exp(static_cast<double>(value - most));
  const double loss = std::log(sum) - static_cast<double>(outputs[kind] - most);
  for (float& value : outputs) {
    value = static_cast<float>(std::exp(static_cast<double>(value - most)) / sum);
  }
  outputs[kind] -= 1;
  return loss;
}

}  // namespace

double Judgement::accuracy() const {
  return samples == 0 ? 0 : static_cast<double>(right) / static_cast<double>(samples);
}

double Judgement::mean_loss() const {
  return samples == 0 ? 0 : loss / static_cast<double>(samples);
}

Network::Network(std::vector<std::unique_ptr<Layer>> layers)
    : layers_(std::move(layers)), firsts_(layers_.size()), made_(layers_.size()) {
  check(!layers_.empty(), "a network has a layer");
  std::int64_t next = 0;
  for (std::size_t i = layers_.size(); i-- > 0;) {
    firsts_[i] = next;
    next += layers_[i]->parameters();
    check(i == 0 || layers_[i]->inputs() == layers_[i - 1]->outputs(),
          "a layer reads what the one before makes");
  }
}

void Network::initialise(std::span<float> parameters, std::uint64_t seed) const {
  Random random(seed, "first model");
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    layers_[i]->initialise(parameters.subspan(static_cast<std::size_t>(firsts_[i]),
                                              static_cast<std::size_t>(layers_[i]->parameters())),
                           random);
  }
}

std::span<const float> Network::input_of(std::size_t layer) const {
  return layer == 0 ? samples_ : std::span<const float>(made_[layer - 1]);
}

Judgement Network::forward(std::span<const float> parameters, std::span<const float> samples,
                           std::span<const std::uint8_t> kinds) {
  check(std::ssize(samples) == std::ssize(kinds) * inputs(), "every sample has its values");
  samples_ = samples;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    made_[i].resize(kinds.size() * static_cast<std::size_t>(layers_[i]->outputs()));
    layers_[i]->forward(parameters.subspan(static_cast<std::size_t>(firsts_[i]),
                                           static_cast<std::size_t>(layers_[i]->parameters())),
                        input_of(i), made_[i]);
  }
  Judgement judgement{.samples = std::ssize(kinds)};
  of_outputs_ = made_.back();
  const auto width = static_cast<std::size_t>(this->kinds());
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const auto outputs = std::span(of_outputs_).subspan(i * width, width);
    judgement.right += std::ranges::max_element(outputs) - outputs.begin() == kinds[i];
    judgement.loss += judge(outputs, kinds[i]);
  }
  for (float& value : of_outputs_) value /= static_cast<float>(kinds.size());
  next_ = layers_.size();
  return judgement;
}

void Network::backward(std::span<const float> parameters, std::span<float> gradients,
                       std::int64_t until) {
  while (next_ > 0 && firsts_[next_ - 1] < until) {
    const std::size_t i = --next_;
    const auto first = static_cast<std::size_t>(firsts_[i]);
    const auto count = static_cast<std::size_t>(layers_[i]->parameters());
    of_inputs_.resize(i == 0 ? 0 : made_[i - 1].size());
    layers_[i]->backward(parameters.subspan(first, count),
                         {.inputs = input_of(i), .outputs = made_[i]}, of_outputs_,
                         gradients.subspan(first, count), of_inputs_);
    std::swap(of_outputs_, of_inputs_);
  }
}

Network mlp(std::span<const int> widths) {
  check(widths.size() >= 2, "a multi-layer perceptron has inputs and outputs");
  std::vector<std::unique_ptr<Layer>> layers;
  for (std::size_t i = 1; i < widths.size(); ++i) {
    layers.push_back(dense(widths[i - 1], widths[i],
                           i + 1 < widths.size() ? Activation::Rectify : Activation::None));
  }
  return Network(std::move(layers));
}

Network cnn(int height, int width, int kinds) {
  std::vector<std::unique_ptr<Layer>> layers;
  layers.push_back(convolution({height, width, 1}, 16));
  layers.push_back(pooling({height, width, 16}));
  layers.push_back(convolution({height / 2, width / 2, 16}, 32));
  layers.push_back(pooling({height / 2, width / 2, 32}));
  layers.push_back(dense(layers.back()->outputs(), 128, Activation::Rectify));
  layers.push_back(dense(128, kinds, Activation::None));
  return Network(std::move(layers));
}

}  // namespace tw::learn
