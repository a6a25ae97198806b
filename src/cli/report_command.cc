// SPDX-License-Identifier: Apache-2.0
#include "trainwire/base/error.h"
#include "trainwire/base/printable.h"
#include "trainwire/base/units.h"
#include "trainwire/cli/commands.h"
#include "trainwire/command/version.h"
#include "trainwire/load/load_file.h"
#include "trainwire/load/read_text.h"
#include "trainwire/record/json.h"
#include "trainwire/record/run_file.h"
#include "trainwire/report/report.h"
#include "trainwire/result/whole_file.h"
#include "trainwire/text/compare_page.h"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <vector>

namespace tw::cli {
namespace {

struct ReportOptions {
  std::vector<std::string> sources;
  std::string out;
  bool full = false;
  bool json = false;
};

report::Maker maker() {
  return {.version = std::string(command::version()), .commit = std::string(command::commit())};
}

bool is_load(const std::string& path) { return std::filesystem::is_regular_file(path); }

void require_run(const std::string& path) {
  if (std::filesystem::exists(path + "/run.json")) return;
  throw SystemError(fmt::format(
      "reading {}: {}; give folders that `run`, `exec` or `analyze` have written, or a load file "
      "of `traffic make`",
      printable(path),
      std::filesystem::exists(path) ? "it holds no run (no run.json)" : "there is no such folder"));
}

std::string page_of_load(const std::string& path) {
  const load::Load load = load::parse_load(load::read_text(path), printable(path));
  const double span_s = seconds(load.span());
  if (load.flows.empty() || span_s <= 0) {
    throw DataError(fmt::format("reading {}: it asks for nothing; make a load with flows in it",
                                printable(path)));
  }
  std::vector<report::LoadFlow> flows;
  for (const load::Flow& flow : load.flows) {
    flows.push_back({seconds(flow.start), static_cast<double>(flow.size.count())});
  }
  return report::load_page({.path = path, .span_s = span_s, .flows = flows}, maker());
}

std::string page_of(const ReportOptions& options) {
  const auto loads = std::count_if(options.sources.begin(), options.sources.end(), is_load);
  if (loads == 1 && options.sources.size() == 1) return page_of_load(options.sources.front());
  if (loads > 0) {
    throw SpecError("a load file has a page of its own: give it alone, or run folders only");
  }
  for (const std::string& path : options.sources) {
    require_run(path);
    record::require_unchanged(path, record::read_run(path));
  }
  const auto detail = options.full ? report::Detail::Full : report::Detail::Reduced;
  return report::run_page(options.sources, detail, maker(),
                          text::page_comparisons(options.sources));
}

/// Beside the data of one run; in the present folder otherwise.
std::string place_of(const ReportOptions& options) {
  if (!options.out.empty()) return options.out;
  if (options.sources.size() > 1 || is_load(options.sources.front())) return "report.html";
  return options.sources.front() + "/report.html";
}

/// A file that is there is replaced when it is an earlier page, and left alone otherwise.
void write_page(const std::string& path, const std::string& page) {
  if (std::filesystem::exists(path)) {
    std::string start(2000, '\0');
    std::ifstream(path).read(start.data(), static_cast<std::streamsize>(start.size()));
    if (start.find(R"(name="generator" content="trainwire")") == start.npos) {
      throw SystemError(fmt::format(
          "writing {}: something else is there; choose another place with -o", printable(path)));
    }
  }
  result::write_whole(path, page);
}

std::string address_of(const std::string& path) {
  return fmt::format("file://{}", printable(std::filesystem::absolute(path).string()));
}

nlohmann::ordered_json document_of(const ReportOptions& options, const std::string& path,
                                   std::size_t bytes) {
  return {{"schema", 1},    {"command", "report"},  {"page", path},
          {"bytes", bytes}, {"full", options.full}, {"sources", options.sources}};
}

int report_runs(const ReportOptions& options, command::Streams streams) {
  const std::string page = page_of(options);
  const std::string path = place_of(options);
  if (path == "-") {
    streams.out << page;
    return 0;
  }
  write_page(path, page);
  if (options.json) {
    fmt::print(streams.out, "{}\n", record::dumped(document_of(options, path, page.size())));
    return 0;
  }
  fmt::print(streams.out, "wrote {}, {}; it needs no network\nNext: open {}\n", printable(path),
             readable(Bytes(static_cast<std::int64_t>(page.size()))), address_of(path));
  return 0;
}

}  // namespace

void leave_page(const std::string& folder, bool tells, command::Streams streams) {
  ReportOptions options;
  options.sources = {folder};
  try {
    write_page(place_of(options), page_of(options));
    if (tells) fmt::print(streams.out, "page: {}\n", address_of(place_of(options)));
  } catch (const Error& error) {
    fmt::print(streams.err, "trainwire: no page was made: {}\n", error.what());
  }
  streams.out.flush();
}

void add_no_page(command::CommandLine& app, bool& into) {
  app.add_flag("--no-page", into, "write no report.html into the folder");
}

command::Body declare_report(command::CommandLine& app) {
  const auto options = std::make_shared<ReportOptions>();
  app.add_option("RUN", options->sources,
                 "folders of runs or of sweeps, several are laid over one another; or a load file")
      .type_name("")
      .required();
  app.add_option("-o,--out", options->out,
                 "the page; - for standard output; default: report.html in the run's folder, or "
                 "here for several")
      .type_name("FILE");
  app.add_flag("--full", options->full, "every window of throughput, however large the page");
  app.add_flag("--json", options->json, "print one JSON document that tells of the page");
  return [options](command::Streams streams) { return report_runs(*options, streams); };
}

}  // namespace tw::cli
