// SPDX-License-Identifier: Apache-2.0
#include "trainwire/account/packets.h"
#include "trainwire/base/error.h"
#include "trainwire/base/printable.h"
#include "trainwire/base/units.h"
#include "trainwire/cli/commands.h"
#include "trainwire/command/exit_code.h"
#include "trainwire/command/expect.h"
#include "trainwire/command/experiment_file.h"
#include "trainwire/command/hosts_file.h"
#include "trainwire/command/run_options.h"
#include "trainwire/excerpt/cut.h"
#include "trainwire/excerpt/cut_option.h"
#include "trainwire/gather/hosts.h"
#include "trainwire/gather/partial.h"
#include "trainwire/gather/ports.h"
#include "trainwire/operations/findings.h"
#include "trainwire/operations/summary.h"
#include "trainwire/predict/plan.h"
#include "trainwire/readers/given.h"
#include "trainwire/record/json.h"
#include "trainwire/spread/part_files.h"
#include "trainwire/summarise/describe.h"
#include "trainwire/summarise/jobs.h"
#include "trainwire/summarise/small_flows.h"
#include "trainwire/summarise/tables.h"
#include "trainwire/summarise/wire_times.h"
#include "trainwire/terminal/interrupt.h"
#include "trainwire/terminal/progress.h"
#include "trainwire/text/capture_text.h"
#include "trainwire/text/verdict_text.h"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <future>
#include <memory>
#include <optional>
#include <set>
#include <utility>

namespace tw::cli {
namespace {

struct AnalyzeOptions {
  std::vector<std::string> files;     ///< as given
  std::vector<std::string> captures;  ///< of these
  std::string out;
  std::string log;
  std::string filter;
  std::string hosts;
  std::string expect;
  std::string plan;
  std::string window = "1ms";
  std::vector<std::string> cuts;
  bool force = false;
  bool json = false;
  bool strict = false;
  bool quiet = false;
  bool no_progress = false;
  bool no_folder = false;
  bool no_page = false;
  bool one_clock = false;
  bool partial = false;
  std::string launch;           ///< files lie on machines that it reaches
  std::optional<int> machines;  ///< how many
  int port = 0;                 ///< where they join
};

std::int64_t window_of(const AnalyzeOptions& options) {
  const auto window = parse_duration(options.window);
  if (!window || window->count() < 1000 || *window > std::chrono::hours(1)) {
    throw SpecError(fmt::format(
        "--window {}: expected a time from 1us to 1h with its unit, like 10ms", options.window));
  }
  return window->count();
}

/// "a/job.pcapng.zst" gives "job.run", here; a number is added while that is taken.
std::string default_folder(const AnalyzeOptions& options) {
  std::filesystem::path name = std::filesystem::path(options.files.front()).filename();
  if (name.empty()) name = std::filesystem::path(options.files.front()).parent_path().filename();
  if (name == "-") name = "stdin";
  if (!options.launch.empty()) name = "machines";
  for (const char* extension : {".zst", ".gz", ".pcapng", ".pcap", ".cap", ".ntar", ".part",
                                ".json", ".log", ".txt", ".csv"}) {
    if (name.extension() == extension) name = name.stem();
  }
  return command::run_folder_named(name.string(), options.force);
}

std::unique_ptr<record::RunFolder> take_folder(const AnalyzeOptions& options,
                                               const std::vector<operations::Told>& told,
                                               command::Streams streams) {
  if (options.no_folder) return nullptr;
  std::vector<std::string> inputs = options.captures;
  for (const operations::Told& file : told) inputs.push_back(file.path);
  inputs.insert(inputs.end(), {options.log, options.hosts, options.expect, options.plan});
  return std::make_unique<record::RunFolder>(
      options.out.empty() ? default_folder(options) : options.out,
      command::provenance_of("analyze", inputs, streams),
      options.force ? result::IfThere::Replace : result::IfThere::Refuse);
}

/// "a/job.pcapng.zst" gives "job.part", here.
std::string part_name(const AnalyzeOptions& options) {
  const std::string folder = default_folder(options);
  return folder.substr(0, folder.size() - 4) + ".part";
}

spread::PartOrder part_order(const AnalyzeOptions& options) {
  return {.files = options.captures.empty() ? options.files : options.captures,
          .filter = options.filter,
          .window_ns = window_of(options),
          .replaces = options.force,
          .tells = !options.quiet,
          .shows_progress = !options.quiet && !options.no_progress};
}

/// What is merged later, elsewhere.
int write_part(const AnalyzeOptions& options, command::Streams streams) {
  const bool unused = !options.log.empty() || !options.expect.empty() || !options.cuts.empty() ||
                      !options.hosts.empty() || options.json;
  if (unused) {
    throw SpecError(
        "--partial only reads; --log, --hosts, --expect, --cut and --json belong to the command "
        "that "
        "merges the parts");
  }
  return spread::write_part(part_order(options),
                            options.out.empty() ? part_name(options) : options.out, streams);
}

/// Has the files read where they lie; afterwards they are the parts that have come. False when it was
/// interrupted.
bool fetch_parts(AnalyzeOptions& options, command::Streams streams) {
  if (options.partial || !options.cuts.empty()) {
    throw SpecError(
        "--launch makes parts and merges them: leave --partial out; --cut needs the captures");
  }
  command::PlaceOptions where;
  where.launch = options.launch;
  where.port = options.port;
  const auto launch = where.place().launch;
  if (!launch) throw SpecError("--launch local is this machine: leave it out");
  if (options.out.empty()) options.out = default_folder(options);
  const std::filesystem::path out(options.out);
  const auto parts = spread::fetch_parts(
      part_order(options), *launch, fleet::machine_count(*launch, options.machines),
      (out.extension() == ".run" ? out.parent_path() / out.stem() : out).string() + ".parts",
      streams);
  options.filter.clear();
  if (parts) options.files = *parts;
  return parts.has_value();
}

/// Reads the captures until their end or the first Ctrl-C.
void read_captures(const AnalyzeOptions& options, command::Streams streams,
                   summarise::CaptureResult& result) {
  terminal::Progress progress(
      streams.err, !options.quiet && !options.no_progress && terminal::is_terminal(streams.err));
  const terminal::InterruptGuard guard;
  gather::ReadOptions how;
  how.table.window_ns = window_of(options);
  how.filter = options.filter;
  how.one_clock = options.one_clock;
  how.progress = [&](std::int64_t done, std::int64_t all) { progress.update(done, all); };
  how.stop = [&] { return guard.interrupted(); };
  summarise::SmallFlows small;
  how.retired = [&](const auto& flow, const auto& addresses) { small.add(flow, addresses); };
  result.traffic = gather::read_traffic(options.captures, how);
  result.small_flows = std::move(small).earliest();
  result.interrupted = guard.interrupted();
}

void refuse_nothing(const AnalyzeOptions& options, const summarise::CaptureResult& result) {
  if (result.traffic.totals.packets > 0 || result.interrupted) return;
  const std::string files = fmt::format("{}", fmt::join(options.captures, ", "));
  if (!options.filter.empty()) {
    throw DataError(
        fmt::format("reading {}: no packet passes the filter \"{}\"; try it with tcpdump -r", files,
                    options.filter));
  }
  std::string damage;
  for (const gather::FileSummary& file : result.traffic.files) {
    if (file.damage)
      damage = fmt::format(" ({} at byte {})", file.damage->text, file.damage->offset);
  }
  throw DataError(
      fmt::format("reading {}: the capture holds no packets{}; was the right interface captured?",
                  files, damage));
}

/// Steps that lie outside the capture are most often local times without their zone.
void warn_of_strange_log(const summarise::CaptureResult& result, command::Streams streams) {
  if (!result.log) return;
  std::int64_t first = result.log->steps.front().start_ns;
  std::int64_t last = first;
  for (const imports::LoggedStep& step : result.log->steps) {
    first = std::min(first, step.start_ns);
    last = std::max(last, step.end_ns);
  }
  const flow::Totals& totals = result.traffic.totals;
  if (first <= totals.last_ns && last >= totals.first_ns) return;
  const double hours = static_cast<double>(first - totals.first_ns) / 3.6e12;
  fmt::print(
      streams.err,
      "trainwire: the steps of the log are {:.2f} h {} the capture: their times need the zone "
      "(+02:00), or are not of this run\n",
      std::abs(hours), hours > 0 ? "after" : "before");
}

void print_damage(const summarise::CaptureResult& result, command::Streams streams) {
  for (const gather::FileSummary& file : result.traffic.files) {
    if (!file.damage) continue;
    fmt::print(streams.err, "trainwire: {} is damaged at byte {}: {}; everything before was used\n",
               printable(file.path), file.damage->offset, printable(file.damage->text));
  }
}

void cut_out(const AnalyzeOptions& options, const summarise::CaptureResult& result,
             command::Streams streams) {
  for (const std::string& text : options.cuts) {
    const excerpt::CutOption cut = excerpt::cut_option(text);
    const excerpt::Selection selection =
        excerpt::selection_of(cut, result.analysis, result.traffic);
    const std::uint64_t packets = excerpt::cut(result.traffic.files, selection, cut.path);
    if (options.quiet) continue;
    fmt::print(streams.err, "{}: {} packets of {} {}\n", printable(cut.path), packets,
               cut.is_step ? "step" : "finding", cut.number);
  }
}

int exit_code(const AnalyzeOptions& options, const summarise::CaptureResult& result,
              command::Streams streams) {
  if (result.interrupted) {
    fmt::print(streams.err,
               "trainwire: interrupted; the results are of what was read until then\n");
    return command::kInterrupted;
  }
  if (!options.strict) return 0;
  const bool damaged =
      std::any_of(result.traffic.files.begin(), result.traffic.files.end(),
                  [](const gather::FileSummary& file) { return file.damage.has_value(); });
  if (!damaged && result.analysis.quality.level != diagnose::Level::Poor) return 0;
  fmt::print(streams.err, "trainwire: the data are {} and --strict was given\n",
             damaged ? "damaged" : "of poor quality");
  return command::kRunFailed;
}

/// Of the first job of the experiment at `path`; nothing without one.
std::optional<operations::Planned> planned_of(const std::string& path) {
  if (path.empty()) return {};
  const spec::Experiment experiment = command::load({.path = path, .overrides = {}});
  const predict::JobPlan plan = predict::plan(experiment, experiment.jobs.front());
  return operations::Planned{.name = plan.name,
                             .gradient_bytes = static_cast<double>(plan.gradient_bytes.count()),
                             .exchange_bytes = static_cast<double>(plan.step.total.count())};
}

/// Without packets.
int analyze_others(const AnalyzeOptions& options, std::vector<operations::Told> told,
                   command::Streams streams) {
  const std::vector<spec::Expectation> expectations = command::expectations_of(options.expect);
  const auto folder = take_folder(options, told, streams);
  const operations::Imported imported = operations::imported(std::move(told));
  record::Run run{.command = "analyze"};
  operations::add_to(run, imported);
  if (const auto planned = planned_of(options.plan)) operations::add_plan(run, *planned);
  const std::vector<command::Judged> judged = command::judge_all(expectations, "analyze", run);
  if (folder) {
    operations::write_table(imported, *folder);
    operations::write_pairs(run, *folder);
    folder->finish(run);
  }
  if (options.json) {
    fmt::print(streams.out, "{}\n", record::dumped(run));
  } else if (!options.quiet) {
    fmt::print(streams.out, "{}{}",
               operations::imported_text(run, imported, folder ? folder->path() : "",
                                         text::verdict_text(run)),
               command::expectations_text(judged));
  }
  if (folder && !options.no_page) {
    leave_page(folder->path(), !options.json && !options.quiet, streams);
  }
  streams.out.flush();
  return command::expectations_code(judged, streams.err);
}

/// Ranks that share an address have no name but a port.
void add_doubt(const gather::PortHosts& ports, diagnose::Analysis& analysis) {
  if (ports.names.empty()) return;
  analysis.quality.reasons.emplace_back(
      ports.is_guess ? "all ranks share one address: each is named by a port that it sends from, "
                       "and who follows "
                       "whom is a guess"
                     : "all ranks share one address: each is named by a port that it sends from");
}

std::vector<operations::Span> spans_of(const std::vector<summarise::Stretch>& stretches) {
  std::vector<operations::Span> spans;
  for (const summarise::Stretch& each : stretches) spans.push_back({each.start_ns, each.end_ns});
  return spans;
}

std::vector<operations::Connection> connections_of(const gather::Captured& traffic) {
  std::set<flow::FlowKey> with_payload;
  for (const flow::Flow& flow : traffic.flows) {
    if (flow.stream_bytes() > 0) with_payload.insert(flow.key);
  }
  std::vector<operations::Connection> made;
  for (const flow::Flow& flow : traffic.flows) {
    if (!flow.key.is_tcp()) continue;
    const flow::FlowKey back{.source = flow.key.destination,
                             .destination = flow.key.source,
                             .source_port = flow.key.destination_port,
                             .destination_port = flow.key.source_port,
                             .protocol = flow.key.protocol};
    auto& each = made.emplace_back(operations::Connection{
        .bytes = static_cast<std::int64_t>(flow.stream_bytes()),
        .missing_bytes = static_cast<std::int64_t>(flow.stream.missing_bytes()),
        .is_one_way = !with_payload.contains(back)});
    for (const flow::Burst& burst : flow.bursts)
      each.moved.push_back({burst.start_ns, burst.end_ns, static_cast<std::int64_t>(burst.bytes)});
  }
  return made;
}

/// What was decided when a part was made.
void refuse_for_parts(const AnalyzeOptions& options) {
  if (options.filter.empty() && options.cuts.empty()) return;
  const auto part = std::ranges::find_if(options.captures, gather::is_partial);
  if (part == options.captures.end()) return;
  throw SpecError(
      fmt::format("{} holds no packets: -f and --cut belong to the command that made it "
                  "from a capture",
                  *part));
}

int analyze(AnalyzeOptions options, command::Streams streams) {
  summarise::CaptureResult result;
  window_of(options);
  for (const std::string& text : options.cuts) excerpt::cut_option(text);
  if (!options.launch.empty() && !fetch_parts(options, streams)) return command::kInterrupted;
  readers::Given given = readers::given_files(options.files);
  options.captures = std::move(given.captures);
  if (options.partial) {
    if (options.captures.empty()) throw SpecError("--partial reads captures, or parts of them");
    return write_part(options, streams);
  }
  if (options.captures.empty()) return analyze_others(options, std::move(given.told), streams);
  refuse_for_parts(options);
  const std::vector<spec::Expectation> expectations = command::expectations_of(options.expect);
  diagnose::AnalysisOptions how;
  if (!options.hosts.empty()) how.names = command::read_hosts(options.hosts);
  if (!options.log.empty()) {
    how.log = imports::parse_step_log(command::read_whole(options.log), options.log);
    if (how.log->skipped > 0) {
      fmt::print(streams.err, "trainwire: {}: {} rows tell no step; the first: {}\n", options.log,
                 how.log->skipped, how.log->first_skipped);
    }
  }
  auto folder = take_folder(options, given.told, streams);
  read_captures(options, streams, result);
  const bool is_empty = result.traffic.totals.packets == 0 && !result.interrupted;
  if (is_empty && options.filter.empty() && readers::tell_something(given.told)) {
    folder.reset();
    readers::add_empty_captures(options.captures, given.told);
    return analyze_others(options, std::move(given.told), streams);
  }
  refuse_nothing(options, result);
  std::optional<operations::Imported> imported;
  if (!given.told.empty()) {
    imported = operations::imported(std::move(given.told));
    operations::put_on_axis_of(spans_of(summarise::busy_times(result.traffic)), *imported);
    if (options.log.empty()) how.log = readers::steps_for_packets(imported->told);
    how.ranks = operations::ranks_of(*imported);
  }
  result.log = how.log;
  const gather::PortHosts ports = gather::ports_as_hosts(result.traffic);
  how.names.insert(how.names.end(), ports.names.begin(), ports.names.end());
  warn_of_strange_log(result, streams);
  std::future<void> windows;
  if (folder) {
    windows = summarise::begin_windows(
        result.traffic, gather::host_table(result.traffic, how.names).hosts, *folder);
  }
  summarise::analyse_found_jobs(result, how);
  add_doubt(ports, result.analysis);
  std::future<void> tables;
  if (folder) {
    tables = std::async(std::launch::async,
                        [&] { summarise::write_tables_but_windows(result, *folder); });
  }
  summarise::add_figures(result);  // which no table shows
  record::Run run = summarise::described(result, "analyze");
  account::add_of_packets(run);
  if (imported) {
    imported->wire_steps = spans_of(summarise::steps_of_packets(result, how));
    if (!imported->wiring.empty()) imported->connections = connections_of(result.traffic);
    operations::add_to(run, *imported);
    readers::add_capture_sources(run);
    if (folder) operations::write_table(*imported, *folder);
  }
  if (const auto planned = planned_of(options.plan)) operations::add_plan(run, *planned);
  std::vector<command::Judged> judged;
  if (!result.interrupted) judged = command::judge_all(expectations, "analyze", run);
  if (folder) {
    tables.get();
    windows.get();
    folder->finish(run, result.interrupted ? "interrupted" : "");
  }
  if (options.json) {
    fmt::print(streams.out, "{}\n", record::dumped(run));
  } else if (!options.quiet) {
    const bool has_others = imported || !options.plan.empty();
    const std::string beside =
        has_others ? operations::beside_packets_text(run, imported.value_or(operations::Imported()))
                   : std::string();
    fmt::print(
        streams.out, "{}{}",
        text::capture_text(result, folder ? folder->path() : "", text::verdict_text(run) + beside),
        command::expectations_text(judged));
  }
  if (folder && !options.no_page) {
    leave_page(folder->path(), !options.json && !options.quiet, streams);
  }
  streams.out.flush();
  print_damage(result, streams);
  cut_out(options, result, streams);
  const int expected = command::expectations_code(judged, streams.err);
  const int code = exit_code(options, result, streams);
  return code != command::kDone ? code : expected;
}

}  // namespace

command::Body declare_analyze(command::CommandLine& app) {
  const auto options = std::make_shared<AnalyzeOptions>();
  app.add_option("FILE", options->files,
                 "captures (pcap, pcapng), parts of them (--partial), traces, logs and tables, or "
                 "folders of them, also inside "
                 "gzip or zstd; - for a capture on standard input")
      .type_name("")
      .required();
  app.add_option("-o,--out", options->out,
                 "folder for the tables; default: the first file's name with .run, here")
      .type_name("DIR");
  app.add_flag("--force", options->force, "replace a run that is in that folder");
  app.add_flag("--no-folder", options->no_folder, "write no tables");
  add_no_page(app, options->no_page);
  app.add_flag("--json", options->json, "print one JSON document");
  app.add_option(
         "--log", options->log,
         "the program's own record of its steps: CSV rank,step,start,end; Type,ID,Timestamp; "
         "or text with time stamps")
      .type_name("FILE");
  app.add_option("-f,--filter", options->filter, "take packets that pass, in tcpdump's words")
      .type_name("EXPR");
  app.add_option("--hosts", options->hosts, "names for addresses, CSV or TOML").type_name("FILE");
  command::add_expect(app, options->expect);
  app.add_option("--plan", options->plan,
                 "compare what a step moves with what this experiment plans, to the byte")
      .type_name("FILE");
  app.add_option("--cut", options->cuts,
                 "write the packets of a finding (counted from 1) or step (from 0) to a pcapng "
                 "file; repeatable")
      .type_name("WHAT:N=FILE")
      .suggests({"finding:1=", "step:0="})
      .repeatable();
  app.add_option("--window", options->window, "width of the throughput series, default 1ms")
      .type_name("TIME");
  app.add_flag("--one-clock", options->one_clock,
               "the files were captured on one machine: do not estimate clock offsets");
  app.add_flag("--partial", options->partial,
               "only read, and write a small file (-o, default NAME.part): analyze *.part merges "
               "those of many machines, and tells what all captures together would");
  app.add_option("--launch", options->launch,
                 "read files where they lie, on every machine that srun, mpirun or ssh:HOSTFILE "
                 "starts a process on (wait: `trainwire host` is started there by hand), and merge "
                 "what comes back. FILE is then one there, {host} in it the machine's name; quote "
                 "patterns")
      .type_name("HOW")
      .suggests({"srun", "mpirun", "ssh:", "wait"});
  app.add_option("--machines", options->machines,
                 "how many; default: as the file of hosts or the job of Slurm has")
      .type_name("N");
  app.add_option("--port", options->port, "where machines join; default: any that is free")
      .type_name("N");
  app.add_flag("--strict", options->strict,
               "exit with 4 when a file is damaged or the data are poor");
  app.add_flag("-q,--quiet", options->quiet, "no summary and no progress bar");
  app.add_flag("--no-progress", options->no_progress, "no progress bar");
  return [options](command::Streams streams) { return analyze(*options, streams); };
}

}  // namespace tw::cli
