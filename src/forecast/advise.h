// SPDX-License-Identifier: Apache-2.0
// What a job could do otherwise on the same network: strategies, servers and where they stand, buckets, ranks on a host, sums and
// copies made by switches; from the fastest to the slowest, and where the order changes.
//
// What counts is the time for a sample: a step over its workers, as ranks that serve compute nothing. Two choices whose intervals overlap are not told apart by their medians alone: `clear` says whether one is.
//
// Limits: one change at a time; nothing is said about what a choice does to training (asynchronous servers, drawn peers), nor
// whether hardware can do it.

#pragma once

#include "trainwire/forecast/changes.h"
#include "trainwire/forecast/interval.h"
#include "trainwire/forecast/step.h"
#include "trainwire/spec/experiment.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tw::forecast {

struct Choice {
  std::string kind = {};  ///< "strategy", "servers", "bucket", "ranks per host", "in the network"
  std::vector<std::string> settings = {};  ///< as --set takes them
  StepTime step = {};
  Interval interval = {};
  int workers = 0;
  double change = 0;   ///< of the time for a sample, relative to the job as it is
  bool clear = false;  ///< its interval and that of the job as it is do not overlap
};

/// Where two strategies change places, to a tenth.
struct Crossing {
  std::string first = {};
  std::string second = {};
  std::string of = {};  ///< "ranks", "gradient bytes"
  double value = 0;
};

struct Advice {
  std::vector<Choice> choices = {};      ///< the fastest first
  std::vector<Crossing> crossings = {};  ///< of the fastest strategies
  std::string left_out = {};             ///< what was not asked, and why; "" where all was
};

/// Of the first job of an experiment with one. Choices that cannot be laid out are left out.
Advice advise(const spec::Experiment& experiment, const Variants& variants,
              const Asking& asking = {}, double constants = 0);

}  // namespace tw::forecast
