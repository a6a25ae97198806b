// SPDX-License-Identifier: Apache-2.0
#include "trainwire/base/error.h"
#include "trainwire/batch/slurm.h"
#include "trainwire/batch/ssh.h"
#include "trainwire/cli/commands.h"
#include "trainwire/cli/net_cli.h"
#include "trainwire/command/exit_code.h"
#include "trainwire/command/experiment_file.h"
#include "trainwire/ledger/folder.h"
#include "trainwire/ledger/ledger.h"
#include "trainwire/ledger/leftovers.h"
#include "trainwire/os/user_namespace.h"
#include "trainwire/record/json.h"
#include "trainwire/spec/scale.h"
#include "trainwire/terminal/interrupt.h"
#include "trainwire/terminal/status.h"
#include "trainwire/testbed/choose.h"
#include "trainwire/testbed/programs.h"
#include "trainwire/text/network_text.h"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <chrono>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tw::cli {
namespace {

struct NetOptions {
  std::string action;
  std::shared_ptr<command::ExperimentFile> experiment;
  std::string host;                   ///< of cluster: the first word of the command
  std::vector<std::string> command;   ///< of cluster: the others
  std::vector<std::string> services;  ///< of cluster
  bool json = false;
  bool quick = false;
};

/// A network while a command uses it, and its entry in the ledger.
struct Built {
  explicit Built(const network::NetPlan& plan, spec::Engine engine)
      : ledger(ledger::state_folder(), "net"),
        started(std::chrono::steady_clock::now()),
        cluster(plan, engine),
        seconds(std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count()) {
    for (const os::ProcessIdentity& process : cluster.processes()) ledger.add(process, "engine");
    ledger.add_namespace(cluster.switches(), "switches");
    for (std::size_t i = 0; i < plan.hosts.size(); ++i) {
      ledger.add_namespace(cluster.host(static_cast<int>(i)), plan.hosts[i].name);
    }
  }
  ledger::Ledger ledger;
  std::chrono::steady_clock::time_point started;
  testbed::Cluster cluster;
  double seconds;  ///< that it took to build
};

int show(const NetOptions& options, const network::NetPlan& plan, spec::Engine engine,
         command::Streams streams) {
  if (options.json) {
    fmt::print(streams.out, "{}\n", record::dumped(text::plan_document(plan, engine)));
  } else {
    fmt::print(streams.out, "{}\nNothing was built.\nnext: trainwire net check {}\n",
               text::plan_text(plan, engine), options.experiment->path);
  }
  return 0;
}

std::string verdict_line(testbed::Fitness worst, spec::Engine engine) {
  switch (worst) {
    case testbed::Fitness::Good:
      return fmt::format("The {} engine gives what was asked for.", testbed::name_of(engine));
    case testbed::Fitness::Warned:
      return fmt::format("The {} engine does not give all that was asked for: results will say so.",
                         testbed::name_of(engine));
    case testbed::Fitness::Refused:
      return fmt::format(
          "The {} engine does not give what was asked for: ask for less, try another engine "
          "(--set network.engine=tap), or a quieter machine.",
          testbed::name_of(engine));
  }
  return {};
}

int check(const NetOptions& options, const network::NetPlan& plan, spec::Engine engine,
          command::Streams streams) {
  const Built built(plan, engine);
  const terminal::InterruptGuard guard;
  terminal::Status status(streams.err, terminal::shown_on(streams.err, false));
  testbed::CheckOptions how;
  how.coverage = options.quick ? testbed::Coverage::EveryKind : testbed::Coverage::EveryPort;
  how.stop = [&] { return guard.interrupted(); };
  how.progress = [&](std::size_t done, std::size_t all) {
    status.tell(fmt::format("measuring path {} of {}", done + 1, all));
  };
  const std::vector<testbed::PathCheck> checks = testbed::check_network(built.cluster, how);
  status.wipe();
  const testbed::Fitness worst = testbed::worst(checks);
  if (options.json) {
    nlohmann::ordered_json document = text::plan_document(plan, engine, checks);
    document["built_s"] = built.seconds;
    document["release_late_p50_s"] =
        1e-9 * static_cast<double>(built.cluster.counters().lateness().quantile_ns(0.5));
    document["release_late_p99_s"] =
        1e-9 * static_cast<double>(built.cluster.counters().lateness().quantile_ns(0.99));
    fmt::print(streams.out, "{}\n", record::dumped(document));
  } else {
    fmt::print(streams.out, "{}{} Built in {}.\n", text::check_text(plan, checks),
               verdict_line(worst, engine), readable(from_seconds(built.seconds)));
  }
  if (guard.interrupted()) return command::kInterrupted;
  return worst == testbed::Fitness::Refused ? command::kRunFailed : 0;
}

int host_number(const network::NetPlan& plan, const std::string& name) {
  for (std::size_t i = 0; i < plan.hosts.size(); ++i) {
    if (plan.hosts[i].name == name) return static_cast<int>(i);
  }
  throw SpecError(fmt::format("{}: there is no such host; the network has {} to {}", name,
                              plan.hosts.front().name, plan.hosts.back().name));
}

/// A shell, or what is given instead, on a host. The program gets the terminal, and we get it back.
int run_on(const testbed::Programs& programs, testbed::Program program, const std::string& greeting,
           command::Streams streams) {
  const bool terminal = ::isatty(STDIN_FILENO) != 0;
  if (program.words.empty()) {
    if (terminal) fmt::print(streams.err, "{}", greeting);
    program.words = terminal ? std::vector<std::string>{"bash", "--norc", "-i"}
                             : std::vector<std::string>{"sh"};
  }
  os::Child child = programs.start(program);
  return in_foreground(child, terminal);
}

int shell(const NetOptions& options, const network::NetPlan& plan, spec::Engine engine,
          command::Streams streams) {
  const std::string name = options.host.empty() ? "host0" : options.host;
  const int host = host_number(plan, name);
  Built built(plan, engine);
  const testbed::Programs programs(built.cluster);
  built.ledger.add(programs.first_process(), "programs");
  return run_on(programs, {.host = host, .words = {}, .environment = host_environment(plan, name)},
                fmt::format("{}on {}; other hosts answer by name; exit ends it all\n",
                            text::plan_text(plan, engine), name),
                streams);
}

/// What is missing is told before anything is built.
void require_services(const std::vector<std::string>& services) {
  for (const std::string& name : services) {
    const std::string missing = name == "slurm" ? batch::slurm_missing() : batch::ssh_missing();
    if (!missing.empty())
      throw SystemError(fmt::format("net cluster --with {}: {}", name, missing));
  }
}

int cluster(const NetOptions& options, const network::NetPlan& plan, spec::Engine engine,
            command::Streams streams) {
  Built built(plan, engine);
  const testbed::Programs programs(built.cluster);
  built.ledger.add(programs.first_process(), "programs");
  const batch::Stage stage{.programs = programs, .ledger = built.ledger};
  std::optional<batch::Slurm> slurm;
  std::optional<batch::SshHosts> ssh;
  const std::string& first = plan.hosts.front().name;
  std::vector<std::string> environment = host_environment(plan, first);
  const auto add = [&](std::vector<std::string> entries) {
    for (std::string& entry : entries) environment.push_back(std::move(entry));
  };
  for (const std::string& name : options.services) {
    if (name == "slurm" && !slurm) add(slurm.emplace(plan, stage).environment());
    if (name == "ssh" && !ssh) add(ssh.emplace(plan, stage).environment());
  }
  std::vector<std::string> words = options.command;
  if (!options.host.empty()) words.insert(words.begin(), options.host);
  return run_on(programs, {.host = 0, .words = words, .environment = environment},
                fmt::format("{}{} on {}; try {}; exit ends it all\n", text::plan_text(plan, engine),
                            fmt::join(options.services, " and "), first,
                            slurm ? "srun -N2 hostname" : "$TRAINWIRE_SSH host1 hostname"),
                streams);
}

int prompt(const network::NetPlan& plan, spec::Engine engine, command::Streams streams) {
  Built built(plan, engine);
  const testbed::Programs programs(built.cluster);
  built.ledger.add(programs.first_process(), "programs");
  return run_net_cli(built.cluster, programs, std::cin, streams);
}

int net(const NetOptions& options, command::Streams streams) {
  const spec::Experiment experiment = command::load(*options.experiment);
  const network::NetPlan plan = network::make_plan(spec::scaled(experiment));
  const spec::Engine asked = *experiment.network.engine;
  if (options.action == "show") return show(options, plan, asked, streams);
  command::refuse_simulated(experiment, "net " + options.action);
  command::refuse_faults(experiment, "net " + options.action);
  if (options.action == "cluster") require_services(options.services);
  // First, since a user namespace hides what other runs left.
  ledger::clear_leftovers(ledger::state_folder());
  os::become_root_of_own_namespace();
  const spec::Engine engine = testbed::choose_engine(asked, plan);
  if (options.action == "check") return check(options, plan, engine, streams);
  if (options.action == "cli") return prompt(plan, engine, streams);
  if (options.action == "cluster") return cluster(options, plan, engine, streams);
  return shell(options, plan, engine, streams);
}

}  // namespace

command::Body declare_net(command::CommandLine& app) {
  const auto options = std::make_shared<NetOptions>();
  app.add_option("ACTION", options->action, "")
      .type_name("")
      .one_of({"show", "check", "shell", "cli", "cluster"})
      .action("show", "the plan of the network; nothing is built")
      .action("check", "build it, measure it, print what was asked for and found, remove it")
      .action("shell", "a shell on one of its hosts")
      .action("cli",
              "a prompt for all hosts: `pingall`, `host1 ping host0`, `links`, `exit`; reads "
              "a pipe too")
      .action("cluster",
              "a cluster to try things on: --with slurm or ssh on every host, and a shell on the "
              "first, or the command behind --")
      .required();
  options->experiment = command::add_experiment_file(app);
  app.add_option("HOST", options->host, "where it runs; default host0")
      .of("shell")
      .of("cluster", "the command, after --")
      .type_name("");
  app.add_option("COMMAND", options->command, "its other words").of("cluster").type_name("");
  app.add_option(
         "--with", options->services,
         "slurm: slurmctld, and slurmd on every host; ssh: sshd on every host. May be given "
         "twice; default slurm")
      .of("cluster")
      .type_name("SERVICE")
      .one_of({"slurm", "ssh"})
      .repeatable();
  app.add_flag("--json", options->json, "print one JSON document").of("show").of("check");
  app.add_flag("--quick", options->quick, "of links with the same settings measure one only")
      .of("check");
  return [options](command::Streams streams) {
    if (options->services.empty()) options->services = {"slurm"};
    return net(*options, streams);
  };
}

}  // namespace tw::cli
