// SPDX-License-Identifier: Apache-2.0
#include "trainwire/base/printable.h"
#include "trainwire/cli/commands.h"
#include "trainwire/ledger/folder.h"
#include "trainwire/ledger/leftovers.h"
#include "trainwire/record/json.h"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <nlohmann/json.hpp>

namespace tw::cli {
namespace {

using nlohmann::ordered_json;

struct CleanupOptions {
  bool dry_run = false;
  bool json = false;
};

std::string living_text(int living) {
  if (living == 0) return {};
  return fmt::format("{} run{} alive and left alone\n", living, living == 1 ? " is" : "s are");
}

std::string text_of(const ledger::ClearedLeftovers& report, bool dry_run) {
  std::string text;
  for (const ledger::DeadRun& run : report.runs) {
    text +=
        fmt::format("run {}{}\n", run.id, run.command.empty() ? "" : ": " + printable(run.command));
    for (const std::string& thing : run.removed) {
      text += fmt::format("  {} {}\n", dry_run ? "would remove" : "removed", printable(thing));
    }
    if (run.removed.empty()) text += "  had left nothing but its ledger\n";
  }
  if (report.runs.empty()) text = "nothing to clean up\n";
  return text + living_text(report.living);
}

ordered_json document_of(const ledger::ClearedLeftovers& report, const std::string& folder,
                         bool dry_run) {
  ordered_json document{{"schema", 1},        {"command", "cleanup"},    {"folder", folder},
                        {"dry_run", dry_run}, {"living", report.living}, {"notes", report.notes}};
  ordered_json& runs = document["runs"] = ordered_json::array();
  for (const ledger::DeadRun& run : report.runs) {
    runs.push_back({{"id", run.id}, {"command", run.command}, {"removed", run.removed}});
  }
  return document;
}

int clean_up(const CleanupOptions& options, command::Streams streams) {
  const std::string folder = ledger::state_folder();
  const ledger::ClearedLeftovers report =
      ledger::clear_leftovers(folder, {.dry_run = options.dry_run});
  for (const std::string& note : report.notes) {
    fmt::print(streams.err, "trainwire: {}\n", printable(note));
  }
  if (options.json) {
    fmt::print(streams.out, "{}\n", record::dumped(document_of(report, folder, options.dry_run)));
  } else {
    fmt::print(streams.out, "{}", text_of(report, options.dry_run));
  }
  return 0;
}

}  // namespace

command::Body declare_cleanup(command::CommandLine& app) {
  const auto options = std::make_shared<CleanupOptions>();
  app.add_flag("--dry-run", options->dry_run, "only say what would be removed");
  app.add_flag("--json", options->json, "print one JSON document");
  return [options](command::Streams streams) { return clean_up(*options, streams); };
}

}  // namespace tw::cli
