// SPDX-License-Identifier: Apache-2.0
// A rank that really trains: between a learner, which knows parameters and gradients, and the payload
// that ranks exchange, which holds words (workload/learning.h).
//
//   all wait for all     gradients travel, their mean is descended along by every worker; with local
//                        steps, what these changed travels and its mean is taken
//   the same, top-k      what a worker would change by itself travels, its mean is taken
//   asynchronous server  a worker's share of a step travels, the server adds it to the parameters and
//                        answers with them
//   pair averaging       parameters travel
//
// Now and then it keeps a copy of its parameters, which it judges by the test set in the end, so that
// judging costs the training no time.

#pragma once

#include "trainwire/learn/learner.h"
#include "trainwire/learn/state.h"
#include "trainwire/learn/top_k.h"
#include "trainwire/trainer/learnt.h"
#include "trainwire/trainer/task.h"

#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

namespace tw::trainer {

class Pupil {
 public:
  /// A model to be judged in the end.
  struct Kept {
    std::int64_t steps = 0;  ///< done
    std::int64_t time_ns = 0;
    std::vector<float> parameters;
  };

  /// REQUIRES: task.training.learning; what is passed outlives it. Throws SpecError when the model
  /// does not fit the data.
  Pupil(const Task& task, const learn::DataSet& data, std::span<float> payload);

  /// The model into the payload, where it is to be sent, and back.
  void give_model();
  void take_model();

  /// A step's first batch; backward to a bucket's end, whose payload is then filled (with local steps
  /// the first bucket's backward does all of them); the new model from what the exchange has left in
  /// the payload.
  void forward(std::int64_t step);
  void backward(std::int64_t step, int bucket);
  void update(std::int64_t step);
  /// Forward, backward and descent of all local steps, nothing exchanged.
  void learn_alone(std::int64_t step);

  /// After a step: keeps the model where it is this rank's turn to judge it.
  void look(std::int64_t step);
  /// Judges what was kept.
  Learnt learnt();

  /// To go on before `step`.
  learn::State state(std::int64_t step) const;
  /// Throws DataError when it is another model's.
  void restore(const learn::State& state);
  /// All ranks of a group begin with one model: what each has gathered besides is forgotten.
  void begin_anew(std::int64_t step);

  /// What it has kept, for who goes on in another group; and from such a one, as far as those steps
  /// are not done again.
  std::vector<Kept> give_kept() { return std::move(kept_); }
  void take_kept(std::vector<Kept> kept, std::int64_t first_step);
  /// When its first step began, by CLOCK_MONOTONIC; 0: not yet. Who goes on keeps it.
  std::int64_t begin_ns() const { return begin_ns_; }
  void began(std::int64_t begin_ns) { begin_ns_ = begin_ns; }

 private:
  bool sends_changes() const;
  double rate(std::int64_t step) const;
  std::int64_t first_sample(std::int64_t step, int local) const;
  void take_local_steps(std::int64_t step);
  void fill(std::int64_t step, int bucket);
  std::span<float> words(int bucket);
  std::span<float> of_bucket(std::span<float> all, int bucket) const;

  const Task& task_;
  const workload::Training& training_;
  const workload::Learning& how_;
  const learn::DataSet& data_;
  std::span<float> payload_;
  learn::Learner learner_;
  std::vector<std::int64_t> firsts_;     ///< each bucket's first parameter
  std::vector<learn::TopK> compressed_;  ///< by bucket, with top-k
  std::vector<float> before_;            ///< the model when local steps began
  std::vector<Kept> kept_;
  std::int64_t begin_ns_ = 0;  ///< of the first step
};

}  // namespace tw::trainer
