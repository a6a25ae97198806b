// SPDX-License-Identifier: Apache-2.0
#include "trainwire/programs/jobs.h"

#include "trainwire/base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace tw::programs {
namespace {

constexpr const char* kExample = "command = [\"python3\", \"train.py\"]";

std::vector<std::string> words_of(const spec::Experiment& experiment, const spec::Job& job,
                                  const std::vector<std::string>& command) {
  const bool alone = experiment.jobs.size() == 1;
  if (!command.empty() && (alone || job.command->empty())) return command;
  if (!job.command->empty()) return *job.command;
  throw SpecError(
      fmt::format("job {}: nothing says what its ranks run; write {} there, or a command behind --",
                  *job.name, kExample));
}

}  // namespace

std::vector<lab::LaunchRequest> program_jobs(const spec::Experiment& experiment,
                                             const std::vector<std::string>& command) {
  if (experiment.jobs.empty()) {
    if (command.empty()) {
      throw SpecError(fmt::format(
          "nothing says what to run: give a command behind --, or a [[job]] with {}", kExample));
    }
    lab::LaunchRequest launch{.words = command};
    for (int host = 0; host < *experiment.network.hosts; ++host) launch.placement.push_back(host);
    return {launch};
  }
  if (!command.empty() && experiment.jobs.size() > 1 &&
      std::none_of(experiment.jobs.begin(), experiment.jobs.end(),
                   [](const spec::Job& job) { return job.command->empty(); })) {
    throw SpecError(
        fmt::format("every job has its own command; leave out \"-- {}...\", or the "
                    "command of those that shall run it",
                    command.front()));
  }
  std::vector<lab::LaunchRequest> launches;
  for (const spec::Job& job : experiment.jobs) {
    launches.push_back({.job = static_cast<int>(launches.size()),
                        .name = experiment.jobs.size() > 1 ? *job.name : "",
                        .words = words_of(experiment, job, command),
                        .placement = spec::placement(experiment.network, job),
                        .start = *job.start});
  }
  return launches;
}

std::vector<std::string> script_files(const std::vector<lab::LaunchRequest>& jobs) {
  std::vector<std::string> files;
  for (const lab::LaunchRequest& job : jobs) {
    for (std::size_t i = 0; i < job.words.size(); ++i) {
      const std::string& word = job.words[i];
      std::error_code none;
      // "sh" may be a file here by accident; a program by its path is not.
      if (i == 0 && word.find('/') == std::string::npos) continue;
      if (word.empty() || word == "-" || !std::filesystem::is_regular_file(word, none)) continue;
      if (std::find(files.begin(), files.end(), word) == files.end()) files.push_back(word);
    }
  }
  return files;
}

std::string job_name(const lab::LaunchRequest& job) { return job.name.empty() ? "job0" : job.name; }

}  // namespace tw::programs
