// SPDX-License-Identifier: Apache-2.0
#include "trainwire/serve/analyses.h"

#include "trainwire/base/error.h"
#include "trainwire/os/child.h"
#include "trainwire/os/clock.h"
#include "trainwire/os/errno_error.h"
#include "trainwire/os/last_words.h"
#include "trainwire/serve/capture_name.h"
#include "trainwire/serve/refusal.h"
#include "trainwire/serve/upload.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <utility>
#include <vector>

namespace tw::serve {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr std::size_t kMostFinished = 100;
constexpr std::int64_t kMostLogBytes = 64 * 1024;
constexpr int kMostNumbers = 10'000;
constexpr std::string_view kPrefix = "trainwire: ";
constexpr int kMostThreads = 2;  // of `analyze`, that run all the time

/// An empty folder for the run that is ours alone: "job.run", or "job-2.run" where that is taken.
std::string take_folder(const Root& root, const std::string& capture) {
  const std::string stem = stem_of(capture);
  for (int i = 1; i < kMostNumbers; ++i) {
    std::string name = numbered(stem, i) + ".run";
    if (::mkdir((root / name).c_str(), 0777) == 0) return name;
    if (errno != EEXIST) break;
  }
  throw os::errno_error(fmt::format("making a folder for {}", capture), errno,
                        "make room or permit it");
}

/// Where the program writes what it has to say.
os::FileDescriptor make_log() {
  os::FileDescriptor log(::memfd_create("analyze", MFD_CLOEXEC));
  if (!log.is_open()) throw os::errno_error("making room for messages", errno);
  return log;
}

/// The end of it.
std::string text_of(const os::FileDescriptor& log) {
  const std::int64_t bytes = os::file_bytes(log);
  const std::int64_t begin = std::max<std::int64_t>(bytes - kMostLogBytes, 0);
  std::string text(static_cast<std::size_t>(bytes - begin), '\0');
  const auto length = ::pread(log.get(), text.data(), text.size(), begin);
  text.resize(static_cast<std::size_t>(std::max<std::ptrdiff_t>(length, 0)));
  return text;
}

/// The last line of the program's own; "" when it said nothing.
std::string last_line(std::string_view log) {
  std::string_view last;
  while (!log.empty()) {
    const std::string_view line = log.substr(0, log.find('\n'));
    log.remove_prefix(std::min(line.size() + 1, log.size()));
    if (line.starts_with(kPrefix)) last = line.substr(kPrefix.size());
  }
  return std::string(last);
}

/// In the child. Time is watched from outside too: a process that sleeps takes none of its own.
void limit_itself(const AnalysisLimits& limits) {
  const auto memory = static_cast<rlim_t>(limits.memory.count());
  const auto seconds = static_cast<rlim_t>(
      std::chrono::ceil<std::chrono::seconds>(limits.time).count() * kMostThreads);
  const rlimit data{.rlim_cur = memory, .rlim_max = memory};
  const rlimit cpu{.rlim_cur = seconds, .rlim_max = seconds};
  const rlimit core{.rlim_cur = 0, .rlim_max = 0};
  ::setrlimit(RLIMIT_DATA, &data);
  ::setrlimit(RLIMIT_CPU, &cpu);
  ::setrlimit(RLIMIT_CORE, &core);
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

/// Everything that the child needs is made before the fork: other threads may hold locks then.
os::Child start(const std::vector<std::string>& words, const os::FileDescriptor& log,
                const AnalysisLimits& limits) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  return os::Child::start([&] {
    const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    ::dup2(nothing, STDIN_FILENO);
    ::dup2(nothing, STDOUT_FILENO);
    ::dup2(log.get(), STDERR_FILENO);
    // Connections are not marked by the library that accepts them.
    ::close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
    limit_itself(limits);
    ::execv(arguments.front(), arguments.data());
    return 127;
  });
}

std::string too_long(const AnalysisLimits& limits) {
  return fmt::format(
      "the analysis took longer than {}; start `trainwire serve` with a larger --time-limit, or "
      "use "
      "`trainwire analyze`",
      readable(limits.time));
}

/// What the analysis has to say in the end; "" when nothing.
std::string message_of(const os::Ending& ending, const std::string& log,
                       const AnalysisLimits& limits) {
  std::string message = last_line(log);
  if (ending.signal == SIGXCPU) return too_long(limits);
  if (message.starts_with(os::kOutOfMemory)) {
    return fmt::format(
        "the analysis needs more than {} of memory; start `trainwire serve` with a larger "
        "--memory-limit, or use `trainwire analyze`",
        readable(limits.memory));
  }
  if (!ending.succeeded() && message.empty()) {
    message = fmt::format("the analysis {}; try `trainwire analyze`", describe(ending));
  }
  return message;
}

/// In the order of the states.
constexpr std::array<const char*, 4> kStates{"waiting", "running", "done", "failed"};

ordered_json text_or_null(const std::string& text) {
  return text.empty() ? ordered_json() : ordered_json(text);
}

}  // namespace

Analyses::Place::Place(Analyses& analyses) : analyses_(&analyses) {
  const std::lock_guard lock(analyses.mutex_);
  if (analyses.waiting() + analyses.places_ >= kMostWaiting) {
    throw Refusal(503, fmt::format("{} captures wait already; send this one when one of them is "
                                   "analysed",
                                   kMostWaiting));
  }
  ++analyses.places_;
}

Analyses::Place::~Place() {
  if (analyses_ == nullptr) return;
  const std::lock_guard lock(analyses_->mutex_);
  --analyses_->places_;
}

Analyses::Analyses(const Root& root, std::string program, AnalysisLimits limits)
    : root_(root),
      program_(std::move(program)),
      limits_(limits),
      worker_([this](const std::stop_token& stop) { work(stop); }) {}

Analyses::~Analyses() {
  worker_.request_stop();
  worker_.join();
  std::error_code ignored;
  for (const Task& task : tasks_) {
    if (task.state == State::Waiting) fs::remove(root_ / task.name, ignored);
  }
}

std::string Analyses::add(Place& place, const std::string& name) {
  const std::lock_guard lock(mutex_);
  check(std::exchange(place.analyses_, nullptr) == this, "a place is used once");
  --places_;
  forget_old();
  tasks_.push_back({.id = std::to_string(++last_id_), .name = name});
  changed_.notify_all();
  return tasks_.back().id;
}

ordered_json Analyses::document() {
  const std::lock_guard lock(mutex_);
  ordered_json list = ordered_json::array();
  for (const Task& task : tasks_) {
    const std::int64_t end = task.state == State::Running ? os::monotonic_ns() : task.ended_ns;
    list.push_back({{"task", task.id},
                    {"name", task.name},
                    {"state", kStates[static_cast<std::size_t>(task.state)]},
                    {"run", text_or_null(task.run)},
                    {"message", text_or_null(task.message)},
                    {"seconds", 1e-9 * static_cast<double>(end - task.began_ns)}});
  }
  return {{"schema", 1}, {"tasks", std::move(list)}};
}

std::size_t Analyses::waiting() const {
  return static_cast<std::size_t>(std::count_if(
      tasks_.begin(), tasks_.end(), [](const Task& task) { return task.state == State::Waiting; }));
}

void Analyses::forget_old() {
  while (tasks_.size() >= kMostFinished && tasks_.front().state >= State::Done) {
    tasks_.pop_front();
  }
}

void Analyses::work(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [&] { return waiting() > 0; })) {
    if (stop.stop_requested()) return;
    const auto next = [&](State state) {
      return std::find_if(tasks_.begin(), tasks_.end(),
                          [&](const Task& task) { return task.state == state; });
    };
    const auto task = next(State::Waiting);
    task->state = State::Running;
    task->began_ns = os::monotonic_ns();
    const Task begun = *task;
    lock.unlock();
    Task done = analysed(begun, stop);
    lock.lock();
    // It may stand elsewhere by now.
    *next(State::Running) = std::move(done);
  }
}

Analyses::Task Analyses::analysed(Task task, const std::stop_token& stop) const {
  std::string folder;
  os::Ending ending{.exit_code = 1};
  try {
    folder = take_folder(root_, task.name);
    const os::FileDescriptor log = make_log();
    os::Child child =
        start({program_, "analyze", root_ / task.name, "-o", root_ / folder, "-q"}, log, limits_);
    const std::int64_t until = os::monotonic_ns() + limits_.time.count();
    while (child.is_running() && !stop.stop_requested() && os::monotonic_ns() < until) {
      child.wait_for(std::chrono::milliseconds(50));
    }
    const bool late = child.is_running() && !stop.stop_requested();
    ending = child.stop(std::chrono::seconds(1));
    task.message = late ? too_long(limits_) : message_of(ending, text_of(log), limits_);
  } catch (const Error& error) {
    task.message = error.what();
  }
  task.ended_ns = os::monotonic_ns();
  task.state = ending.succeeded() ? State::Done : State::Failed;
  if (task.state == State::Done) {
    task.run = folder;
    return task;
  }
  std::error_code ignored;
  fs::remove(root_ / task.name, ignored);
  if (!folder.empty()) fs::remove_all(root_ / folder, ignored);
  return task;
}

}  // namespace tw::serve
