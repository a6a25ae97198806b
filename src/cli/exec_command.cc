// SPDX-License-Identifier: Apache-2.0
#include "trainwire/base/error.h"
#include "trainwire/cli/capture_document.h"
#include "trainwire/cli/capture_tables.h"
#include "trainwire/cli/capture_text.h"
#include "trainwire/cli/command.h"
#include "trainwire/cli/exec_checks.h"
#include "trainwire/cli/experiment_file.h"
#include "trainwire/cli/interrupt.h"
#include "trainwire/cli/network_text.h"
#include "trainwire/cli/printable.h"
#include "trainwire/cli/progress.h"
#include "trainwire/cli/version.h"
#include "trainwire/lab/conduct.h"
#include "trainwire/os/user_namespace.h"
#include "trainwire/testbed/choose.h"
#include "trainwire/testbed/ledger_folder.h"
#include "trainwire/testbed/sweep.h"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>

namespace tw::cli {
namespace {

constexpr int kRunFailed = 4;
constexpr int kInterrupted = 130;
constexpr std::size_t kLastLines = 15;

struct Options {
  std::shared_ptr<ExperimentFile> experiment;
  std::vector<std::string> command;
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
};

lab::Launcher launcher_of(const Options& options) {
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

std::string default_folder(const Options& options) {
  const std::filesystem::path path(options.experiment->path);
  const std::string name = path.filename() == "experiment.toml" && path.has_parent_path()
                               ? path.parent_path().filename().string()
                               : path.stem().string();
  std::string folder = name + ".run";
  for (int i = 2; !options.force && std::filesystem::exists(folder); ++i) {
    folder = fmt::format("{}-{}.run", name, i);
  }
  return folder;
}

result::RunFolder take_folder(const Options& options, Streams streams) {
  result::Provenance provenance{.command = "exec",
                                .command_line = {"trainwire"},
                                .version = std::string(version()),
                                .commit = std::string(commit())};
  for (const std::string& word : streams.arguments) provenance.command_line.push_back(word);
  if (options.experiment->path != "-") {
    provenance.inputs.push_back(result::describe_input(options.experiment->path));
  }
  return {options.out.empty() ? default_folder(options) : options.out, std::move(provenance),
          options.force ? result::IfThere::Replace : result::IfThere::Refuse};
}

/// What a terminal shows while it lasts.
class Status {
 public:
  Status(std::ostream& err, bool shown) : err_(err), shown_(shown) {}
  ~Status() { wipe(); }
  Status(const Status&) = delete;
  Status& operator=(const Status&) = delete;
  void tell(const std::string& what) {
    if (!shown_) return;
    fmt::print(err_, "\r\x1b[K{}", what);
    err_.flush();
  }
  void wipe() {
    if (shown_) fmt::print(err_, "\r\x1b[K");
    err_.flush();
  }

 private:
  std::ostream& err_;
  bool shown_;
};

/// Marks that the ranks left, as one log; nothing when there are none.
std::optional<flow::StepLog> read_marks(const std::string& folder, std::size_t ranks) {
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
  return flow::parse_step_log(text, folder + "/marks");
}

CaptureResult analyse(const lab::ConductOutcome& outcome, const testbed::NetPlan& plan,
                      const std::string& folder, std::size_t ranks) {
  CaptureResult result;
  std::vector<std::string> files;
  for (const capture::LiveResult& capture : outcome.captures) {
    if (capture.packets > 0) files.push_back(capture.file);
  }
  flow::AnalysisOptions how;
  for (const testbed::HostPlan& host : plan.hosts) how.names.emplace_back(host.address, host.name);
  how.log = read_marks(folder, ranks);
  result.log = how.log;
  result.interrupted = outcome.interrupted;
  if (files.empty()) return result;
  flow::ReadOptions reading;
  reading.one_clock = true;  // all hosts are on this machine
  result.traffic = flow::read_traffic(files, reading);
  result.analysis = flow::analyse(result.traffic, how);
  add_figures(result);
  return result;
}

void write_links(const lab::ConductOutcome& outcome, const testbed::NetPlan& plan,
                 result::RunFolder& folder) {
  result::TableFile& table = folder.table("links");
  for (int i = 0; i < static_cast<int>(2 * plan.hosts.size()); ++i) {
    const testbed::Port& port = plan.ports[static_cast<std::size_t>(i)];
    const bool out = port.direction == spec::Direction::FromHost;
    const testbed::PathCheck* check = check_of(plan, i, outcome.network);
    const testbed::LinkCounters counters = static_cast<std::size_t>(i / 2) < outcome.counters.size()
                                               ? outcome.counters[static_cast<std::size_t>(i / 2)]
                                               : testbed::LinkCounters{};
    table.row(
        {port.link, out ? "from_host" : "to_host", port.rate.bits_per_second(),
         check != nullptr ? result::Cell(check->found.rate.carried.bits_per_second())
                          : result::Cell(),
         out ? counters.sent_packets : counters.received_packets,
         out ? counters.sent_bytes : counters.received_bytes,
         out ? static_cast<std::uint64_t>(counters.queue_dropped) : counters.received_dropped});
  }
}

/// Counters of every host while the ranks ran, only where they changed.
void write_samples(const lab::ConductOutcome& outcome, const testbed::NetPlan& plan,
                   result::RunFolder& folder) {
  result::TableFile& table = folder.table("samples");
  const std::vector<testbed::LinkSample>& samples = outcome.watch.links;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    for (std::size_t host = 0; host < samples[i].links.size(); ++host) {
      const testbed::LinkCounters& now = samples[i].links[host];
      const bool same = i > 0 && i + 1 < samples.size() && now == samples[i - 1].links[host] &&
                        now == samples[i + 1].links[host];
      if (same) continue;
      table.row({samples[i].time_ns, plan.hosts[host].name, now.sent_bytes, now.received_bytes,
                 now.queue_bytes, now.queue_dropped});
    }
  }
}

void write_load(const lab::ConductOutcome& outcome, result::RunFolder& folder) {
  result::TableFile& table = folder.table("load");
  const std::vector<testbed::LoadSample>& loads = outcome.watch.loads;
  for (std::size_t i = 1; i < loads.size(); ++i) {
    const auto load = testbed::load_between(outcome.watch, loads[i - 1].time_ns, loads[i].time_ns);
    if (load) table.row({loads[i].time_ns, load->busy, load->steal, load->wait});
  }
}

/// What the ranks say of their own steps.
nlohmann::ordered_json steps_document(const CaptureResult& result) {
  std::map<int, std::vector<double>> times;
  if (result.log) {
    for (const flow::LoggedStep& step : result.log->steps) {
      times[step.rank].push_back(1e-9 * static_cast<double>(step.end_ns - step.start_ns));
    }
  }
  nlohmann::ordered_json ranks = nlohmann::ordered_json::array();
  for (auto& [rank, seconds] : times) {
    std::sort(seconds.begin(), seconds.end());
    ranks.push_back(
        {{"rank", rank}, {"count", seconds.size()}, {"median_s", seconds[seconds.size() / 2]}});
  }
  return {{"per_rank", ranks}};
}

nlohmann::ordered_json document_of(const CaptureResult& result, const lab::ConductOutcome& outcome,
                                   const lab::ConductRequest& request,
                                   const std::vector<RunCheck>& checks) {
  nlohmann::ordered_json document = result.traffic.totals.packets > 0
                                        ? capture_document(result)
                                        : nlohmann::ordered_json{{"schema", 1}};
  document["engine"] = testbed::name_of(request.engine);
  document["checks"] = checks_document(checks);
  document["network"] = {{"links", links_document(request.plan, outcome.network)},
                         {"paths", paths_document(request.plan, outcome.network)}};
  document["cpu_bound"] = outcome.verdict.level >= testbed::WatchLevel::CpuBound;
  document["machine"] = {{"level", testbed::level_name(outcome.verdict.level)},
                         {"reasons", outcome.verdict.reasons}};
  nlohmann::ordered_json ranks = nlohmann::ordered_json::array();
  for (const lab::RankOutcome& rank : outcome.ranks) {
    ranks.push_back({{"name", rank.label},
                     {"exit_code", rank.ending.exit_code},
                     {"signal", rank.ending.signal},
                     {"stopped", rank.stopped},
                     {"output", rank.output}});
  }
  document["ranks"] = ranks;
  document["steps"] = steps_document(result);
  document["duration_s"] = 1e-9 * static_cast<double>(outcome.ended_ns - outcome.started_ns);
  return document;
}

void show_failure(const lab::ConductOutcome& outcome, Streams streams) {
  for (const lab::RankOutcome& rank : outcome.ranks) {
    if (rank.ending.succeeded() || rank.stopped) continue;
    fmt::print(streams.err, "{} {}; its last lines ({}):\n", rank.label, os::describe(rank.ending),
               rank.output);
    for (const std::string& line : lab::last_lines(rank.output, kLastLines)) {
      fmt::print(streams.err, "  {}\n", printable(line));
    }
    return;
  }
}

void remove_captures(const lab::ConductOutcome& outcome) {
  for (const capture::LiveResult& capture : outcome.captures) {
    std::error_code ignored;
    std::filesystem::remove(capture.file, ignored);
  }
}

lab::ConductRequest request_of(const Options& options, const spec::Experiment& experiment) {
  lab::ConductRequest request;
  request.plan = testbed::make_plan(experiment);
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

int finish(const Options& options, const lab::ConductRequest& request,
           const lab::ConductOutcome& outcome, result::RunFolder& folder, bool keep,
           Streams streams) {
  const CaptureResult result =
      analyse(outcome, request.plan, folder.path(), request.launch.placement.size());
  const std::vector<RunCheck> checks = exec_checks(outcome, request, result);
  if (result.traffic.totals.packets > 0) write_tables(result, folder);
  write_links(outcome, request.plan, folder);
  write_samples(outcome, request.plan, folder);
  write_load(outcome, folder);
  const nlohmann::ordered_json document = document_of(result, outcome, request, checks);
  folder.finish(document, outcome.interrupted ? "interrupted" : outcome.failure.value_or(""));
  if (!keep) remove_captures(outcome);
  if (options.json) {
    fmt::print(streams.out, "{}\n", dumped(document));
  } else if (!options.quiet) {
    if (result.traffic.totals.packets > 0) {
      fmt::print(streams.out, "{}\n", capture_text(result, folder.path()));
    }
    fmt::print(streams.out, "{}", checks_text(checks, testbed::name_of(request.engine)));
  }
  streams.out.flush();
  if (outcome.interrupted) {
    fmt::print(streams.err, "trainwire: interrupted; {} holds what there was until then\n",
               folder.path());
    return kInterrupted;
  }
  if (outcome.failure) {
    show_failure(outcome, streams);
    throw Error(
        fmt::format("{}; {} holds what there was until then", *outcome.failure, folder.path()));
  }
  return options.strict && !all_ok(checks) ? kRunFailed : 0;
}

/// What would be built and started.
int show(const lab::ConductRequest& request, spec::Engine asked, Streams streams) {
  fmt::print(streams.out, "{}\ncommands\n", plan_text(request.plan, asked));
  lab::LaunchRequest launch = request.launch;
  launch.namespace_numbers.resize(request.plan.hosts.size());
  for (const lab::RankCommand& command : lab::make_commands(request.plan, launch)) {
    fmt::print(streams.out, "  {:<16} {}\n", command.label,
               printable(fmt::format("{}", fmt::join(command.words, " "))));
  }
  fmt::print(streams.out, "\nNothing was built or started.\n");
  return 0;
}

int exec(const Options& options, Streams streams) {
  const spec::Experiment experiment = load(*options.experiment);
  lab::ConductRequest request = request_of(options, experiment);
  if (options.dry_run) return show(request, *experiment.network.engine, streams);
  // First, since a user namespace hides what other runs left.
  testbed::sweep(testbed::state_folder());
  os::become_root_of_own_namespace();
  request.engine = testbed::choose_engine(*experiment.network.engine, request.plan);
  result::RunFolder folder = take_folder(options, streams);
  folder.table("links");
  request.folder = std::filesystem::absolute(folder.path()).string();
  Status status(streams.err, !options.quiet && is_terminal(streams.err));
  const InterruptGuard guard;
  request.tell = [&](const std::string& what) { status.tell(what); };
  request.stop = [&] { return guard.interrupted(); };
  const lab::ConductOutcome outcome = lab::conduct(request);
  status.tell("analysing");
  status.wipe();
  return finish(options, request, outcome, folder, options.keep || *experiment.capture.keep,
                streams);
}

}  // namespace

Body declare_exec(CommandLine& app) {
  const auto options = std::make_shared<Options>();
  options->experiment = add_experiment_file(app);
  app.add_option("COMMAND", options->command,
                 "what each rank runs, after --; {rank}, {local_rank}, {world}, {host}, {address} "
                 "and {master} are replaced")
      .type_name("")
      .required();
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
  app.add_flag("--json", options->json, "print one JSON document");
  app.add_flag("-q,--quiet", options->quiet, "no summary and no progress");
  return [options](Streams streams) { return exec(*options, streams); };
}

}  // namespace tw::cli
