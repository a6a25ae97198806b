// SPDX-License-Identifier: Apache-2.0
#include "trainwire/lab/alone.h"

#include "trainwire/base/error.h"
#include "trainwire/lab/measure.h"

#include <fmt/format.h>

namespace tw::lab {

AloneRuns measure_alone(const spec::Experiment& experiment, const RunPlace& place,
                        const std::string& folder, const record::Maker& maker,
                        const Observer& observer) {
  AloneRuns runs;
  for (std::size_t i = 0; i < experiment.jobs.size() && !runs.interrupted; ++i) {
    spec::Experiment one = experiment;
    one.jobs = {experiment.jobs[i]};
    record::RunFolder own(fmt::format("{}/alone-{}", folder, i), maker, result::IfThere::Replace);
    Observer looking = observer;
    looking.judge = {};  // what is expected is expected of all together
    if (observer.tell) {
      looking.tell = [&](const std::string& what) {
        observer.tell(fmt::format("{} alone: {}", *experiment.jobs[i].name, what));
      };
    }
    const Measured measured = measure(one, place, own, looking);
    if (measured.failure) {
      throw Error(fmt::format("{} alone: {}; {} holds what there was until then",
                              *experiment.jobs[i].name, *measured.failure, own.path()));
    }
    runs.interrupted = measured.interrupted;
    runs.steps.push_back(measured.run.jobs.front().step);
  }
  return runs;
}

void add_alone(record::Run& run, const AloneRuns& alone) {
  for (std::size_t i = 0; i < run.jobs.size() && i < alone.steps.size(); ++i) {
    record::Job& job = run.jobs[i];
    if (!job.step || !alone.steps[i] || alone.steps[i]->median_s <= 0) continue;
    job.alone = record::Alone{.step = *alone.steps[i],
                              .slowdown = job.step->median_s / alone.steps[i]->median_s};
  }
}

}  // namespace tw::lab
