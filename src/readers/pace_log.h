// SPDX-License-Identifier: Apache-2.0
// What a step took, as training programs print it: Megatron ("elapsed time per iteration (ms): 512.3"), DeepSpeed ("iter
// time (s)"; "global_step=10, RunningAvgSamplesPerSec=20.1, CurrSamplesPerSec=22.4" with the "train_batch_size" that it
// prints at its start; or its breakdown "time (ms) | fwd: 120.50 | bwd: 250.30 | .. | step: 30.20"), verl ("timing_s/step:40.25"), progress
// bars (pace_bars.h); a metric in a CSV (imports/metric_table.h); and a step's number with a time beside it: nanoGPT ("iter 10: loss 9.6, time 250.1ms"), NeMo, MaxText, MMEngine,
// Detectron2, timm, Swin, llm.c, torchvision and what follows its logger, PyTorch's ImageNet example. Steps a second: fairseq,
// Composer, TensorFlow; images a second with the batch: benchmarks of Horovod and TensorFlow. Where nothing else is told, the mean of
// the whole training at its end (Hugging Face's "train_steps_per_second").
//
// Several ranks may print Megatron's line: the first of an iteration counts. Bars count where lines do not tell steps themselves.
//
// Limits: a line may stand for several steps (log interval); then each has its mean. Progress bars tell an average and
// the elapsed time in whole seconds: the steps between two lines share the time between them.

#pragma once

#include "trainwire/imports/metric_table.h"
#include "trainwire/operations/told.h"
#include "trainwire/readers/pace_bars.h"

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
  /// Bars are one, and so is the mean of a whole training.
  std::size_t steps() const {
    const bool has_means = bars_.any() || whole_per_s_ > 0;
    return std::max(steps_.size() + paces_.size() + rates_.size(),
                    std::max<std::size_t>(has_means ? 1 : 0, phases_.size()));
  }
  /// Whether all it has are numbers of steps with a time beside them, as any log may have them.
  bool is_loose() const { return steps() == numbered_; }
  /// Whether all it has are samples a second, and no line tells how many samples a step has.
  bool lacks_batch() const { return !paces_.empty() && steps() == paces_.size() && !batch(); }
  /// is_loose() of what finish() has told.
  bool was_loose() const { return told_ == numbered_; }

 private:
  bool timed(std::string_view text);
  bool rated(std::string_view text);
  bool numbered(std::string_view text);
  bool add_numbered(std::int64_t number, double seconds);
  bool samples(std::string_view text);
  bool phases(std::string_view text);
  bool bar(std::string_view text);
  bool whole(std::string_view text);
  bool in_table(std::string_view text);
  void check(std::string_view text);
  void finish_clock(operations::Told& told);
  void finish_rates(operations::Told& told);
  void finish_samples(operations::Told& told);
  void finish_means(operations::Told& told);
  void add(std::int64_t number, double seconds);
  bool add_rate(std::string_view text, std::string_view value);
  bool worker_speed(std::string_view text);
  const std::optional<std::int64_t>& batch() const { return are_workers_ ? worker_batch_ : batch_; }
  bool is_told(std::int64_t number) const;

  /// A line that tells samples a second, until the batch is known.
  struct Pace {
    std::int64_t number;
    double samples_per_s;
  };

  /// What steps took as lines tell it, and what passed between the time stamps of these lines.
  struct Stamped {
    std::int64_t number = 0;
    std::int64_t time_ns = 0;
    double told_s = 0;
    double passed_s = 0;
    std::int64_t steps = 0;
  };

  std::vector<operations::Step> steps_;
  std::vector<operations::Step> rates_;  ///< of lines that tell steps a second
  std::vector<Pace> paces_;
  Stamped stamped_;
  std::size_t numbered_ = 0;
  std::size_t told_ = 0;
  double rounded_ = 0;     ///< by how much of itself a rate may be rounded, at most
  std::size_t parts_ = 0;  ///< iterations of LitGPT at whose end there is no step of the optimizer
  std::size_t ends_ = 0;   ///< and others
  std::optional<std::int64_t> batch_;         ///< samples of a step, of all ranks
  std::optional<std::int64_t> worker_batch_;  ///< of MXNet, one worker's
  std::optional<std::int64_t> worker_;        ///< whose speed counts; several print the same batch
  bool are_workers_ = false;                  ///< paces are of one worker
  std::optional<std::int64_t> batch_number_;  ///< of the line "[batch=10/4800]:"
  std::vector<double> phases_;   ///< seconds of DeepSpeed's forward, backward and step together
  double whole_per_s_ = 0;       ///< steps a second of the whole training
  bool is_whole_exact_ = false;  ///< it was not rounded
  PaceBars bars_;
  imports::MetricTable table_;
  operations::Skips skips_;
};

}  // namespace tw::readers
