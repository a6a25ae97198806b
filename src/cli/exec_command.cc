// SPDX-License-Identifier: Apache-2.0
#include "trainwire/base/error.h"
#include "trainwire/base/printable.h"
#include "trainwire/cli/commands.h"
#include "trainwire/command/exit_code.h"
#include "trainwire/command/expect.h"
#include "trainwire/command/experiment_file.h"
#include "trainwire/command/run_options.h"
#include "trainwire/command/sketch_options.h"
#include "trainwire/ledger/folder.h"
#include "trainwire/ledger/leftovers.h"
#include "trainwire/os/clock.h"
#include "trainwire/os/user_namespace.h"
#include "trainwire/programs/jobs.h"
#include "trainwire/programs/measure.h"
#include "trainwire/record/json.h"
#include "trainwire/terminal/interrupt.h"
#include "trainwire/terminal/status.h"
#include "trainwire/testbed/choose.h"
#include "trainwire/text/capture_text.h"
#include "trainwire/text/links_text.h"
#include "trainwire/text/network_text.h"
#include "trainwire/text/run_text.h"
#include "trainwire/text/verdict_text.h"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace tw::cli {
namespace {

struct ExecOptions {
  std::shared_ptr<sketch::Sketch> flags;
  std::vector<std::string> overrides;
  std::string first;  ///< the file, or the program where flags say the network
  std::vector<std::string> command;
  command::ExperimentFile experiment;  ///< follows from these
  std::string launcher = "each";
  command::PlaceOptions where;  ///< hosts that are machines
  std::string gpu = "none";
  std::string out;
  bool force = false;
  bool json = false;
  bool keep = false;
  bool no_check = false;
  bool accept_network = false;
  bool dry_run = false;
  bool keep_going = false;
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
  std::error_code none;
  const bool is_program = !options.first.ends_with(".toml") && options.first != "-" &&
                          !std::filesystem::exists(options.first, none);
  if (options.command.empty() && is_program) {
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

programs::ProgramOptions programs_of(const ExecOptions& options) {
  programs::ProgramOptions made{.command = options.command,
                                .launcher = launcher_of(options),
                                .shares_gpu = options.gpu == "shared",
                                .place = {.checks_network = !options.no_check,
                                          .accepts_network = options.accept_network,
                                          .keeps_captures = options.keep}};
  made.place.launch = options.where.place().launch;
  made.place.shapes = options.where.place().shapes;
  for (char** entry = environ; *entry != nullptr; ++entry) made.environment.emplace_back(*entry);
  return made;
}

/// What a terminal shows while programs run: what is done and for how long, and what each job's
/// first rank prints.
class ProgramStatus {
 public:
  ProgramStatus(command::Streams streams, bool quiet)
      : err_(streams.err),
        quiet_(quiet),
        status_(streams.err, terminal::shown_on(streams.err, quiet)) {}

  /// REQUIRES: this outlives it.
  programs::Onlooker onlooker() {
    return {.tell =
                [this](const std::string& what) {
                  doing_ = what;
                  since_ns_ = os::monotonic_ns();
                  status_.tell(what);
                },
            .stop =
                [this] {
                  look();
                  return guard_.interrupted();
                },
            .line =
                [this](const std::string& line) {
                  if (quiet_) return;
                  status_.wipe();
                  fmt::print(err_, "{}\n", line);
                  err_.flush();
                }};
  }
  void wipe() { status_.wipe(); }

 private:
  void look() {
    const std::int64_t now = os::monotonic_ns();
    if (now < due_ns_) return;
    due_ns_ = now + 1'000'000'000;
    status_.tell(fmt::format("{}, {}", doing_,
                             terminal::in_words(std::chrono::nanoseconds(now - since_ns_))));
  }

  std::ostream& err_;
  bool quiet_;
  terminal::Status status_;
  terminal::InterruptGuard guard_;
  std::string doing_;
  std::int64_t since_ns_ = os::monotonic_ns();
  std::int64_t due_ns_ = 0;
};

/// The experiment and the scripts, by which the run can be known again.
record::RunFolder folder_of(const ExecOptions& options, const lab::ConductRequest& request,
                            command::Streams streams) {
  std::vector<std::string> inputs = programs::script_files(request.launches);
  if (options.experiment.is_file()) inputs.insert(inputs.begin(), options.experiment.path);
  return {options.out.empty() ? command::default_folder(options.experiment, options.force)
                              : options.out,
          command::provenance_of("exec", inputs, streams),
          options.force ? result::IfThere::Replace : result::IfThere::Refuse};
}

std::string summary(const programs::MeasuredPrograms& measured, const std::string& folder) {
  const record::Run& run = measured.run;
  std::string text;
  if (run.capture) {
    text += text::capture_text(measured.captured, folder, text::verdict_text(run)) + "\n";
  }
  text += text::marked_text(run) + text::links_text(run) + text::faults_text(run.faults);
  if (run.cross_traffic) text += text::traffic_text(*run.cross_traffic);
  text += fmt::format("engine {}\n{}", run.engine.value_or(""), text::checks_text(run.checks));
  if (run.expectations) text += command::expectations_text(*run.expectations);
  return text;
}

int finish(const ExecOptions& options, const programs::MeasuredPrograms& measured,
           const std::string& folder, command::Streams streams) {
  if (options.json) {
    fmt::print(streams.out, "{}\n", record::dumped(measured.run));
  } else if (!options.quiet) {
    fmt::print(streams.out, "{}", summary(measured, folder));
  }
  if (!options.no_page) leave_page(folder, !options.json && !options.quiet, streams);
  streams.out.flush();
  if (measured.interrupted) {
    fmt::print(streams.err, "trainwire: interrupted; {} holds what there was until then\n", folder);
    return command::kInterrupted;
  }
  if (measured.failure) {
    command::show_failure(measured.outcome, streams);
    throw Error(fmt::format("{}; {} holds what there was until then", *measured.failure, folder));
  }
  const auto& judged = measured.run.expectations;
  const int code = judged ? command::expectations_code(*judged, streams.err) : command::kDone;
  return command::checks_code(measured.run.checks, options.keep_going, code, streams);
}

/// What would be built and started.
int show(const lab::ConductRequest& request, spec::Engine asked, command::Streams streams) {
  fmt::print(streams.out, "{}\ncommands\n", text::plan_text(request.plan, asked));
  for (lab::LaunchRequest launch : request.launches) {
    launch.namespace_numbers.resize(request.plan.hosts.size());
    for (const lab::RankCommand& command : lab::make_commands(request.plan, launch)) {
      fmt::print(streams.out, "  {:<16} {}\n", command.label,
                 printable(fmt::format("{}", fmt::join(command.words, " "))));
    }
  }
  fmt::print(streams.out, "\nNothing was built or started.\n");
  return 0;
}

/// Those who capture and the program are two steps of one job.
void require_allocation(const programs::ProgramOptions& asked, const spec::Experiment& experiment,
                        const ExecOptions& options) {
  command::refuse_faults(experiment, "exec --launch");
  if (options.gpu != "none" || options.launcher != "each") {
    throw SpecError("--launch starts programs by itself: leave --launcher and --gpu out");
  }
  const bool outside =
      asked.place.launch->kind == fleet::LaunchKind::Srun && std::getenv("SLURM_JOB_ID") == nullptr;
  if (!outside) return;
  throw SpecError(fmt::format(
      "exec --launch srun starts two steps of one job, so it needs an allocation: put `salloc "
      "--nodes={} --ntasks-per-node={}` in front, or call it in a script for sbatch",
      *experiment.network.hosts, 1));
}

int exec(ExecOptions& options, command::Streams streams) {
  tell_apart(options);
  const spec::Experiment experiment = command::load(options.experiment);
  command::refuse_simulated(experiment, "exec");
  const programs::ProgramOptions asked = programs_of(options);
  lab::ConductRequest request = programs::request_of(experiment, asked);
  if (options.dry_run) return show(request, *experiment.network.engine, streams);
  programs::require_gpu(asked);
  // First, since a user namespace hides what other runs left.
  ledger::clear_leftovers(ledger::state_folder());
  if (asked.place.launch) {
    require_allocation(asked, experiment, options);
  } else {
    os::become_root_of_own_namespace();
    request.engine = testbed::choose_engine(*experiment.network.engine, request.plan);
  }
  record::RunFolder folder = folder_of(options, request, streams);
  ProgramStatus status(streams, options.quiet);
  programs::Onlooker onlooker = status.onlooker();
  onlooker.judge = [&](record::Run& run) {
    command::judge_all(experiment.expectations, "exec", run);
  };
  const auto measured = programs::measure(experiment, asked, std::move(request), folder, onlooker);
  status.wipe();
  return finish(options, measured, folder.path(), streams);
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
                 "what each rank runs, after --; none where each job of the file has its command; "
                 "{rank}, {local_rank}, {world}, {host}, {address} "
                 "and {master} are replaced")
      .type_name("");
  options->flags = command::add_sketch(app, sketch::For::Program);
  command::add_overrides(app, options->overrides);
  app.add_option("--launcher", options->launcher,
                 "each: the command once per rank with RANK, WORLD_SIZE, MASTER_ADDR...; torchrun: "
                 "with torchrun's variables too; mpi: by mpirun")
      .type_name("NAME")
      .one_of({"each", "torchrun", "mpi"});
  command::add_launch(app, options->where);
  app.add_option(
         "--gpu", options->gpu,
         "shared: all ranks compute on the machine's first GPU, side by side by CUDA's MPS, "
         "and speak NCCL over the emulated network")
      .type_name("HOW")
      .one_of({"none", "shared"});
  app.add_option("-o,--out", options->out,
                 "run folder; default: the experiment's name with .run, here")
      .type_name("DIR");
  app.add_flag("--force", options->force, "replace a run that is in that folder");
  app.add_flag("--keep", options->keep, "keep the captures after their analysis");
  app.add_flag("--no-check", options->no_check, "do not measure the network before use");
  app.add_flag("--accept-network", options->accept_network,
               "go on although the network is more than 10 % off");
  app.add_flag("--dry-run", options->dry_run, "print the network and the commands, do nothing");
  app.add_flag("--keep-going", options->keep_going, "exit with 0 although a check failed");
  add_no_page(app, options->no_page);
  app.add_flag("--json", options->json, "print one JSON document");
  app.add_flag("-q,--quiet", options->quiet, "no summary and no progress");
  return [options](command::Streams streams) { return exec(*options, streams); };
}

}  // namespace tw::cli
