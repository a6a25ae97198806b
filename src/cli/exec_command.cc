// SPDX-License-Identifier: Apache-2.0
#include "trainwire/account/packets.h"
#include "trainwire/base/error.h"
#include "trainwire/base/printable.h"
#include "trainwire/cli/commands.h"
#include "trainwire/command/exit_code.h"
#include "trainwire/command/expect.h"
#include "trainwire/command/experiment_file.h"
#include "trainwire/command/run_options.h"
#include "trainwire/command/sketch_options.h"
#include "trainwire/lab/checks.h"
#include "trainwire/lab/conduct.h"
#include "trainwire/lab/outcome.h"
#include "trainwire/ledger/folder.h"
#include "trainwire/ledger/leftovers.h"
#include "trainwire/os/clock.h"
#include "trainwire/os/user_namespace.h"
#include "trainwire/record/json.h"
#include "trainwire/spec/print.h"
#include "trainwire/spec/scale.h"
#include "trainwire/terminal/interrupt.h"
#include "trainwire/terminal/status.h"
#include "trainwire/testbed/choose.h"
#include "trainwire/text/capture_text.h"
#include "trainwire/text/network_text.h"
#include "trainwire/text/run_text.h"
#include "trainwire/text/verdict_text.h"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>

namespace tw::cli {
namespace {

struct ExecOptions {
  std::shared_ptr<sketch::Sketch> flags;
  std::vector<std::string> overrides;
  std::string first;  ///< the file, or the program where flags say the network
  std::vector<std::string> command;
  command::ExperimentFile experiment;  ///< follows from these
  std::string launcher = "each";
  std::string out;
  bool force = false;
  bool json = false;
  bool keep = false;
  bool no_check = false;
  bool accept_network = false;
  bool dry_run = false;
  bool strict = false;
  bool quiet = false;
  bool no_page = false;
};

/// A file, or what flags say. Throws SpecError when the words are not enough.
void tell_apart(ExecOptions& options) {
  const sketch::Sketch flags = command::given(*options.flags);
  if (!flags.empty()) {
    if (options.first.empty()) throw SpecError("which program? exec --hosts 4 -- COMMAND...");
    if (options.first.ends_with(".toml")) {
      throw SpecError(fmt::format(
          "{}: flags like --hosts describe a network without a file; with a file, change it with "
          "--set network.hosts=4",
          printable(options.first)));
    }
    options.command.insert(options.command.begin(), options.first);
    options.experiment = command::file_of(flags, sketch::For::Program, options.overrides);
    return;
  }
  if (options.command.empty()) {
    throw SpecError(
        "an experiment and a program are needed: exec FILE -- COMMAND..., or exec --hosts 4 --rate "
        "1Gbit -- COMMAND...; see `trainwire exec --help`");
  }
  options.experiment = {.path = options.first, .overrides = options.overrides};
}

lab::Launcher launcher_of(const ExecOptions& options) {
  if (options.launcher == "mpi") return lab::Launcher::Mpi;
  return options.launcher == "torchrun" ? lab::Launcher::Torchrun : lab::Launcher::Each;
}

/// Of the first job, or one rank on each host.
std::vector<int> placement_of(const spec::Experiment& experiment) {
  if (!experiment.jobs.empty()) return spec::placement(experiment.network, experiment.jobs.front());
  std::vector<int> placement;
  for (int host = 0; host < *experiment.network.hosts; ++host) placement.push_back(host);
  return placement;
}

/// Marks that the ranks left, as one log; nothing when there are none.
std::optional<imports::StepLog> read_marks(const std::string& folder, std::size_t ranks) {
  std::string text = "rank,step,start,end\n";
  bool any = false;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const std::string path = lab::marks_file(folder, static_cast<int>(rank));
    std::ifstream file(path);
    if (!file) continue;
    for (std::string line; std::getline(file, line);) {
      if (line.empty() || line.starts_with("rank")) continue;
      text += line + "\n";
      any = true;
    }
  }
  if (!any) return {};
  return imports::parse_step_log(text, folder + "/marks");
}

/// What the ranks say of their own steps.
record::MarkedSteps marked_steps(const std::optional<imports::StepLog>& log) {
  std::map<int, std::vector<double>> times;
  for (const imports::LoggedStep& step : log ? log->steps : std::vector<imports::LoggedStep>()) {
    times[step.rank].push_back(1e-9 * static_cast<double>(step.end_ns - step.start_ns));
  }
  record::MarkedSteps steps;
  for (auto& [rank, seconds] : times) {
    std::sort(seconds.begin(), seconds.end());
    steps.per_rank.push_back(
        {.rank = rank, .count = seconds.size(), .median_s = seconds[seconds.size() / 2]});
  }
  return steps;
}

lab::ConductRequest request_of(const ExecOptions& options, const spec::Experiment& experiment) {
  lab::ConductRequest request;
  request.plan = network::make_plan(spec::scaled(experiment));
  request.launch.words = options.command;
  request.launch.placement = placement_of(experiment);
  request.launch.launcher = launcher_of(options);
  for (char** entry = environ; *entry != nullptr; ++entry) {
    request.launch.environment.emplace_back(*entry);
  }
  request.captures = *experiment.capture.enabled;
  request.snap_length = *experiment.capture.snaplen;
  request.timeout = *experiment.run.timeout;
  request.checks_network = !options.no_check;
  request.accepts_network = options.accept_network;
  return request;
}

int finish(const ExecOptions& options, const spec::Experiment& experiment,
           const lab::ConductRequest& request, const lab::ConductOutcome& outcome,
           record::RunFolder& folder, command::Streams streams) {
  const auto marks = read_marks(folder.path(), request.launch.placement.size());
  summarise::CaptureResult result =
      lab::analysed(outcome, request.plan, std::vector<summarise::KnownJob>{{.log = marks}});
  result.log = marks;
  lab::write_tables(result, outcome, request.plan, folder);
  record::Run run = lab::described("exec", result, outcome, request);
  run.checks = lab::conduct_checks(outcome, request, result);
  run.steps = marked_steps(marks);
  account::add_of_packets(run);
  run.experiment = record::value_from(spec::to_json(experiment));
  std::vector<command::Judged> expectations;
  if (!outcome.interrupted && !outcome.failure) {
    expectations = command::judge_all(experiment.expectations, "exec", run);
  }
  folder.finish(run, lab::partial_of(outcome));
  if (!options.keep && !*experiment.capture.keep) lab::remove_captures(outcome);
  if (options.json) {
    fmt::print(streams.out, "{}\n", record::dumped(run));
  } else if (!options.quiet) {
    if (run.capture) {
      fmt::print(streams.out, "{}\n",
                 text::capture_text(result, folder.path(), text::verdict_text(run)));
    }
    fmt::print(streams.out, "engine {}\n{}{}", testbed::name_of(request.engine),
               text::checks_text(run.checks), command::expectations_text(expectations));
  }
  if (!options.no_page) leave_page(folder.path(), !options.json && !options.quiet, streams);
  streams.out.flush();
  if (outcome.interrupted) {
    fmt::print(streams.err, "trainwire: interrupted; {} holds what there was until then\n",
               folder.path());
    return command::kInterrupted;
  }
  if (outcome.failure) {
    command::show_failure(outcome, streams);
    throw Error(
        fmt::format("{}; {} holds what there was until then", *outcome.failure, folder.path()));
  }
  const int code = command::expectations_code(expectations, streams.err);
  return options.strict && !record::all_ok(run.checks) ? command::kRunFailed : code;
}

/// What would be built and started.
int show(const lab::ConductRequest& request, spec::Engine asked, command::Streams streams) {
  fmt::print(streams.out, "{}\ncommands\n", text::plan_text(request.plan, asked));
  lab::LaunchRequest launch = request.launch;
  launch.namespace_numbers.resize(request.plan.hosts.size());
  for (const lab::RankCommand& command : lab::make_commands(request.plan, launch)) {
    fmt::print(streams.out, "  {:<16} {}\n", command.label,
               printable(fmt::format("{}", fmt::join(command.words, " "))));
  }
  fmt::print(streams.out, "\nNothing was built or started.\n");
  return 0;
}

int exec(ExecOptions& options, command::Streams streams) {
  tell_apart(options);
  const spec::Experiment experiment = command::load(options.experiment);
  command::refuse_simulated(experiment, "exec");
  lab::ConductRequest request = request_of(options, experiment);
  if (options.dry_run) return show(request, *experiment.network.engine, streams);
  // First, since a user namespace hides what other runs left.
  ledger::clear_leftovers(ledger::state_folder());
  os::become_root_of_own_namespace();
  request.engine = testbed::choose_engine(*experiment.network.engine, request.plan);
  record::RunFolder folder =
      command::take_folder("exec", options.experiment, options.out, options.force, streams);
  folder.table("links");
  request.folder = std::filesystem::absolute(folder.path()).string();
  terminal::Status status(streams.err, terminal::shown_on(streams.err, options.quiet));
  const terminal::InterruptGuard guard;
  std::string doing;
  std::int64_t since = os::monotonic_ns();
  std::int64_t due = since;
  request.tell = [&](const std::string& what) {
    doing = what;
    since = os::monotonic_ns();
    status.tell(what);
  };
  request.care.attend = [&] {
    const std::int64_t now = os::monotonic_ns();
    if (now < due) return;
    due = now + 1'000'000'000;
    status.tell(
        fmt::format("{}, {}", doing, terminal::in_words(std::chrono::nanoseconds(now - since))));
  };
  request.stop = [&] { return guard.interrupted(); };
  const lab::ConductOutcome outcome = lab::conduct(request);
  status.tell("analysing");
  status.wipe();
  return finish(options, experiment, request, outcome, folder, streams);
}

}  // namespace

command::Body declare_exec(command::CommandLine& app) {
  const auto options = std::make_shared<ExecOptions>();
  // CLI11 takes words behind "--" only where an argument is still to come: hence two of them.
  app.add_option("FILE", options->first,
                 "experiment file (TOML), or - for standard input; none when flags like --hosts "
                 "describe the network")
      .type_name("");
  app.add_option("COMMAND", options->command,
                 "what each rank runs, after --; {rank}, {local_rank}, {world}, {host}, {address} "
                 "and {master} are replaced")
      .type_name("");
  options->flags = command::add_sketch(app, sketch::For::Program);
  command::add_overrides(app, options->overrides);
  app.add_option("--launcher", options->launcher,
                 "each: the command once per rank with RANK, WORLD_SIZE, MASTER_ADDR...; torchrun: "
                 "with torchrun's variables too; mpi: by mpirun")
      .type_name("NAME")
      .one_of({"each", "torchrun", "mpi"});
  app.add_option("-o,--out", options->out,
                 "run folder; default: the experiment's name with .run, here")
      .type_name("DIR");
  app.add_flag("--force", options->force, "replace a run that is in that folder");
  app.add_flag("--keep", options->keep, "keep the captures after their analysis");
  app.add_flag("--no-check", options->no_check, "do not measure the network before use");
  app.add_flag("--accept-network", options->accept_network,
               "go on although the network is more than 10 % off");
  app.add_flag("--dry-run", options->dry_run, "print the network and the commands, do nothing");
  app.add_flag("--strict", options->strict, "exit with 4 when a check fails");
  add_no_page(app, options->no_page);
  app.add_flag("--json", options->json, "print one JSON document");
  app.add_flag("-q,--quiet", options->quiet, "no summary and no progress");
  return [options](command::Streams streams) { return exec(*options, streams); };
}

}  // namespace tw::cli
