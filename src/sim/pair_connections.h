// SPDX-License-Identifier: Apache-2.0
// Connections of jobs' ranks in the medium: one for each pair of ranks, kind of message and lane,
// made when the first message is sent over it.

#pragma once

#include "trainwire/medium/medium.h"
#include "trainwire/play/player.h"
#include "trainwire/sim/simulate.h"

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace tw::sim {

/// A connection, and what has been sent over it and others of its two ranks.
struct Connected {
  int number = -1;
  std::int64_t* bytes = nullptr;
  std::int64_t* gradients = nullptr;  ///< of a connection for such
  std::int64_t step = -1;             ///< of the last message
  std::int64_t step_bytes = 0;        ///< sent in it
  int read = 0;                       ///< messages, before it was connected
};

class PairConnections {
 public:
  /// Counts into `jobs`, which are complete before the first message is sent. REQUIRES: both outlive
  /// it.
  PairConnections(medium::Medium& medium, std::vector<SimulatedJob>& jobs)
      : medium_(medium), jobs_(jobs) {}

  /// How the next job's gradients are sent. `tells_steps`: its connections are told of new steps.
  void add_job(const medium::Sending& sending, bool tells_steps) {
    sendings_.push_back(sending);
    tells_steps_.push_back(tells_steps);
  }
  /// Over which a message is sent now.
  const Connected& of(std::size_t job, const play::Message& message, Duration now);
  /// Its receiver reads it from now on.
  void read(std::size_t job, const play::Message& message, Duration now);
  /// Where what is sent is counted, whatever carries it.
  Connected& counted(std::size_t job, const play::Message& message);
  int host_of(std::size_t job, int rank) const {
    return jobs_[job].training.arrangement.layout.host(rank);
  }

 private:
  /// Of a job: two ranks, a kind of connection, and its number among those.
  struct Pair {
    std::size_t job = 0;
    int from = 0;
    int to = 0;
    play::Kind kind = play::Kind::Gradient;
    int lane = 0;
    bool operator==(const Pair&) const = default;
  };
  struct PairHash {
    std::size_t operator()(const Pair& pair) const;
  };

  medium::Medium& medium_;
  std::vector<SimulatedJob>& jobs_;
  void connect(Connected& made, std::size_t job, const play::Message& message);
  void note_step(Connected& connection, const play::Message& message);

  std::vector<medium::Sending> sendings_;  ///< by job
  std::vector<bool> tells_steps_;          ///< likewise
  std::unordered_map<Pair, Connected, PairHash> connections_;
};

}  // namespace tw::sim
