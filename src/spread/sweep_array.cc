// SPDX-License-Identifier: Apache-2.0
#include "trainwire/spread/sweep_array.h"

#include "trainwire/base/error.h"
#include "trainwire/fleet/job_array.h"
#include "trainwire/fleet/launch.h"
#include "trainwire/fleet/seat.h"
#include "trainwire/os/file_descriptor.h"
#include "trainwire/os/own_program.h"
#include "trainwire/record/run_file.h"
#include "trainwire/sweep/earlier.h"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <span>
#include <utility>

namespace tw::spread {
namespace {

constexpr const char* kJob = "array.txt";

void write(const std::string& path, const std::string& text) {
  os::write_all(os::open_in_place(path), std::as_bytes(std::span(text)), path);
}

void remove(const std::string& path) {
  std::error_code ignored;
  std::filesystem::remove(path, ignored);
}

}  // namespace

bool is_array(const lab::RunPlace& place) {
  return place.launch && place.launch->kind == fleet::LaunchKind::Srun &&
         !fleet::own_variable("SLURM_JOB_ID");
}

SweepArray::SweepArray(ArrayOptions options, const sweep::Request& request, std::string folder,
                       const lab::Observer& looking, command::Streams streams)
    : options_(std::move(options)),
      request_(request),
      folder_(std::move(folder)),
      looking_(looking),
      streams_(streams),
      experiment_(options_.experiment.path) {
  if (options_.experiment.is_file()) return;
  experiment_ = folder_ + "/experiment.toml";
  write(experiment_, options_.experiment.content.value_or(""));
}

sweep::Engine SweepArray::engine() {
  return {.command = "run",
          .attempt = [this](std::size_t i, const std::string& at) { return attempt(i, at); },
          .spread = [this](const std::vector<std::size_t>& points) { spread(points); }};
}

std::string SweepArray::path_of(std::size_t point) const {
  return fmt::format("{}/{}", folder_, request_.points[point].folder);
}

/// The point as a run of its own.
std::vector<std::string> SweepArray::words_of(std::size_t point) const {
  std::vector<std::string> words = os::own_program().words;
  const auto add = [&](std::initializer_list<std::string> more) {
    words.insert(words.end(), more.begin(), more.end());
  };
  add({"run", experiment_});
  for (const std::string& each : options_.experiment.overrides) add({"--set", each});
  for (const std::string& each : request_.points[point].settings) add({"--set", each});
  add({"--set", "sweep={}", "--set", "run.repeats=1", "--launch", "srun", "--out", path_of(point),
       "--force", "--no-page", "--quiet", "--keep-going"});
  words.insert(words.end(), options_.more.begin(), options_.more.end());
  return words;
}

void SweepArray::spread(std::vector<std::size_t> points) {
  await_earlier(points);
  for (std::size_t begin = 0; begin < points.size() && !interrupted_; begin += fleet::kMostTasks) {
    const std::size_t end = std::min(points.size(), begin + fleet::kMostTasks);
    run({points.begin() + static_cast<std::ptrdiff_t>(begin),
         points.begin() + static_cast<std::ptrdiff_t>(end)});
  }
}

/// Takes out what a job that an earlier start has left brings.
void SweepArray::await_earlier(std::vector<std::size_t>& points) {
  const std::string file = fmt::format("{}/{}", folder_, kJob);
  std::string line;
  std::getline(std::ifstream(file), line);
  const auto job = fleet::job_number(line);
  if (!job) return;
  if (request_.again) {
    fleet::cancel(*job);
    return remove(file);
  }
  if (!options_.quiet) {
    fmt::print(streams_.err,
               "trainwire: job {} of an earlier start may still be there; waiting for it\n", *job);
    streams_.err.flush();
  }
  wait(*job, points);
  std::erase_if(points, [&](std::size_t i) {
    return sweep::is_finished(folder_, request_.points[i], request_.experiments[i]);
  });
}

void SweepArray::run(const std::vector<std::size_t>& points) {
  std::vector<fleet::Words> tasks;
  for (const std::size_t i : points) {
    tasks_[i] = fmt::format("{}/task-{}.txt", folder_, tasks.size());
    tasks.push_back(words_of(i));
    remove(tasks_[i]);
    remove(path_of(i) + "/run.json");  // what is there then is of this array
  }
  const int nodes = *request_.experiment.network.hosts;
  const fleet::ArrayOrder order{.name = "trainwire",
                                .script = folder_ + "/array.sh",
                                .folder = folder_,
                                .nodes = nodes,
                                .tasks = tasks.size()};
  write(order.script, fleet::array_script(tasks));
  const std::string job = fleet::submit(order);
  write(fmt::format("{}/{}", folder_, kJob), job + "\n");
  if (!options_.quiet) {
    fmt::print(streams_.err, "trainwire: {} points as job array {}, {} node{} each\n",
               points.size(), job, nodes, nodes == 1 ? "" : "s");
    streams_.err.flush();
  }
  wait(job, points);
}

void SweepArray::wait(const std::string& job, const std::vector<std::size_t>& points) {
  const auto is_finished = [&](std::size_t i) {
    return sweep::is_finished(folder_, request_.points[i], request_.experiments[i]);
  };
  const fleet::ArrayEnd end =
      fleet::wait_for(job, {.longest_hopeless = *request_.experiment.run.timeout,
                            .tell =
                                [&](const fleet::ArrayState& state) {
                                  if (!looking_.tell) return;
                                  looking_.tell(fmt::format("job array {}: {} points run, {} wait",
                                                            job, state.running, state.waiting));
                                },
                            .stop = looking_.stop,
                            .have_all = [&] { return std::ranges::all_of(points, is_finished); }});
  interrupted_ = end.interrupted;
  if (end.trouble) {  // the job may still be there: its number stays
    throw Error(fmt::format("{}; points that are finished are kept, and the same command goes on",
                            *end.trouble));
  }
  remove(fmt::format("{}/{}", folder_, kJob));
}

sweep::Attempt SweepArray::attempt(std::size_t point, const std::string& at) {
  if (asked_[point]++ > 0) spread({point});
  try {
    record::RunFile file = record::read_run(at);
    if (file.complete) return {.run = std::move(file.summary)};
    if (interrupted_) return {.interrupted = true};
    if (file.partial) return {.failure = *file.partial};
  } catch (const Error&) {  // it has left nothing
  }
  if (interrupted_) return {.interrupted = true};
  std::ifstream output(tasks_[point]);
  std::string why = fleet::last_words(output);
  if (why.empty())
    why = "Slurm ended it without a word: did its node die, and does every node see the folder?";
  return {.failure = fmt::format("its task left no result: {}", why)};
}

}  // namespace tw::spread
