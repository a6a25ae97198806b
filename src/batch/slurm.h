// SPDX-License-Identifier: Apache-2.0
// Slurm on an emulated cluster: a controller on the first host, slurmd on every one, and one munged
// that signs for all of them, since hosts share this machine's files. All of them live among the
// cluster's programs, so they and whatever they start end with it, however it ends.
//
// Needs the packages slurmctld, slurmd, slurm-client and munge.

#pragma once

#include "trainwire/batch/daemon.h"
#include "trainwire/ledger/scratch.h"
#include "trainwire/network/plan.h"
#include "trainwire/os/child.h"

#include <string>
#include <vector>

namespace tw::batch {

/// What is missing, in a sentence with what to do; "" when Slurm can be started.
std::string slurm_missing();

class Slurm {
 public:
  /// Starts it and returns once every node is idle. Throws SystemError, with the daemon's own words,
  /// when that takes more than 20 s or a daemon ends.
  Slurm(const network::NetPlan& plan, const Stage& stage);
  Slurm(const Slurm&) = delete;
  Slurm& operator=(const Slurm&) = delete;

  /// What its commands find it by: "NAME=value".
  std::vector<std::string> environment() const;

 private:
  void start_munge(const Stage& stage);
  void wait_until_idle(const Stage& stage);
  bool all_idle(const Stage& stage) const;
  std::string trouble();

  ledger::Scratch scratch_;
  std::size_t nodes_;
  std::string munge_socket_;
  std::string config_;
  std::vector<os::Child> daemons_;
  std::vector<std::string> outputs_;  ///< of each
};

}  // namespace tw::batch
