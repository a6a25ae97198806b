// SPDX-License-Identifier: Apache-2.0
// The processes of a run: started together, watched, and ended together when one of them fails.

#pragma once

#include "trainwire/base/units.h"
#include "trainwire/lab/launch.h"
#include "trainwire/os/child.h"

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tw::lab {

/// How one started process ended.
struct RankOutcome {
  std::string label;
  std::string output;  ///< path of what it printed
  os::Ending ending;
  bool stopped = false;  ///< by us, because of another one, a timeout or Ctrl-C
};

/// What is asked and told while ranks work; all may be empty.
struct RankCare {
  Duration timeout = std::chrono::minutes(10);
  std::function<bool()> stop = {};  ///< Ctrl-C
  /// Called at every look, a hundred times a second.
  std::function<void()> attend = {};
  /// Why the run cannot go on although all ranks do.
  std::function<std::optional<std::string>()> broken = {};
  /// What a rank has to say of its failure: "at step 14: ..."; "" for nothing. `cause` is whether
  /// it is one rather than an effect of another's.
  struct Explanation {
    std::string text = {};
    bool cause = true;
  };
  std::function<Explanation(std::size_t rank)> explain = {};
};

class RankGroup {
 public:
  /// Starts one process; `output` is its standard output and error.
  using Starter = std::function<os::Child(const RankCommand& command, int input, int output)>;

  /// Output goes to rank<N>.txt in `folder`. Throws SystemError.
  void start(std::vector<RankCommand> commands, const std::string& folder, const Starter& starter);

  std::size_t size() const { return started_.size(); }
  const os::ProcessIdentity& identity(std::size_t i) const { return started_[i].child.identity(); }
  const std::string& label(std::size_t i) const { return started_[i].command.label; }

  /// Until all have ended, one has failed, or the run is stopped. Why it failed: "rank 2 on host2
  /// exited with code 1", or nothing.
  std::optional<std::string> wait(const RankCare& care);

  /// Ends those that still run.
  std::vector<RankOutcome> stop();

 private:
  struct Started {
    RankCommand command;
    std::string output;
    os::Child child;
    bool stopped = false;
    std::optional<std::chrono::steady_clock::time_point> ended = {};  ///< noticed
  };

  bool any_running();
  std::optional<std::string> failure(const RankCare& care);
  std::optional<std::string> lingering();

  std::vector<Started> started_;
};

}  // namespace tw::lab
