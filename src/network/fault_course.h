// SPDX-License-Identifier: Apache-2.0
// The course that an experiment's faults take, whoever plays them: which has begun, goes on or is
// over, when a link flaps, and what ports are meanwhile. Times are on the player's own clock.
//
// A fault begins at its time, or when its player says so (begin()): as a rank begins a step.

#pragma once

#include "trainwire/base/units.h"
#include "trainwire/network/broken_links.h"
#include "trainwire/spec/experiment.h"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tw::network {

/// A fault as it went.
struct PlayedFault {
  spec::Fault fault = {};
  std::string where = {};              ///< "host0", "rank 2 of job0"
  std::optional<Duration> begin = {};  ///< nothing when it did not
  std::optional<Duration> end = {};    ///< nothing when it lasted
};

class FaultCourse {
 public:
  /// What is done about a port when faults on it begin, change or end.
  using Alter = std::function<void(int port, const PortChange& change)>;
  struct Links {
    std::function<std::vector<int>(const spec::Fault&)> ports_of;
    std::function<BitRate(int port)> rate_of;
  };
  /// A fault that has just begun or ended.
  struct Turn {
    std::size_t fault = 0;
    bool begins = false;
    bool operator==(const Turn&) const = default;
  };

  FaultCourse() = default;
  /// REQUIRES: the experiment is resolved.
  FaultCourse(const spec::Experiment& experiment, Links links);

  bool empty() const { return faults_.empty(); }
  std::size_t size() const { return faults_.size(); }
  const PlayedFault& operator[](std::size_t fault) const { return faults_[fault].played; }
  /// The number of the job whose rank or step it is.
  std::size_t job(std::size_t fault) const { return faults_[fault].job; }
  bool has_begun(std::size_t fault) const { return faults_[fault].played.begin.has_value(); }
  bool goes_on(std::size_t fault) const { return faults_[fault].goes_on(); }
  std::vector<PlayedFault> played() const;

  /// When something begins, changes or ends next by the clock of a run that began at `start`;
  /// nothing: not by itself.
  std::optional<Duration> next(Duration start) const;
  /// REQUIRES: it has not begun.
  void begin(std::size_t fault, Duration now, const Alter& alter);
  /// Begins what is due by the clock, unless `may_begin` is given and says no; flaps and ends what
  /// goes on.
  std::vector<Turn> advance(Duration start, Duration now, const Alter& alter,
                            const std::function<bool(std::size_t fault)>& may_begin = {});

 private:
  struct Planned {
    PlayedFault played = {};
    std::size_t job = 0;
    std::vector<int> ports = {};
    bool is_down = false;                 ///< of a link that flaps, at present
    std::optional<Duration> change = {};  ///< when that changes

    bool goes_on() const { return played.begin && !played.end; }
    std::optional<Duration> until() const;
  };

  void flap(Planned& fault, Duration now, const Alter& alter);
  void alter_ports(const std::vector<int>& ports, const Alter& alter) const;

  Links links_ = {};
  std::vector<Planned> faults_ = {};
};

}  // namespace tw::network
