// SPDX-License-Identifier: Apache-2.0
// The training job in the traffic: its exchanges, or its pulls, and what was recognised in them.
//
// Hypotheses are tempos of single flows, and of all flows of a pair together (first, where pairs
// spread their bytes over several connections); the one whose exchanges fit a strategy best and
// explain most bytes wins. Beside it there may be traffic at other tempos or none: that is not part
// of the job.

#pragma once

#include "trainwire/imports/step_log.h"
#include "trainwire/recognise/pulls.h"
#include "trainwire/recognise/recognise.h"
#include "trainwire/rhythm/channel.h"
#include "trainwire/rhythm/steps.h"

#include <optional>
#include <string>
#include <vector>

namespace tw::recognise {

/// Traffic that repeats and is no training, as far as can be told.
struct Repetition {
  double period_ns;
  std::vector<int> hosts;  ///< that send or receive it
  std::string why_not;     ///< "but ..."
};

/// What a ring would carry if it went through all hosts that the only one seen is connected with.
struct RingGuess {
  int hosts;
  double payload;
};

struct Job {
  std::vector<rhythm::Channel> channels;  ///< that lanes and pulls refer to
  std::optional<rhythm::Steps> exchanges;
  std::optional<Recognition> recognition;
  std::optional<rhythm::Alternative> alternative;
  std::optional<Pulls> pulls;
  bool from_log = false;   ///< the exchanges are those of the log's steps
  std::string looked_for;  ///< when nothing was found: what, and how close it came
  std::optional<Repetition> repetition = {};  ///< when nothing was found
  /// The host whose side alone the exchanges show: what is not recognised there may be anything.
  std::optional<int> only_host = {};
  std::optional<RingGuess> ring_guess = {};
  double doubt = 0;  ///< probability that the exchanges are no training
  double score = 0;  ///< of the bytes that were given, at most 2: how much of them, how well

  /// Numbers of the flows that carry gradients, rising.
  std::vector<std::size_t> gradient_flows() const;
};

/// The job in these flows. With a log its steps come first: tempos that nobody logged are only
/// tried where they explain nothing.
Job job_of(const std::vector<rhythm::Channel>& flows, const gather::Captured& traffic,
           const std::vector<int>& host_of, const std::optional<imports::StepLog>& log = {});

}  // namespace tw::recognise
