// SPDX-License-Identifier: Apache-2.0
// Captures that wait to be analysed, one at a time, each by `analyze` of this very program in a
// process of its own: what a hostile capture may do to it, it does not do to the server.
//
// That process has limits on memory and time: a capture that would need more fails, with words that
// say so, and the next one has its turn. A capture whose analysis fails is removed, and so is its
// folder. Ending the object ends the analysis in the same way.

#pragma once

#include "trainwire/base/units.h"
#include "trainwire/serve/root.h"

#include <nlohmann/json.hpp>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <thread>

namespace tw::serve {

inline constexpr std::size_t kMostWaiting = 8;

/// What one analysis may take.
struct AnalysisLimits {
  Bytes memory = Bytes(4'000'000'000);  ///< of its own (RLIMIT_DATA): mapped files do not count
  Duration time = std::chrono::minutes(10);
};

/// May be called by several threads.
class Analyses {
 public:
  /// `program` is run as `program analyze FILE -o FOLDER -q`. REQUIRES: root outlives it.
  Analyses(const Root& root, std::string program, AnalysisLimits limits = {});
  Analyses(const Analyses&) = delete;
  Analyses& operator=(const Analyses&) = delete;
  ~Analyses();

  /// A place in the queue, kept while a capture is still being received.
  class Place {
   public:
    /// Throws Refusal (503) when all are taken.
    explicit Place(Analyses& analyses);
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    ~Place();

   private:
    friend class Analyses;
    Analyses* analyses_;
  };

  /// Takes a capture of the root by its name; returns the task's id.
  std::string add(Place& place, const std::string& name);

  /// The document of /api/tasks.
  nlohmann::ordered_json document();

 private:
  enum class State { Waiting, Running, Done, Failed };
  struct Task {
    std::string id;
    std::string name;
    State state = State::Waiting;
    std::string run = {};
    std::string message = {};
    std::int64_t began_ns = 0;
    std::int64_t ended_ns = 0;
  };

  void work(const std::stop_token& stop);
  Task analysed(Task task, const std::stop_token& stop) const;
  void forget_old();
  std::size_t waiting() const;

  const Root& root_;
  std::string program_;
  AnalysisLimits limits_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Task> tasks_;
  std::size_t places_ = 0;
  int last_id_ = 0;
  std::jthread worker_;  ///< last: it uses all of the above
};

}  // namespace tw::serve
