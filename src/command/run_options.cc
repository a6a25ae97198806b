// SPDX-License-Identifier: Apache-2.0
#include "trainwire/command/run_options.h"

#include "trainwire/base/error.h"
#include "trainwire/base/printable.h"
#include "trainwire/command/exit_code.h"
#include "trainwire/command/version.h"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <filesystem>

namespace tw::command {
namespace {

constexpr std::size_t kLastLines = 15;

}  // namespace

lab::RunPlace PlaceOptions::place() const {
  lab::RunPlace place{
      .loopback = on == "loopback", .checks_network = !no_check, .accepts_network = accept_network};
  if (shape && launch == "local") {
    throw SpecError("--shape goes with --launch: emulated links are shaped anyway");
  }
  if (launch == "local") return place;
  if (place.loopback) throw SpecError("--on loopback is this machine: leave --launch out");
  if (port < 0 || port > 65535) throw SpecError("--port takes 1 to 65535");
  place.launch = fleet::parse_launch(launch);
  place.launch->interface = interface;
  place.launch->port = port;
  place.shapes = shape;
  return place;
}

void add_launch(CommandLine& app, PlaceOptions& options) {
  app.add_option("--launch", options.launch,
                 "start a process on every host and run there: by srun, mpirun or ssh:HOSTFILE; "
                 "wait: hosts join by themselves (`trainwire host`); local: emulated here; "
                 "manifest:k8s: print what Kubernetes needs. Default local")
      .type_name("HOW")
      .suggests({"local", "srun", "mpirun", "ssh:", "wait", "manifest:k8s"});
  app.add_option(
         "--interface", options.interface,
         "the machines' network device for data; default: the one that reaches this machine")
      .type_name("NAME");
  app.add_option("--port", options.port, "where hosts join; default: any that is free")
      .type_name("N");
  app.add_flag("--shape", options.shape,
               "make the machines' devices as slow as the experiment's links, for the time of the "
               "run; needs root there. Without it their network is as it is");
}

void add_place(CommandLine& app, PlaceOptions& options) {
  app.add_option("--on", options.on,
                 "emulated: hosts are network namespaces; loopback: ranks on 127.0.0.x, nothing "
                 "shaped or captured")
      .type_name("PLACE")
      .one_of({"emulated", "loopback"});
  app.add_flag("--no-check", options.no_check, "do not measure the network before use");
  app.add_flag("--accept-network", options.accept_network,
               "go on although the network is more than 10 % off");
  app.add_flag("-q,--quiet", options.quiet, "no summary and no progress");
}

std::string run_folder_named(const std::string& name, bool force) {
  std::string folder = name + ".run";
  for (int i = 2; !force && std::filesystem::exists(folder); ++i) {
    folder = fmt::format("{}-{}.run", name, i);
  }
  return folder;
}

std::string default_folder(const ExperimentFile& experiment, bool force) {
  if (experiment.text) return run_folder_named("trainwire", force);
  const std::filesystem::path path(experiment.path);
  const std::string name = path.filename() == "experiment.toml" && path.has_parent_path()
                               ? path.parent_path().filename().string()
                               : path.stem().string();
  return run_folder_named(name, force);
}

record::Maker provenance_of(std::string_view command, std::span<const std::string> inputs,
                            Streams streams) {
  record::Maker provenance{.command = std::string(command),
                           .command_line = {"trainwire"},
                           .version = std::string(version()),
                           .commit = std::string(commit())};
  for (const std::string& word : streams.arguments) provenance.command_line.push_back(word);
  for (const std::string& path : inputs) {
    if (!path.empty()) provenance.inputs.push_back(result::describe_input(path));
  }
  return provenance;
}

record::Maker provenance_of(std::string_view command, const ExperimentFile& experiment,
                            Streams streams) {
  std::vector<std::string> inputs;
  if (experiment.is_file()) inputs.push_back(experiment.path);
  return provenance_of(command, inputs, streams);
}

record::RunFolder take_folder(std::string_view command, const ExperimentFile& experiment,
                              const std::string& path, bool force, Streams streams) {
  return {path.empty() ? default_folder(experiment, force) : path,
          provenance_of(command, experiment, streams),
          force ? result::IfThere::Replace : result::IfThere::Refuse};
}

int checks_code(const std::vector<record::Check>& checks, bool keeps_going, int code,
                Streams streams) {
  if (record::all_ok(checks) || keeps_going) return code;
  fmt::print(streams.err,
             "trainwire: a check failed, so the figures are not to be relied on; --keep-going "
             "takes them anyway\n");
  return kRunFailed;
}

void show_failure(const lab::ConductOutcome& outcome, Streams streams) {
  for (const lab::RankOutcome& rank : outcome.ranks) {
    if (rank.ending.succeeded() || rank.stopped || rank.excused) continue;
    fmt::print(streams.err, "{} {}; its last lines ({}):\n", rank.label, os::describe(rank.ending),
               rank.output);
    for (const std::string& line : lab::last_lines(rank.output, kLastLines)) {
      fmt::print(streams.err, "  {}\n", printable(line));
    }
    return;
  }
}

}  // namespace tw::command
