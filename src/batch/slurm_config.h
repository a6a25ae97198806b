// SPDX-License-Identifier: Apache-2.0
// slurm.conf of an emulated cluster, as text.
//
// Nodes are the hosts of the plan, by name and address. Each offers many processors, since what is
// emulated is the network: how many tasks a host takes is the user's choice. Processes are found by
// their parents (proctrack/linuxproc) and not bound, so that no control groups are needed. A node
// that does not answer is down after ten seconds, and back as soon as it does.
//
// Limits: no accounting, no limits of memory, one partition, everybody is the user that started it.

#pragma once

#include "trainwire/network/plan.h"

#include <string>

namespace tw::batch {

/// Processors that each emulated node offers.
inline constexpr int kNodeProcessors = 64;

struct SlurmSite {
  std::string folder;        ///< for state, logs and pid files
  std::string munge_socket;  ///< of the daemon that signs messages
  std::string user;          ///< whose daemons they are
};

/// REQUIRES: the plan has a host; the first one is the controller.
std::string slurm_config(const network::NetPlan& plan, const SlurmSite& site);

}  // namespace tw::batch
