// SPDX-License-Identifier: Apache-2.0
#include "trainwire/cli/commands.h"
#include "trainwire/cluster/parts.h"
#include "trainwire/command/exit_code.h"
#include "trainwire/os/last_words.h"
#include "trainwire/reproduce/spread.h"
#include "trainwire/spread/sim_spread.h"
#include "trainwire/traffic/process.h"
#include "trainwire/trainer/rank.h"

#include <iostream>
#include <string>
#include <string_view>
#include <vector>

int main(int argc, char** argv) {
  tw::os::install_last_words(tw::command::kEnvironment, tw::command::kInternal);
  // How other commands start their processes: not for people, who would have to speak their protocol.
  if (argc == 2 && std::string_view(argv[1]) == "part") {
    return tw::cluster::run_part(tw::os::FileDescriptor(0));
  }
  if (argc == 2 && std::string_view(argv[1]) == "simulations") {
    return tw::spread::run_simulations(tw::os::FileDescriptor(0));
  }
  if (argc == 2 && std::string_view(argv[1]) == "answers") {
    return tw::reproduce::run_answers(tw::os::FileDescriptor(0));
  }
  if (argc == 2 && std::string_view(argv[1]) == "rank") {
    return tw::trainer::run_rank(tw::os::FileDescriptor(0));
  }
  if (argc == 2 && std::string_view(argv[1]) == "crosstraffic") {
    return tw::traffic::run_traffic(tw::os::FileDescriptor(0));
  }
  std::ios::sync_with_stdio(false);
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  return tw::cli::run(arguments, {.out = std::cout, .err = std::cerr});
}
