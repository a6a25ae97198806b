// SPDX-License-Identifier: Apache-2.0
// What a step took, as training programs print it: Megatron ("elapsed time per iteration (ms): 512.3"), DeepSpeed ("iter
// time (s)"; "global_step=10, RunningAvgSamplesPerSec=20.1, CurrSamplesPerSec=22.4" with the "train_batch_size" that it
// prints at its start), progress bars of Lightning, also by rich, Keras and Hugging Face ("10/300 [00:12<05:50, 1.21s/it]"); and a step's number with a
// time beside it: nanoGPT ("iter 10: loss 9.6, time 250.1ms"), NeMo, MaxText, MMEngine, Detectron2, timm, llm.c, PyTorch's ImageNet example. Steps a second: fairseq, Composer;
// images a second with the batch: benchmarks of Horovod and TensorFlow.
//
// Several ranks may print Megatron's line: the first of an iteration counts.
//
// Limits: a line may stand for several steps (log interval); then each has its mean. Progress bars tell an average and
// the elapsed time in whole seconds: the steps between two lines share the time between them.

#pragma once

#include "trainwire/operations/told.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>

namespace tw::readers {

class PaceLog {
 public:
  /// False when it tells nothing of steps.
  bool line(std::string_view text);
  void finish(operations::Told& told);
  /// A bar alone is one.
  std::size_t steps() const {
    return std::max<std::size_t>(has_bars_ ? 1 : 0, steps_.size() + paces_.size());
  }
  /// Whether all it has are numbers of steps with a time beside them, as any log may have them.
  bool is_loose() const { return steps() == numbered_; }

 private:
  bool timed(std::string_view text);
  bool rated(std::string_view text);
  bool numbered(std::string_view text);
  bool progress(std::string_view text);
  bool rich_bar(std::string_view text);
  bool keras_bar(std::string_view text);
  bool samples(std::string_view text);
  void finish_samples(operations::Told& told);
  void add(std::int64_t number, double seconds);
  bool is_told(std::int64_t number) const;

  /// A line that tells samples a second, until the batch is known.
  struct Pace {
    std::int64_t number;
    double samples_per_s;
  };

  std::vector<operations::Step> steps_;
  std::vector<Pace> paces_;
  std::size_t numbered_ = 0;
  std::optional<std::int64_t> batch_;         ///< samples of a step, of all ranks
  std::optional<std::int64_t> batch_number_;  ///< of the line "[batch=10/4800]:"
  std::optional<std::int64_t> bar_number_;
  double bar_elapsed_s_ = 0;
  double bar_each_s_ = 0;
  bool has_bars_ = false;
  operations::Skips skips_;
};

}  // namespace tw::readers
