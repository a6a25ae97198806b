// SPDX-License-Identifier: Apache-2.0
// The processes of a run: started together, watched, and ended together when one of them fails.

#pragma once

#include "trainwire/base/units.h"
#include "trainwire/fleet/process.h"
#include "trainwire/lab/launch.h"
#include "trainwire/os/child.h"

#include <chrono>
#include <functional>
#include <memory>
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
  bool excused = false;  ///< ended badly, but others went on without it
};

class RankGroup;

/// What is asked and told while ranks work; all may be empty.
struct RankCare {
  Duration timeout = std::chrono::minutes(10);
  std::function<bool()> stop = {};  ///< Ctrl-C
  /// Called at every look, a hundred times a second.
  std::function<void()> attend = {};
  /// After it: may signal processes and start some again.
  std::function<void(RankGroup&)> steer = {};
  /// A process has ended badly: whether the run goes on without it. Asked once of each.
  std::function<bool(std::size_t rank, const os::Ending& ending)> survives = {};
  /// Whether a process is still to be started.
  std::function<bool()> awaits = {};
  /// Why the run cannot go on although all ranks do.
  std::function<std::optional<std::string>()> broken = {};
  /// What a rank has to say of its failure: "at step 14: ..."; "" for nothing. `cause` is whether
  /// it is one rather than an effect of another's.
  struct Explanation {
    std::string text = {};
    bool cause = true;
  };
  std::function<Explanation(std::size_t rank)> explain = {};
  /// Told once of each: its number among the commands, and how it ended.
  std::function<void(std::size_t rank, const os::Ending& ending)> ended = {};
};

class RankGroup {
 public:
  /// Starts one process; `output` is its standard output and error.
  using Starter = std::function<std::unique_ptr<fleet::Process>(const RankCommand& command,
                                                                int input, int output)>;

  /// Output goes to rank<N>.txt in `folder`. Those that start later are started by wait(), so
  /// `starter` must live as long; it is told of each. Throws SystemError.
  void start(std::vector<RankCommand> commands, const std::string& folder, const Starter& starter);

  std::size_t size() const { return started_.size(); }
  /// Its number is 0 until it was started, and on other machines.
  const os::ProcessIdentity& identity(std::size_t i) const { return started_[i].child->identity(); }
  const RankCommand& command(std::size_t i) const { return started_[i].command; }
  const std::string& label(std::size_t i) const { return started_[i].command.label; }

  /// No process: nothing.
  void signal(std::size_t i, int number) { started_[i].child->signal(number); }
  /// Ends it if it runs, and starts it anew; its output goes to a file of its own. Throws
  /// SystemError.
  void restart(std::size_t i, int input);

  /// Until all have ended, one has failed, or the run is stopped. Why it failed: "rank 2 on host2
  /// exited with code 1", or nothing.
  std::optional<std::string> wait(const RankCare& care);

  /// Ends those that still run.
  std::vector<RankOutcome> stop();

 private:
  struct Started {
    RankCommand command;
    std::string output;
    std::unique_ptr<fleet::Process> child = fleet::local_process({});
    bool begun = false;
    bool stopped = false;
    bool excused = false;  ///< its end ends nobody else
    int restarts = 0;
    std::optional<std::chrono::steady_clock::time_point> ended = {};  ///< noticed
  };

  void begin(Started& started);
  /// Those whose time has come.
  void begin_due();
  bool any_running();
  std::unique_ptr<fleet::Process> launch(const RankCommand& command, const std::string& output,
                                         int input) const;
  void excuse(const RankCare& care);
  std::optional<std::string> failure(const RankCare& care);
  std::optional<std::string> lingering(const RankCare& care);

  std::string folder_;
  Starter starter_;
  std::chrono::steady_clock::time_point since_ = {};
  std::vector<Started> started_;
};

}  // namespace tw::lab
