// SPDX-License-Identifier: Apache-2.0
#include "trainwire/cluster/host_command.h"

#include "trainwire/base/error.h"
#include "trainwire/fleet/host.h"
#include "trainwire/fleet/launch.h"
#include "trainwire/fleet/seat.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <fstream>
#include <iostream>
#include <memory>
#include <optional>
#include <string>

namespace tw::cluster {
namespace {

constexpr const char* kFileVariable = "TRAINWIRE_TOKEN_FILE";

struct Options {
  std::string join;
  std::optional<int> number;
  std::string interface;
  bool token_on_input = false;
};

/// Only its owner may read it.
std::string token_from_file(const std::string& path) {
  struct stat facts = {};
  if (::stat(path.c_str(), &facts) != 0) {
    throw SystemError(
        fmt::format("{}: the file of the token ({}) cannot be read", path, kFileVariable));
  }
  if ((facts.st_mode & 077U) != 0) {
    throw SystemError(fmt::format("{}: others may read the run's token: chmod 600 {}", path, path));
  }
  std::string line;
  std::getline(std::ifstream(path), line);
  return line;
}

transport::tcp::Token token_of(const Options& options) {
  std::string text;
  if (options.token_on_input) {
    std::getline(std::cin, text);
  } else if (const auto given = fleet::own_variable(fleet::kTokenVariable)) {
    text = *given;
  } else if (const auto file = fleet::own_variable(kFileVariable)) {
    text = token_from_file(*file);
  } else {
    throw SpecError(
        fmt::format("the run's token is missing: set {}, or {} to a file that only you may read",
                    fleet::kTokenVariable, kFileVariable));
  }
  if (const auto token = transport::tcp::parse_token(text)) return *token;
  throw SpecError("the run's token has 32 hexadecimal digits; this one has not");
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
                   .token = token_of(options),
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
