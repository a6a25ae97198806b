// SPDX-License-Identifier: Apache-2.0
#include "trainwire/trainer/pupil.h"

#include "trainwire/base/error.h"
#include "trainwire/base/random.h"
#include "trainwire/learn/half.h"
#include "trainwire/os/clock.h"

#include <fmt/format.h>

#include <algorithm>

namespace tw::trainer {
namespace {

using workload::Precision;

/// The learning rate falls in a line to this share of its first value.
constexpr double kLastRate = 0.05;

learn::Lesson lesson_of(const workload::Training& training) {
  const workload::Learning& how = *training.learning;
  return {.model = how.model,
          .widths = how.widths,
          .batch = how.batch,
          .learning_rate = how.learning_rate,
          .momentum = how.momentum,
          .seed = training.arrangement.seed};
}

/// Sums of parameters with random signs: two models whose sums agree agree.
std::vector<double> digest_of(std::span<const float> parameters, std::uint64_t seed) {
  std::vector<double> sums(kDigestSums + 1);
  Random random(seed, "digest");
  for (const float value : parameters) {
    const std::uint64_t signs = random.next();
    for (std::size_t i = 0; i < kDigestSums; ++i) {
      sums[i] += (signs >> i & 1) != 0 ? static_cast<double>(value) : -static_cast<double>(value);
    }
    sums.back() += static_cast<double>(value) * static_cast<double>(value);
  }
  return sums;
}

std::string bucket_name(std::string_view what, std::size_t bucket) {
  return fmt::format("{} of bucket {}", what, bucket);
}

std::vector<float> copy_of(std::span<const float> values) { return {values.begin(), values.end()}; }

}  // namespace

Pupil::Pupil(const Task& task, const learn::DataSet& data, std::span<float> payload)
    : task_(task),
      training_(task.training),
      how_(*task.training.learning),
      data_(data),
      payload_(payload),
      learner_(lesson_of(task.training), data) {
  std::int64_t next = 0;
  for (const std::int64_t parameters : how_.parameters) {
    firsts_.push_back(next);
    next += parameters;
    if (how_.precision == Precision::TopK) {
      compressed_.emplace_back(parameters, workload::kept_gradients(parameters, how_.top_k));
    }
  }
  check(next == std::ssize(learner_.parameters()), "zoo and learn know the same model");
}

std::span<float> Pupil::words(int bucket) {
  const workload::Range range = training_.range(bucket);
  return payload_.subspan(static_cast<std::size_t>(range.first),
                          static_cast<std::size_t>(range.elements));
}

std::span<float> Pupil::of_bucket(std::span<float> all, int bucket) const {
  const auto i = static_cast<std::size_t>(bucket);
  return all.subspan(static_cast<std::size_t>(firsts_[i]),
                     static_cast<std::size_t>(how_.parameters[i]));
}

void Pupil::give_model() {
  if (how_.precision == Precision::TopK) return;
  for (int b = 0; b < std::ssize(firsts_); ++b) {
    const std::span<float> parameters = of_bucket(learner_.parameters(), b);
    if (how_.precision == Precision::Fp16) {
      learn::pack_halves(parameters, words(b));
    } else {
      std::ranges::copy(parameters, words(b).begin());
    }
  }
}

void Pupil::take_model() {
  if (how_.precision == Precision::TopK) return;
  for (int b = 0; b < std::ssize(firsts_); ++b) {
    const std::span<float> parameters = of_bucket(learner_.parameters(), b);
    if (how_.precision == Precision::Fp16) {
      learn::unpack_halves(words(b), parameters);
    } else {
      std::ranges::copy(words(b), parameters.begin());
    }
  }
}

/// Workers take their batches in turn, so that all together take what one with a larger batch would.
std::int64_t Pupil::first_sample(std::int64_t step, int local) const {
  const std::int64_t batches = (step + training_.warmup) * how_.local_steps + local;
  return (batches * training_.workers() + task_.rank) * how_.batch;
}

double Pupil::rate(std::int64_t step) const {
  const auto all = static_cast<double>(training_.steps + training_.warmup);
  const double done = static_cast<double>(step + training_.warmup) / std::max(all, 1.0);
  return how_.learning_rate * (1 - (1 - kLastRate) * done);
}

void Pupil::forward(std::int64_t step) {
  if (begin_ns_ == 0) begin_ns_ = os::monotonic_ns();
  learner_.set_rate(rate(step));
  learner_.forward(first_sample(step, 0));
}

void Pupil::take_local_steps(std::int64_t step) {
  const std::int64_t all = std::ssize(learner_.parameters());
  for (int local = 0; local < how_.local_steps; ++local) {
    if (local > 0) learner_.forward(first_sample(step, local));
    learner_.backward(all);
    learner_.descend(0, all);
  }
}

void Pupil::learn_alone(std::int64_t step) {
  forward(step);
  take_local_steps(step);
}

void Pupil::backward(std::int64_t step, int bucket) {
  const auto i = static_cast<std::size_t>(bucket);
  const double share = training_.asynchronous() ? 1.0 / training_.workers() : 1.0;
  if (how_.local_steps > 1 && bucket == 0) {
    before_ = copy_of(learner_.parameters());
    take_local_steps(step);
    for (std::size_t p = 0; p < before_.size(); ++p) {
      learner_.gradients()[p] = static_cast<float>(share) * (learner_.parameters()[p] - before_[p]);
    }
  }
  if (how_.local_steps == 1) {
    learner_.backward(firsts_[i] + how_.parameters[i]);
    if (sends_changes()) learner_.propose(firsts_[i], how_.parameters[i], share);
  }
  fill(step, bucket);
}

void Pupil::fill(std::int64_t step, int bucket) {
  const std::span<float> gradients = of_bucket(learner_.gradients(), bucket);
  switch (how_.precision) {
    case Precision::Fp32:
      std::ranges::copy(gradients, words(bucket).begin());
      return;
    case Precision::Fp16:
      return learn::pack_halves(gradients, words(bucket));
    case Precision::TopK: {
      const bool chooses = (step + training_.warmup) % training_.workers() == task_.rank;
      compressed_[static_cast<std::size_t>(bucket)].send(gradients, chooses, words(bucket));
    }
  }
}

void Pupil::update(std::int64_t) {
  if (training_.asynchronous()) return take_model();
  for (int b = 0; b < std::ssize(firsts_); ++b) {
    const std::span<float> gradients = of_bucket(learner_.gradients(), b);
    if (how_.precision == Precision::TopK) {
      compressed_[static_cast<std::size_t>(b)].receive(words(b), gradients);
    } else if (how_.precision == Precision::Fp16) {
      learn::unpack_halves(words(b), gradients);
    } else {
      std::ranges::copy(words(b), gradients.begin());
    }
  }
  const float share = 1.0f / static_cast<float>(training_.workers());
  for (float& gradient : learner_.gradients()) gradient *= share;
  if (how_.local_steps == 1 && !sends_changes()) {
    return learner_.descend(0, std::ssize(learner_.parameters()));
  }
  if (how_.local_steps > 1) std::ranges::copy(before_, learner_.parameters().begin());
  for (std::size_t p = 0; p < learner_.parameters().size(); ++p) {
    learner_.parameters()[p] += learner_.gradients()[p];
  }
}

/// Momentum of what travels now and then would push parameters far beyond: it is taken of every
/// gradient, before some of them are kept (Lin et al. 2018, arXiv:1712.01887).
bool Pupil::sends_changes() const {
  return training_.asynchronous() || how_.precision == Precision::TopK;
}

void Pupil::look(std::int64_t step) {
  const std::int64_t steps = step + training_.warmup + 1;
  const bool last = step + 1 == training_.steps;
  if (steps % how_.evaluate_every != 0 && !last) return;
  const std::int64_t turn = last ? 0 : steps / how_.evaluate_every % training_.workers();
  if (!training_.asynchronous() && turn != task_.rank) return;
  kept_.push_back({.steps = steps,
                   .time_ns = os::monotonic_ns() - begin_ns_,
                   .parameters = copy_of(learner_.parameters())});
}

Learnt Pupil::learnt() {
  Learnt learnt{.data = data_.name,
                .train_samples = data_.train.count(),
                .test_samples = data_.test.count(),
                .parameters = std::ssize(learner_.parameters()),
                .digest = digest_of(learner_.parameters(), training_.arrangement.seed)};
  for (const Kept& kept : kept_) {
    const learn::Judgement judgement = learner_.judge(kept.parameters);
    learnt.looks.push_back({.steps = kept.steps,
                            .time_ns = kept.time_ns,
                            .loss = judgement.mean_loss(),
                            .accuracy = judgement.accuracy()});
  }
  return learnt;
}

learn::State Pupil::state(std::int64_t step) const {
  learn::State state{.step = step, .arrays = {}};
  state.arrays["parameters"] = copy_of(learner_.parameters());
  state.arrays["momentum"] = copy_of(learner_.momentum());
  for (std::size_t b = 0; b < compressed_.size(); ++b) {
    state.arrays[bucket_name("kept", b)] = copy_of(compressed_[b].kept());
    state.arrays[bucket_name("next", b)] = copy_of(compressed_[b].next());
  }
  return state;
}

void Pupil::restore(const learn::State& state) {
  learn::restore(state, "parameters", learner_.parameters());
  learn::restore(state, "momentum", learner_.momentum());
  for (std::size_t b = 0; b < compressed_.size(); ++b) {
    learn::restore(state, bucket_name("kept", b), compressed_[b].kept());
    learn::restore(state, bucket_name("next", b), compressed_[b].next());
  }
}

void Pupil::begin_anew(std::int64_t step) {
  learn::State begun = state(step);
  for (auto& [name, values] : begun.arrays) {
    if (name != "parameters") std::ranges::fill(values, 0.0f);
  }
  restore(begun);
}

void Pupil::take_kept(std::vector<Kept> kept, std::int64_t first_step) {
  std::erase_if(kept, [&](const Kept& one) { return one.steps > first_step + training_.warmup; });
  kept_ = std::move(kept);
}

}  // namespace tw::trainer
