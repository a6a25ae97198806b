// SPDX-License-Identifier: Apache-2.0
#include "trainwire/guide/fitted_run.h"

#include "trainwire/base/error.h"
#include "trainwire/base/printable.h"
#include "trainwire/record/run_file.h"
#include "trainwire/spec/print.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

namespace tw::guide {

bool is_run(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored);
}

like::Fitted fitted_run(const std::string& folder, sim::Level level, bool force) {
  std::error_code ignored;
  if (!std::filesystem::exists(folder + "/run.json", ignored)) {
    throw SystemError(fmt::format(
        "reading {}: {}; give a folder that `run`, `sim`, `exec` or `analyze` has written",
        printable(folder),
        std::filesystem::is_directory(folder, ignored) ? "it holds no run (no run.json)"
                                                       : "there is no such folder"));
  }
  const record::RunFile file = record::read_run(folder);
  return like::fit(file.summary, folder, {.level = level, .in_spite_of_checks = force});
}

void put_in_place(command::ExperimentFile& file, const like::Fitted& fitted) {
  file.content = spec::to_toml(fitted.experiment);
}

void compute_alike(spec::Experiment& experiment, const like::Fitted& fitted) {
  if (experiment.jobs.size() != fitted.jobs.size()) {
    throw DataError(fmt::format(
        "the run has {} jobs and the experiment {}: which is like which is not known; name a run "
        "of as many",
        fitted.jobs.size(), experiment.jobs.size()));
  }
  for (std::size_t i = 0; i < experiment.jobs.size(); ++i) {
    const spec::Job& measured = fitted.experiment.jobs[i];
    experiment.jobs[i].compute = measured.compute;
    experiment.jobs[i].compute_time = measured.compute_time;
    experiment.jobs[i].compute_jitter = measured.compute_jitter;
  }
}

void adjust(forecast::Asking& asking, const like::Fitted& fitted) {
  asking.adjusted = [jobs = fitted.jobs](std::size_t job, double step_s, double alone_s) {
    return like::step_s(jobs.at(job), {.step_s = step_s, .compute_s = alone_s});
  };
}

void name_hosts(std::vector<forecast::JobForecast>& jobs, const like::Fitted& fitted) {
  for (forecast::JobForecast& job : jobs) {
    std::string& where = job.binding.where;
    const std::size_t end = std::min(where.find(','), where.size());
    for (std::size_t host = 0; host < fitted.hosts.size(); ++host) {
      if (where.substr(0, end) != spec::host_name(static_cast<int>(host))) continue;
      where = fitted.hosts[host] + where.substr(end);
      break;
    }
  }
}

double uncertainty(const like::Fitted& fitted) {
  double most = 0;
  for (const like::JobFit& job : fitted.jobs) {
    if (job.factor_low <= 0 || job.factor_high <= 0) continue;
    most = std::max(most, 0.5 * std::abs(std::log(job.factor_high / job.factor_low)));
  }
  return most;
}

}  // namespace tw::guide
