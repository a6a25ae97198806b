// SPDX-License-Identifier: Apache-2.0
// One simulation, message by message: players of jobs (play/player.h), cross traffic and faults on
// one medium, each told what the others and the time bring.

#pragma once

#include "trainwire/medium/medium.h"
#include "trainwire/play/player.h"
#include "trainwire/sim/cross_traffic.h"
#include "trainwire/sim/exchange_log.h"
#include "trainwire/sim/faults.h"
#include "trainwire/sim/group_connections.h"
#include "trainwire/sim/held_events.h"
#include "trainwire/sim/level.h"
#include "trainwire/sim/pair_connections.h"
#include "trainwire/sim/simulate.h"
#include "trainwire/sim/travelling.h"
#include "trainwire/spec/experiment.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <queue>
#include <span>
#include <tuple>
#include <vector>

namespace tw::sim {

class Simulation {
 public:
  /// REQUIRES: both outlive it.
  Simulation(const spec::Experiment& experiment, Level level, const Watching& watching);

  Simulated run() &&;

 private:
  enum class Event { Begin, Woke };
  struct Due {
    Duration at = {};
    std::int64_t number = 0;  ///< of equal times the first made comes first
    Event event = Event::Woke;
    std::size_t job = 0;
    int rank = 0;

    bool operator>(const Due& other) const {
      return std::tie(at, number) > std::tie(other.at, other.number);
    }
  };

  std::unique_ptr<medium::Medium> make_medium(const spec::Experiment& experiment, Level level);
  void add_player(std::size_t job);
  void add(Due due);
  bool all_done() const;
  void explain_waiting() const;
  bool advance();
  void advance_players();
  bool is_stuck(Duration next) const;
  void require_time(Duration next) const;
  bool goes_on();

  // What players ask for.
  void send(std::size_t job, const play::Message& message);
  void send_on(std::size_t job, const play::Message& message, std::span<const medium::Tag> behind);
  bool send_in_group(std::size_t job, const play::Message& message);
  medium::Tag note(std::size_t job, const play::Message& message, const Connected& over);
  PairSending& pair_of(std::size_t job, const play::Message& message);

  // What the medium tells.
  void left(medium::Tag tag, Duration now);
  void began(medium::Tag tag, Duration now);
  void came(medium::Tag tag, Duration now);

  // What players are told, unless they are stopped.
  void notice_left(const JobMessage& about);
  void notice_began(medium::Tag tag);
  void notice_came(medium::Tag tag);
  void notice_time(std::size_t job, int rank);
  bool is_held(std::size_t job, int rank) const;
  void release(const JobRank& rank);
  void happen(const HeldEvent& event);

  const Watching& watching_;
  Simulated result_;
  std::unique_ptr<medium::Medium> medium_;
  CrossTraffic cross_;
  Faults faults_;
  Duration patience_;
  bool can_starve_ = false;  ///< traffic may leave jobs nothing
  Duration progress_ = {};   ///< when a rank last noticed anything
  HeldEvents held_;
  PairConnections connections_;
  GroupConnections groups_;
  ExchangeLog exchanges_;
  std::vector<std::unique_ptr<play::Player>> players_;
  std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;
  Travelling travelling_;
  Duration now_ = {};
  std::int64_t made_ = 0;
  std::int64_t looks_ = 0;
  bool stopped_ = false;
};

}  // namespace tw::sim
