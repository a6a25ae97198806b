// SPDX-License-Identifier: Apache-2.0
#include "trainwire/watch/live.h"

#include "trainwire/base/error.h"
#include "trainwire/os/clock.h"
#include "trainwire/watch/threads.h"

#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <fstream>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

namespace tw::watch {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr Duration kLoadInterval = 100ms;

MachineTime machine_time() {
  std::ifstream file("/proc/stat");
  std::string line;
  std::getline(file, line);
  const auto time = parse_machine_time(line, ::sysconf(_SC_CLK_TCK));
  if (!time) throw SystemError("reading /proc/stat: it has no line for all processors");
  return *time;
}

}  // namespace

class Watch::Session {
 public:
  Session(PortSource source, const WatchOptions& options)
      : source_(std::move(source)),
        options_(options),
        now_(source_.ports),
        spinners_(options.spinners.size()) {
    record_.interval = options.interval;
    look_at_links();
    look_at_load();
    thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
  }

  void follow(int pid) {
    const std::scoped_lock lock(mutex_);
    asked_for_.push_back(pid);
  }

  WatchRecord stop() {
    check(thread_.joinable(), "a watch is stopped once");
    thread_.request_stop();
    thread_.join();
    if (error_) std::rethrow_exception(error_);
    look_at_links();
    look_at_load();
    return std::move(record_);
  }

 private:
  void run(const std::stop_token& stop) {
    try {
      auto next_look = Clock::now();
      auto next_load = next_look + kLoadInterval;
      while (!stop.stop_requested()) {
        // A look that was missed is not made up for.
        next_look = std::max(next_look + record_.interval, Clock::now());
        pause_until(stop, next_look);
        look_at_links();
        if (Clock::now() < next_load) continue;
        look_at_load();
        next_load = std::max(next_load + kLoadInterval, Clock::now());
      }
    } catch (...) {
      error_ = std::current_exception();
    }
  }
  void pause_until(const std::stop_token& stop, Clock::time_point time) {
    std::unique_lock lock(mutex_);
    waiting_.wait_until(lock, stop, time, [] { return false; });
  }

  void look_at_links() {
    source_.read(now_);
    record_.links.push_back({.time_ns = os::real_time_ns(), .ports = now_});
    if (record_.links.size() < 3 || record_.links.size() * now_.size() <= options_.most_counters) {
      return;
    }
    halve(record_.links);
    record_.interval *= 2;
  }

  void look_at_load() {
    {
      const std::scoped_lock lock(mutex_);
      for (const int pid : std::exchange(asked_for_, {})) followed_.push_back({.pid = pid});
    }
    LoadSample sample{.time_ns = os::real_time_ns(), .machine = machine_time()};
    for (Followed& process : followed_) {
      process.threads.look(thread_times(process.pid));
      sample.waits.push_back(process.threads.sum().wait);
    }
    for (std::size_t i = 0; i < spinners_.size(); ++i) {
      spinners_[i].look(thread_time(options_.spinners[i]));
      sample.spun += spinners_[i].sum().run;
    }
    record_.loads.push_back(std::move(sample));
  }

  struct Followed {
    int pid;
    ThreadSum threads = {};
  };

  // The thread's own while it runs.
  PortSource source_;
  WatchOptions options_;
  std::vector<PortCounts> now_;
  std::vector<ThreadSum> spinners_;
  std::vector<Followed> followed_;
  WatchRecord record_;
  std::exception_ptr error_;

  std::mutex mutex_;
  std::condition_variable_any waiting_;
  std::vector<int> asked_for_;  ///< guarded by mutex_
  std::jthread thread_;         ///< last: it is joined before the rest goes
};

Watch::Watch(PortSource source, const WatchOptions& options)
    : session_(std::make_unique<Session>(std::move(source), options)) {}
Watch::Watch(Watch&&) noexcept = default;
Watch& Watch::operator=(Watch&&) noexcept = default;
Watch::~Watch() = default;

void Watch::follow(int pid) {
  check(session_ != nullptr, "a watch that was moved away follows nobody");
  session_->follow(pid);
}

WatchRecord Watch::stop() {
  check(session_ != nullptr, "a watch that was moved away is not stopped");
  return session_->stop();
}

}  // namespace tw::watch
