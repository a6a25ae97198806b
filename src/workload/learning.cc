// SPDX-License-Identifier: Apache-2.0
#include "trainwire/workload/learning.h"

#include "trainwire/base/error.h"
#include "trainwire/workload/training.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tw::workload {
namespace {

using collective::Operation;

/// Models whose parameters a float holds the numbers of exactly: top-k sends them as such.
constexpr std::int64_t kMostNumbered = std::int64_t{1} << 24;

Precision precision_of(spec::Gradient gradient) {
  switch (gradient) {
    case spec::Gradient::Fp32:
      return Precision::Fp32;
    case spec::Gradient::Fp16:
      return Precision::Fp16;
    case spec::Gradient::TopK:
      return Precision::TopK;
  }
  return Precision::Fp32;
}

/// Why it cannot be; "" when it can.
std::string problem_of(const spec::Job& job, const Training& training) {
  if (job.payload_divisor != 1) {
    return "gradients that are trained with cannot be made smaller by run.scale; take "
           "run.slow_motion instead";
  }
  const Operation operation = training.row().operation;
  if (operation == Operation::AllToAll || operation == Operation::Broadcast) {
    return fmt::format(
        "{} sums no gradients, so nothing can be trained with it; take another "
        "strategy, or compute = \"profile\"",
        training.strategy);
  }
  if (training.forward_overlap) {
    return "forward_overlap is played by sim alone; leave it out to train";
  }
  if (*job.gradient != spec::Gradient::Fp32 && training.asynchronous()) {
    return fmt::format(
        "{} exchanges models, which travel whole; take gradient = \"fp32\", or a "
        "strategy that waits for all gradients",
        training.row().draws_peers ? training.strategy : "an asynchronous server");
  }
  if (*job.gradient == spec::Gradient::TopK && training.model.trainable() > kMostNumbered) {
    return "topk numbers up to 16,777,216 parameters; take fp32 or fp16";
  }
  return {};
}

}  // namespace

std::int64_t kept_gradients(std::int64_t parameters, double top_k) {
  const auto kept = std::llround(std::ceil(static_cast<double>(parameters) * top_k));
  return std::clamp<std::int64_t>(kept, std::min<std::int64_t>(parameters, 1), parameters);
}

std::int64_t payload_words(const Learning& learning, std::int64_t parameters) {
  switch (learning.precision) {
    case Precision::Fp32:
      return parameters;
    case Precision::Fp16:
      return (parameters + 1) / 2;
    case Precision::TopK:
      return 2 * kept_gradients(parameters, learning.top_k);
  }
  return parameters;
}

void make_learn(const spec::Job& job, Training& training) {
  if (const std::string problem = problem_of(job, training); !problem.empty()) {
    throw SpecError(fmt::format("job {}: compute = \"train\": {}", training.name, problem));
  }
  Learning learning{.model = *job.model,
                    .widths = job.widths->value_or(std::vector<int>{}),
                    .data = *job.data,
                    .batch = *job.batch,
                    .learning_rate = *job.learning_rate,
                    .momentum = *job.momentum,
                    .local_steps = *job.local_steps,
                    .precision = precision_of(*job.gradient),
                    .top_k = *job.top_k,
                    .evaluate_every = *job.evaluate_every,
                    .target_accuracy = job.target_accuracy->value_or(0),
                    .paced = job.compute_time->has_value()};
  for (Bucket& bucket : training.buckets) {
    learning.parameters.push_back(bucket.elements);
    bucket.elements = payload_words(learning, bucket.elements);
  }
  // What top-k sends has no room for a model: every rank makes the first one from the seed.
  if (learning.precision == Precision::TopK) training.broadcast = false;
  // Batches that a worker takes alone change one model: there is nothing to send before the last.
  if (learning.local_steps > 1) training.overlap = false;
  training.learning = std::move(learning);
}

}  // namespace tw::workload
