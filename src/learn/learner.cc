// SPDX-License-Identifier: Apache-2.0
#include "trainwire/learn/learner.h"

#include "trainwire/base/error.h"
#include "trainwire/base/random.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace tw::learn {
namespace {

constexpr int kJudgedTogether = 250;

Network network_of(const Lesson& lesson, const DataSet& data) {
  const Pictures& pictures = data.train.pictures;
  const int values = pictures.height * pictures.width;
  if (lesson.model == "cnn") {
    // As zoo counts it; a set of another size has another model.
    if (pictures.height != 28 || pictures.width != 28 || data.kinds() > 10) {
      throw SpecError(
          fmt::format("model cnn reads pictures of 28 x 28 and tells 10 kinds apart; {} "
                      "has {} x {} and {}; take mlp with its widths",
                      data.name, pictures.height, pictures.width, data.kinds()));
    }
    return cnn(pictures.height, pictures.width, 10);
  }
  check(lesson.model == "mlp", "the experiment was checked for models that can be trained");
  const std::vector<int> widths =
      lesson.widths.empty() ? std::vector<int>{784, 256, 256, 10} : lesson.widths;
  if (widths.front() != values || widths.back() < data.kinds()) {
    throw SpecError(fmt::format(
        "model mlp: widths go from {} to {}; {} has pictures of {} values of "
        "{} kinds: begin widths with {} and end them with {}",
        widths.front(), widths.back(), data.name, values, data.kinds(), values, data.kinds()));
  }
  return mlp(widths);
}

/// Bytes become numbers of mean 0 and variance 1 over the training set.
std::vector<float> light_of(const Samples& samples) {
  std::array<std::int64_t, 256> counts = {};
  for (const std::uint8_t pixel : samples.pictures.pixels) ++counts[pixel];
  double sum = 0;
  double squares = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    sum += static_cast<double>(counts[i]) * static_cast<double>(i);
    squares += static_cast<double>(counts[i]) * static_cast<double>(i * i);
  }
  const auto all = static_cast<double>(std::max<std::size_t>(samples.pictures.pixels.size(), 1));
  const double mean = sum / all;
  const double deviation = std::sqrt(std::max(squares / all - mean * mean, 1.0));
  std::vector<float> light;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    light.push_back(static_cast<float>((static_cast<double>(i) - mean) / deviation));
  }
  return light;
}

std::vector<std::uint32_t> shuffled(std::int64_t count, std::uint64_t seed, std::int64_t epoch) {
  std::vector<std::uint32_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0u);
  Random random(seed, fmt::format("epoch {}", epoch));
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  return order;
}

}  // namespace

Learner::Learner(const Lesson& lesson, const DataSet& data)
    : data_(data),
      lesson_(lesson),
      network_(network_of(lesson, data)),
      light_(light_of(data.train)),
      parameters_(static_cast<std::size_t>(network_.parameters())),
      gradients_(parameters_.size()),
      momentum_(parameters_.size()) {
  network_.initialise(parameters_, lesson.seed);
}

void Learner::take(const Samples& from, std::span<const std::uint32_t> numbers) {
  const auto values = static_cast<std::size_t>(network_.inputs());
  for (const std::uint32_t number : numbers) {
    const std::uint8_t* const pixels = from.pictures.pixels.data() + number * values;
    for (std::size_t i = 0; i < values; ++i) samples_.push_back(light_[pixels[i]]);
    kinds_.push_back(from.kinds[number]);
  }
}

Judgement Learner::forward(std::int64_t first) {
  samples_.clear();
  kinds_.clear();
  const std::int64_t count = data_.train.count();
  for (std::int64_t left = lesson_.batch; left > 0;) {
    if (const std::int64_t epoch = first / count; epoch != epoch_) {
      order_ = shuffled(count, lesson_.seed, epoch);
      epoch_ = epoch;
    }
    const std::int64_t from = first % count;
    const std::int64_t some = std::min(left, count - from);
    take(data_.train,
         std::span(order_).subspan(static_cast<std::size_t>(from), static_cast<std::size_t>(some)));
    first += some;
    left -= some;
  }
  return network_.forward(parameters_, samples_, kinds_);
}

void Learner::backward(std::int64_t until) { network_.backward(parameters_, gradients_, until); }

void Learner::descend(std::int64_t first, std::int64_t count) {
  const auto rate = static_cast<float>(lesson_.learning_rate);
  const auto kept = static_cast<float>(lesson_.momentum);
  for (auto i = static_cast<std::size_t>(first); i < static_cast<std::size_t>(first + count); ++i) {
    momentum_[i] = kept * momentum_[i] + gradients_[i];
    parameters_[i] -= rate * momentum_[i];
  }
}

void Learner::propose(std::int64_t first, std::int64_t count, double share) {
  const auto rate = static_cast<float>(lesson_.learning_rate * share);
  const auto kept = static_cast<float>(lesson_.momentum);
  for (auto i = static_cast<std::size_t>(first); i < static_cast<std::size_t>(first + count); ++i) {
    momentum_[i] = kept * momentum_[i] + gradients_[i];
    gradients_[i] = -rate * momentum_[i];
  }
}

Judgement Learner::judge(std::span<const float> parameters) {
  Judgement all;
  std::vector<std::uint32_t> numbers;
  for (std::int64_t first = 0; first < data_.test.count(); first += kJudgedTogether) {
    numbers.resize(static_cast<std::size_t>(
        std::min<std::int64_t>(kJudgedTogether, data_.test.count() - first)));
    std::iota(numbers.begin(), numbers.end(), static_cast<std::uint32_t>(first));
    samples_.clear();
    kinds_.clear();
    take(data_.test, numbers);
    const Judgement some = network_.forward(parameters, samples_, kinds_);
    all.samples += some.samples;
    all.right += some.right;
    all.loss += some.loss;
  }
  return all;
}

}  // namespace tw::learn
