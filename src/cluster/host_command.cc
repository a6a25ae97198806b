// SPDX-License-Identifier: Apache-2.0
#include "trainwire/cluster/host_command.h"

#include "trainwire/base/error.h"
#include "trainwire/fleet/host.h"
#include "trainwire/fleet/seat.h"
#include "trainwire/fleet/token.h"

#include <iostream>
#include <memory>
#include <optional>
#include <string>

namespace tw::cluster {
namespace {

struct Options {
  std::string join;
  std::optional<int> number;
  std::string interface;
  bool token_on_input = false;
};

transport::tcp::Token token_for(const Options& options) {
  if (!options.token_on_input) return fleet::token_from(fleet::own_variable);
  std::string text;
  std::getline(std::cin, text);
  return fleet::token_of(text);
}

int host(const Options& options) {
  const auto seat = fleet::seat_from(fleet::own_variable);
  if (!options.number && !seat) {
    throw SpecError(
        "which host is this? neither srun, mpirun, torchrun nor an Indexed Job has set its number; "
        "say --number N");
  }
  std::string join = options.join;
  if (join.empty() && seat) join = seat->meeting;
  if (join.empty()) throw SpecError("where is the run? say --join ADDRESS:PORT");
  fleet::run_host({.meetings = fleet::parse_meetings(join),
                   .token = token_for(options),
                   .number = options.number.value_or(seat ? seat->number : 0),
                   .count = !options.number && seat ? seat->count : std::nullopt,
                   .interface = options.interface});
  return 0;
}

}  // namespace

command::Body declare_host(command::CommandLine& app) {
  const auto options = std::make_shared<Options>();
  app.add_option("--join", options->join,
                 "where the run is: ADDRESS:PORT, several with commas; default MASTER_ADDR and "
                 "MASTER_PORT")
      .type_name("WHERE");
  app.add_option("--number", options->number,
                 "of this host; default by the variables of Open MPI, PMI, torchrun, Slurm or an "
                 "Indexed Job")
      .type_name("N");
  app.add_option("--interface", options->interface,
                 "network device for data; default: the one that reaches the run")
      .type_name("NAME");
  app.add_flag("--token-on-input", options->token_on_input,
               "the run's token is the first line of standard input; otherwise TRAINWIRE_TOKEN has "
               "it, or the file that TRAINWIRE_TOKEN_FILE names");
  return [options](command::Streams) { return host(*options); };
}

}  // namespace tw::cluster
