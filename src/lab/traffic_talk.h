// SPDX-License-Identifier: Apache-2.0
// The run's side of traffic/process.h: pairs sources with sinks, starts all sources at once, and
// ends them when the ranks have done their work.

#pragma once

#include "trainwire/lab/cross_traffic.h"
#include "trainwire/lab/rank_group.h"
#include "trainwire/os/own_program.h"
#include "trainwire/traffic/outcome.h"
#include "trainwire/transport/control.h"
#include "trainwire/transport/tcp/address.h"

#include <optional>
#include <string>
#include <vector>

namespace tw::lab {

class TrafficTalk {
 public:
  /// REQUIRES: what is passed outlives it.
  explicit TrafficTalk(const std::vector<CrossTraffic>& traffic);

  /// How to start the processes, this program as `program crosstraffic`: of each entry that is not
  /// silent a sink, then a source. Their groups are numbered from `first_group`.
  std::vector<RankCommand> commands(const os::OwnProgram& program, int first_group) const;

  /// Answers what has come; never waits. Sources start once `started`, and all ends once
  /// `finished`. REQUIRES: all processes were started.
  void attend(bool started, bool finished);
  /// Whether every source is connected.
  bool ready() const;
  /// Of the process with that number in commands().
  RankCare::Explanation explain(std::size_t process) const;

  /// By entry: what its source told at its end.
  const std::vector<std::optional<traffic::Outcome>>& outcomes() const { return outcomes_; }
  /// Where sinks listened.
  std::vector<transport::tcp::Endpoint> sinks() const;

 private:
  enum class Stage { Waiting, Introduced, Started, Stopping, Done, Left };
  struct Line {
    transport::Control control;
    os::FileDescriptor other_end;
    std::string failure = {};
    bool ready = false;
    bool done = false;
  };
  struct Play {
    std::size_t entry = 0;
    Line sink;
    Line source;
    std::uint16_t port = 0;
    Stage stage = Stage::Waiting;
  };
  void take(Line& line, Play& play);
  void advance(Play& play, bool started, bool finished);

  const std::vector<CrossTraffic>& traffic_;
  std::vector<Play> plays_;
  std::vector<std::optional<traffic::Outcome>> outcomes_;
};

}  // namespace tw::lab
