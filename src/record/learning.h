// SPDX-License-Identifier: Apache-2.0
// What a model that ranks really trained had learnt, and when: accuracy on a test set against steps,
// seconds and bytes.
//
// Models are looked at where a step ends and judged after the last one, so that judging costs the
// training nothing. Where all ranks hold the same model, one of them judges each look; where each has
// its own (pair averaging, asynchronous servers), every worker judges its own.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tw::record {

struct LearningPoint {
  int rank = 0;
  std::int64_t step = 0;        ///< steps done, warm-up included
  double time_s = 0;            ///< after the job's first step began
  std::int64_t samples = 0;     ///< that all workers had trained on
  std::int64_t sent_bytes = 0;  ///< of payload, by all ranks, first model included
  double loss = 0;              ///< cross entropy of the test set
  double accuracy = 0;          ///< share of the test set that is named right
  bool operator==(const LearningPoint&) const = default;
};

/// When the mean over ranks first reached an accuracy; nothing where it never did.
struct LearningTarget {
  double accuracy = 0;
  std::optional<std::int64_t> step = {};
  std::optional<double> time_s = {};
  std::optional<std::int64_t> sent_bytes = {};
  bool operator==(const LearningTarget&) const = default;
};

/// Of asynchronous servers: what others pushed between a worker's last answer and its next push.
struct Staleness {
  double mean = 0;
  std::int64_t most = 0;
  bool operator==(const Staleness&) const = default;
};

struct Learning {
  std::string data = {};  ///< "fashion-mnist", "synthetic", a folder
  std::int64_t train_samples = 0;
  std::int64_t test_samples = 0;
  std::int64_t parameters = 0;
  std::string gradient = {};  ///< how gradients travelled
  int local_steps = 1;
  double accuracy = 0;  ///< in the end: mean over ranks, and the worst and best of them
  double accuracy_low = 0;
  double accuracy_high = 0;
  double loss = 0;
  double time_s = 0;
  std::int64_t sent_bytes = 0;
  std::optional<LearningTarget> target = {};
  std::optional<Staleness> staleness = {};
  std::vector<LearningPoint> points = {};
  bool operator==(const Learning&) const = default;
};

}  // namespace tw::record
