// SPDX-License-Identifier: Apache-2.0
#include "trainwire/account/packets.h"
#include "trainwire/attach/command.h"
#include "trainwire/attach/judged.h"
#include "trainwire/attach/openmetrics.h"
#include "trainwire/attach/output.h"
#include "trainwire/attach/processes.h"
#include "trainwire/attach/watching.h"
#include "trainwire/base/error.h"
#include "trainwire/base/printable.h"
#include "trainwire/base/units.h"
#include "trainwire/command/command_line.h"
#include "trainwire/command/run_options.h"
#include "trainwire/command/version.h"
#include "trainwire/record/json.h"
#include "trainwire/serve/metrics.h"
#include "trainwire/summarise/describe.h"
#include "trainwire/summarise/tables.h"
#include "trainwire/terminal/interrupt.h"
#include "trainwire/transport/tcp/hello.h"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <nlohmann/json.hpp>

#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>

namespace tw::attach {
namespace {

struct WatchOptions {
  std::string process;
  std::string length;
  std::string every = "10ms";
  std::string out;
  std::string metrics;
  std::string packet_limit = "1GB";
  bool no_packets = false;
  bool force = false;
  bool no_page = false;
  bool json = false;
};

constexpr const char* kTokenVariable = "TRAINWIRE_TOKEN";

Duration time_of(const std::string& text, std::string_view option, Duration least) {
  const auto time = parse_duration(text);
  if (!time || *time < least || *time > std::chrono::hours(24 * 365)) {
    throw SpecError(fmt::format("{} {}: expected a time from {} to a year with its unit", option,
                                printable(text), readable(least)));
  }
  return *time;
}

Bytes size_of(const std::string& text) {
  const auto size = parse_bytes(text);
  if (!size || size->count() < 1'000'000) {
    throw SpecError(fmt::format("--packet-limit {}: expected a size of a MB or more, like 1GB",
                                printable(text)));
  }
  return *size;
}

template <typename Number>
std::optional<Number> number_of(std::string_view text) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return number;
}

int process_of(const std::string& text) {
  const auto number = number_of<int>(text);
  if (!number || *number < 1) {
    throw SpecError(
        fmt::format("watching {}: expected a process's number; `pgrep -f train.py` finds a job's",
                    printable(text)));
  }
  return *number;
}

/// "9464", "127.0.0.1:9464", "[::]:9464".
std::pair<std::string, int> listening_of(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  const bool has_address = colon != text.npos;
  std::string address = has_address ? text.substr(0, colon) : "127.0.0.1";
  const auto port = number_of<std::uint16_t>(has_address ? std::string_view(text).substr(colon + 1)
                                                         : std::string_view(text));
  if (address.size() > 2 && address.front() == '[' && address.back() == ']')
    address = address.substr(1, address.size() - 2);
  if (!port || address.empty()) {
    throw SpecError(fmt::format(
        "--metrics {}: expected a port, like 9464, or an address of this machine with one",
        printable(text)));
  }
  return {address, *port};
}

/// The one of the environment, or a new one, which is told.
std::string token_for(const std::string& address, command::Streams streams) {
  const char* const given = std::getenv(kTokenVariable);
  if (given != nullptr && *given != '\0') {
    if (!transport::tcp::parse_token(given)) {
      throw SpecError(fmt::format("{}: a token is 32 hexadecimal digits", kTokenVariable));
    }
    return given;
  }
  if (serve::is_loopback(address)) return {};
  std::string made = transport::tcp::text_of(transport::tcp::make_token());
  fmt::print(streams.err, "token: {} (ask with `Authorization: Bearer`; {} sets it)\n", made,
             kTokenVariable);
  return made;
}

std::unique_ptr<serve::MetricsServer> exposed(const WatchOptions& options, int process,
                                              const Watching& watching, command::Streams streams) {
  if (options.metrics.empty()) return {};
  const auto [address, port] = listening_of(options.metrics);
  auto server = std::make_unique<serve::MetricsServer>(
      serve::MetricsOptions{.address = address,
                            .port = port,
                            .token = token_for(address, streams),
                            .content_type = kOpenMetricsType,
                            .text = [&watching, process] {
                              return exposition({.sums = watching.sums(),
                                                 .verdict = watching.verdict(),
                                                 .process = process,
                                                 .version = std::string(command::version())});
                            }});
  fmt::print(streams.err, "metrics: {}; Ctrl-C ends it\n", server->address());
  streams.err.flush();
  return server;
}

/// A folder for packets that nobody keeps.
class Aside {
 public:
  Aside() {
    std::string name = (std::filesystem::temp_directory_path() / "trainwire-watch-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) {
      throw SystemError(fmt::format("making a folder for packets in {}: not possible; give -o",
                                    std::filesystem::temp_directory_path().string()));
    }
    path_ = name;
  }
  Aside(const Aside&) = delete;
  Aside& operator=(const Aside&) = delete;
  ~Aside() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// Everything that was seen, as a record; `result` is of the packets.
record::Run recorded(const Watching& watching, const Sums& sums,
                     const std::optional<summarise::CaptureResult>& result) {
  record::Run run{.command = "watch"};
  record::Verdict verdict = judged(sums);
  if (result) {
    run = summarise::described(*result, "watch");
    account::add_of_packets(run);
    const double step_s = run.accounting ? run.accounting->step_s : 0;
    const double moving = step_s > 0 ? 1 - record::part_s(*run.accounting, "compute") / step_s : 0;
    verdict = of_both(run.verdict.value_or(record::Verdict{}), verdict, moving);
  }
  run.verdict = std::move(verdict);
  const bool has_steps = run.iterations && run.iterations->count > 0;
  if (!has_steps) {
    if (auto steps = steps_by_counters(watching.series(), watching.began_s()))
      run.iterations = std::move(*steps);
  }
  for (record::Finding& each : findings_of(sums)) run.findings.push_back(std::move(each));
  for (const std::string& each : watching.packets().troubles)
    run.findings.push_back({.text = each, .severity = "warning"});
  if (!result) {
    run.quality = {.level = "fair", .reasons = {"of the job's packets none were captured"}};
  }
  return run;
}

int watch(const WatchOptions& options, const LeavePage& leave_page, command::Streams streams) {
  const bool endless = !options.metrics.empty() && options.length.empty();
  const int process = process_of(options.process);
  const terminal::InterruptGuard guard;
  WatchingOptions how{.process = process,
                      .every = time_of(options.every, "--every", std::chrono::milliseconds(1)),
                      .packet_limit = size_of(options.packet_limit),
                      .stop = [&] { return guard.interrupted(); }};
  if (!endless) {
    how.length = time_of(options.length.empty() ? "30s" : options.length, "--for",
                         std::chrono::milliseconds(100));
  }
  family_of(process);  // an earlier run is not replaced for the sake of a job that is not there
  std::unique_ptr<record::RunFolder> folder;
  if (!options.out.empty()) {
    folder = std::make_unique<record::RunFolder>(
        options.out, command::provenance_of("watch", std::vector<std::string>(), streams),
        options.force ? result::IfThere::Replace : result::IfThere::Refuse);
    folder->table(
        "ways");  // from here on the folder is ours, and an earlier run's packets are gone
  }
  std::optional<Aside> aside;
  const bool takes_packets = !options.no_packets && !endless;
  if (takes_packets && !folder) aside.emplace();
  if (takes_packets) how.packets_in = folder ? folder->path() : aside->path();
  std::string last_cause;
  how.tell = [&](const record::Verdict& verdict) {
    if (verdict.cause == last_cause) return;
    last_cause = verdict.cause;
    fmt::print(streams.err, "{}\n", verdict.text);
    streams.err.flush();
  };
  Watching watching(how);
  {
    const auto server = exposed(options, process, watching, streams);
    watching.go();
  }
  const Sums sums = watching.sums();
  std::optional<summarise::CaptureResult> result;
  if (!watching.packets().files.empty())
    result = analysed(watching.packets().files, watching.port_owners());
  record::Run run = recorded(watching, sums, result);
  run.watched = watched_of(sums, process, watching.packets().text);
  if (folder) {
    if (result) summarise::write_tables(*result, *folder);
    write_watched(*run.watched, watching.series(), watching.began_s(), *folder);
    folder->finish(run);
  }
  if (options.json) {
    fmt::print(streams.out, "{}\n", record::dumped(record::to_json(run)));
  } else {
    fmt::print(streams.out, "{}",
               watched_text(run, sums, watching.packets().text, folder ? folder->path() : ""));
  }
  streams.out.flush();
  if (folder && !options.no_page) leave_page(folder->path(), !options.json, streams);
  return 0;
}

}  // namespace

command::Body declare_watch(command::CommandLine& app, LeavePage leave_page) {
  const auto options = std::make_shared<WatchOptions>();
  app.add_option("PID", options->process,
                 "a process of the running job; those that it has started are watched too")
      .type_name("")
      .required();
  app.add_option("--for", options->length,
                 "how long, default 30s; with --metrics until Ctrl-C or the job's end")
      .type_name("TIME");
  app.add_option("--every", options->every, "between two looks at the devices, default 10ms")
      .type_name("TIME");
  app.add_option("-o,--out", options->out, "folder for the run: tables, packets, page")
      .type_name("DIR");
  app.add_flag("--force", options->force, "replace a run that is in that folder");
  app.add_flag("--no-page", options->no_page, "write no report.html into the folder");
  app.add_option("--metrics", options->metrics,
                 "answer a monitoring system there in OpenMetrics, /metrics; on other addresses "
                 "than the loopback with a token alone")
      .type_name("[ADDRESS:]PORT");
  app.add_flag("--no-packets", options->no_packets, "capture none, also where it is permitted");
  app.add_option("--packet-limit", options->packet_limit,
                 "largest file of captured headers, one for each device, default 1GB")
      .type_name("SIZE");
  app.add_flag("--json", options->json, "print one JSON document");
  return [options, leave_page](command::Streams streams) {
    return watch(*options, leave_page, streams);
  };
}

}  // namespace tw::attach
