// SPDX-License-Identifier: Apache-2.0
#include "trainwire/lessons/lessons.h"

#include "trainwire/base/error.h"
#include "trainwire/learn/data_set.h"
#include "trainwire/workload/volume.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace tw::lessons {
namespace {

using record::LearningPoint;
using trainer::Learnt;

/// Sums of floats in another order; more is another model.
constexpr double kSameModel = 1e-4;

constexpr std::array kGradientNames{"fp32", "fp16", "topk"};

std::int64_t sum_of(const std::vector<std::vector<std::int64_t>>& bytes) {
  std::int64_t sum = 0;
  for (const auto& row : bytes) {
    for (const std::int64_t some : row) sum += some;
  }
  return sum;
}

/// Bytes that all ranks send before the first step, and in each.
struct Bytes {
  double start = 0;
  double step = 0;
};

Bytes bytes_of(workload::Training training) {
  const auto all = static_cast<double>(sum_of(workload::bytes_by_rank(training)));
  const auto steps = static_cast<double>(training.steps + training.warmup);
  training.steps = 0;
  training.warmup = 0;
  const auto start = static_cast<double>(sum_of(workload::bytes_by_rank(training)));
  return {.start = start, .step = steps > 0 ? (all - start) / steps : 0};
}

LearningPoint point_of(const workload::Training& training, const Bytes& bytes, int rank,
                       const trainer::Look& look) {
  const workload::Learning& how = *training.learning;
  return {.rank = rank,
          .step = look.steps,
          .time_s = 1e-9 * static_cast<double>(look.time_ns),
          .samples = look.steps * how.local_steps * how.batch * training.workers(),
          .sent_bytes = std::llround(bytes.start + bytes.step * static_cast<double>(look.steps)),
          .loss = look.loss,
          .accuracy = look.accuracy};
}

/// Points of one step, as one: their mean.
struct Mean {
  double accuracy = 0;
  double loss = 0;
  double time_s = 0;  ///< of the last of them
  std::int64_t sent_bytes = 0;
  int count = 0;
};

std::map<std::int64_t, Mean> means_of(const std::vector<LearningPoint>& points) {
  std::map<std::int64_t, Mean> means;
  for (const LearningPoint& point : points) {
    Mean& mean = means[point.step];
    ++mean.count;
    mean.accuracy += (point.accuracy - mean.accuracy) / mean.count;
    mean.loss += (point.loss - mean.loss) / mean.count;
    mean.time_s = std::max(mean.time_s, point.time_s);
    mean.sent_bytes = point.sent_bytes;
  }
  return means;
}

void sum_up(record::Learning& learning, double target) {
  const std::map<std::int64_t, Mean> means = means_of(learning.points);
  if (means.empty()) return;
  const auto& [last, end] = *means.rbegin();
  learning.accuracy = learning.accuracy_low = learning.accuracy_high = end.accuracy;
  learning.loss = end.loss;
  learning.time_s = end.time_s;
  learning.sent_bytes = end.sent_bytes;
  for (const LearningPoint& point : learning.points) {
    if (point.step != last) continue;
    learning.accuracy_low = std::min(learning.accuracy_low, point.accuracy);
    learning.accuracy_high = std::max(learning.accuracy_high, point.accuracy);
  }
  if (target <= 0) return;
  learning.target = record::LearningTarget{.accuracy = target};
  for (const auto& [step, mean] : means) {
    if (mean.accuracy < target) continue;
    learning.target->step = step;
    learning.target->time_s = mean.time_s;
    learning.target->sent_bytes = mean.sent_bytes;
    return;
  }
}

/// How far two digests are apart, as a share of the models' size.
double distance(const std::vector<double>& one, const std::vector<double>& other) {
  if (one.size() != trainer::kDigestSums + 1 || other.size() != one.size()) return INFINITY;
  double squares = 0;
  for (std::size_t i = 0; i < trainer::kDigestSums; ++i) {
    squares += (one[i] - other[i]) * (one[i] - other[i]);
  }
  return std::sqrt(squares / trainer::kDigestSums / std::max(one.back(), 1e-30));
}

bool is_learning(const JobLessons& job) { return job.training.learning.has_value(); }

}  // namespace

std::optional<record::Learning> learning_of(const JobLessons& job) {
  if (!is_learning(job)) return {};
  const workload::Training& training = job.training;
  const workload::Learning& how = *training.learning;
  record::Learning learning{.gradient = kGradientNames[static_cast<std::size_t>(how.precision)],
                            .local_steps = how.local_steps};
  const Bytes bytes = bytes_of(training);
  std::int64_t pushes = 0;
  record::Staleness staleness;
  bool told = false;
  for (std::size_t rank = 0; rank < job.ranks.size(); ++rank) {
    if (!job.ranks[rank]) continue;
    const Learnt& learnt = *job.ranks[rank];
    told = true;
    learning.data = learnt.data;
    learning.train_samples = learnt.train_samples;
    learning.test_samples = learnt.test_samples;
    learning.parameters = learnt.parameters;
    for (const trainer::Look& look : learnt.looks) {
      learning.points.push_back(point_of(training, bytes, static_cast<int>(rank), look));
    }
    pushes += learnt.staleness.pushes;
    staleness.mean += static_cast<double>(learnt.staleness.sum);
    staleness.most = std::max(staleness.most, learnt.staleness.most);
  }
  if (!told) return {};
  std::ranges::sort(learning.points, {},
                    [](const LearningPoint& point) { return std::pair(point.step, point.rank); });
  if (pushes > 0) {
    staleness.mean /= static_cast<double>(pushes);
    learning.staleness = staleness;
  }
  sum_up(learning, how.target_accuracy);
  return learning;
}

void write_accuracy(const record::Job& job, record::RunFolder& folder) {
  if (!job.learning) return;
  result::TableFile& table = folder.table("accuracy");
  for (const LearningPoint& point : job.learning->points) {
    table.row({job.name, point.rank, point.step, point.time_s, point.samples, point.sent_bytes,
               point.loss, point.accuracy});
  }
}

std::optional<record::Check> models_check(std::span<const JobLessons> jobs) {
  double farthest = 0;
  int compared = 0;
  std::string first;
  for (const JobLessons& job : jobs) {
    if (!is_learning(job) || job.training.asynchronous()) continue;
    const std::vector<double>* reference = nullptr;
    for (int rank = 0; rank < std::ssize(job.ranks); ++rank) {
      const std::optional<Learnt>& learnt = job.ranks[static_cast<std::size_t>(rank)];
      if (job.training.is_server(rank) || !learnt) continue;
      ++compared;
      if (reference == nullptr) reference = &learnt->digest;
      const double apart = distance(*reference, learnt->digest);
      if (!(apart <= kSameModel) && first.empty()) {
        first = fmt::format("rank {} of {} holds another model than the job's first worker", rank,
                            job.name);
      }
      farthest = std::isnan(apart) ? INFINITY : std::max(farthest, apart);
    }
  }
  if (compared == 0) return {};
  return record::Check{
      .name = "models",
      .ok = first.empty(),
      .expected = fmt::format("apart by less than {:g} of their size", kSameModel),
      .found = fmt::format("{:.1e} between {} workers", farthest, compared),
      .text = first.empty() ? "all workers of a job ended with the same model" : first};
}

void allow_computing(std::span<const JobLessons> jobs, std::vector<record::Check>& checks) {
  if (std::ranges::none_of(jobs, is_learning)) return;
  for (record::Check& check : checks) {
    if (check.name != "machine" || check.ok) continue;
    check.ok = true;
    check.caution = true;
    check.text = fmt::format(
        "ranks really train on this machine's processors, so steps take what these need: {}",
        check.text);
  }
}

void require_data(const std::string& job, const workload::Training& training) {
  if (!training.learning) return;
  const std::string problem = learn::data_problem(training.learning->data);
  if (problem.empty()) return;
  throw SystemError(fmt::format("job {}: nothing to learn from: {}", job, problem));
}

}  // namespace tw::lessons
