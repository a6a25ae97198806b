// SPDX-License-Identifier: Apache-2.0
// What is started for each rank of a program that trainwire did not write: command line and
// environment as its ecosystem expects them.

#pragma once

#include "trainwire/network/plan.h"

#include <optional>
#include <string>
#include <vector>

namespace tw::lab {

enum class Launcher {
  Each,      ///< the command once per rank, with RANK, WORLD_SIZE, MASTER_ADDR...
  Torchrun,  ///< the same with the variables that torchrun adds
  Mpi,       ///< mpirun, which starts the command once per rank
};

/// What ranks need that share one GPU, each on a host of its own.
struct SharedGpu {
  std::vector<std::string> environment = {};  ///< "NAME=value": where MPS is found
  std::string log_folder = {};                ///< where NCCL tells what it does
};

/// One job's program.
struct LaunchRequest {
  int job = 0;
  std::string name = {};                ///< the job's, where there are several; "" for one alone
  std::vector<std::string> words = {};  ///< the command, with placeholders
  std::vector<int> placement = {};      ///< host of each rank
  Launcher launcher = Launcher::Each;
  std::vector<std::string> environment = {};  ///< of this process: "NAME=value"
  std::string marks_folder = {};              ///< where ranks may leave marks of their steps
  std::vector<int> namespace_numbers = {};    ///< Mpi: descriptor of each host's namespace, as the
                                              ///< first process of the programs has it
  Duration start = {};                        ///< after the run's
  /// Hosts are machines, which have memory, processors and GPUs of their own: only their network
  /// device is set, and only where `device` names one.
  bool on_machines = false;
  std::string device = {};
  std::optional<SharedGpu> gpu = {};
};

/// Of a launcher that starts processes on hosts that are machines by itself.
inline constexpr int kHere = -1;

/// One process to start.
struct RankCommand {
  int rank = 0;         ///< of the first, when it starts them all
  int host = 0;         ///< kHere: the machine that conducts the run
  std::string label;    ///< "rank 2 on host1"
  std::string file;     ///< of its output, without ".txt"
  int group = 0;        ///< job whose ranks end together
  Duration start = {};  ///< after the run's
  int input = -1;       ///< descriptor that becomes its standard input; none when negative
  std::vector<std::string> words = {};
  std::vector<std::string> environment = {};
};

/// Replaces {rank}, {local_rank}, {world}, {host}, {address} and {master}; other braces stay.
/// REQUIRES: placement is not empty and names hosts of the plan.
std::vector<RankCommand> make_commands(const network::NetPlan& plan, const LaunchRequest& request);

/// File of a rank's marks in the folder.
std::string marks_file(const LaunchRequest& request, int rank);
/// Where NCCL tells what it does for a rank. REQUIRES: request.gpu.
std::string nccl_file(const LaunchRequest& request, int rank);

}  // namespace tw::lab
