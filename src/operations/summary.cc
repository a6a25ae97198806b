// SPDX-License-Identifier: Apache-2.0
#include "trainwire/operations/summary.h"

#include "trainwire/base/bus_text.h"
#include "trainwire/base/printable.h"
#include "trainwire/base/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>

namespace tw::operations {
namespace {

constexpr std::size_t kMostOps = 8;
constexpr std::size_t kMostOfName = 15;  ///< of a group
constexpr std::size_t kMostFindings = 8;
constexpr double kMuchApart = 0.02;  ///< of a step: worth a word
constexpr std::size_t kMostReasons = 3;

std::string count_text(std::uint64_t number) { return grouped(static_cast<std::int64_t>(number)); }

std::string rate_text(const std::optional<double>& bps) { return bps ? bus_text(*bps) : "-"; }
std::string time_text(const std::optional<double>& time) {
  return time ? readable(from_seconds(*time)) : "-";
}

void add_operations(std::string& text, const record::Operations& operations) {
  if (operations.by_op.empty()) return;
  text += fmt::format("{:<17}{:>9} {:>12} {:>12} {:>12} {:>16} {:>16}\n", "operations", "count",
                      "bytes", "waiting", "transfer", "busbw", "with waiting");
  const std::size_t shown = std::min(kMostOps, operations.by_op.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const record::OperationKind& each = operations.by_op[i];
    text += fmt::format(
        "  {:<15}{:>9} {:>12} {:>12} {:>12} {:>16} {:>16}\n", each.op, count_text(each.count),
        each.bytes > 0 ? readable(Bytes(static_cast<std::int64_t>(each.bytes))) : std::string("-"),
        time_text(each.wait_s), time_text(each.transfer_s), rate_text(each.busbw_bps),
        rate_text(each.busbw_whole_bps));
  }
  if (shown < operations.by_op.size())
    text += fmt::format("  and {} more: --json\n", operations.by_op.size() - shown);
}

/// Where there are several: of parallel training each has its own traffic.
void add_groups(std::string& text, const record::Operations& operations) {
  std::set<std::string> names;
  for (const record::OperationGroup& each : operations.by_group) names.insert(each.group);
  if (names.size() < 2) return;
  text += fmt::format("{:<17}{:>9} {:>12} {:>9}   {}\n", "by group", "ranks", "bytes", "count",
                      "operation");
  const std::size_t shown = std::min(kMostOps, operations.by_group.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const record::OperationGroup& each = operations.by_group[i];
    text += fmt::format(
        "  {:<15}{:>9} {:>12} {:>9}   {}\n",
        each.group.empty() ? "unnamed" : printable(each.group).substr(0, kMostOfName),
        each.group_size > 0 ? count_text(each.group_size) : std::string("-"),
        each.bytes > 0 ? readable(Bytes(static_cast<std::int64_t>(each.bytes))) : std::string("-"),
        count_text(each.count), each.op);
  }
  if (shown < operations.by_group.size())
    text += fmt::format("  and {} more: --json\n", operations.by_group.size() - shown);
}

/// "" where the median is the usual time too.
std::string usual_text(const record::Iterations& iterations) {
  const double usual_s = iterations.usual_s.value_or(0);
  if (usual_s <= 0 || std::abs(*iterations.median_s - usual_s) < kMuchApart * usual_s) return {};
  return fmt::format("{} most alike · median ", time_text(usual_s));
}

/// How many averages tell so many steps.
std::string averages_text(const record::Iterations& iterations) {
  if (!iterations.averages) return {};
  return *iterations.averages == 1
             ? " as one average"
             : fmt::format(" as {} averages", count_text(*iterations.averages));
}

/// "" of few values, which tell nothing of how they vary.
std::string interval_text(const record::Iterations& iterations) {
  if (!iterations.ci_low_s) return {};
  return fmt::format(" (95 % CI {} – {})", time_text(iterations.ci_low_s),
                     time_text(iterations.ci_high_s));
}

/// "" where nothing is wrong.
std::string quality_text(const record::Run& run) {
  if (run.quality.reasons.empty()) return {};
  std::string text = fmt::format("{:<17}{}", "data quality", run.quality.level);
  for (const std::string& reason : run.quality.reasons) text += " · " + printable(reason);
  return text + "\n";
}

}  // namespace

std::string sources_text(const Imported& imported) {
  struct Sum {
    std::size_t files = 0;
    std::uint64_t records = 0;
    std::uint64_t skipped = 0;
    std::map<std::string, std::size_t> reasons = {};
    double uncertainty_s = -1;
    double offset_s = 0;
  };
  std::map<std::string, Sum> kinds;
  for (const Told& file : imported.told) {
    Sum& sum = kinds[file.kind];
    ++sum.files;
    sum.records += file.records;
    sum.skipped += file.skipped;
    for (const std::string& reason : file.reasons) {
      const std::string name = std::filesystem::path(file.path).filename().string();
      ++sum.reasons[file.kind == "unknown" ? name + ": " + reason : reason];
    }
    if (file.clock_uncertainty_ns) {
      sum.uncertainty_s =
          std::max(sum.uncertainty_s, 1e-9 * static_cast<double>(*file.clock_uncertainty_ns));
      sum.offset_s =
          std::max(sum.offset_s, std::abs(1e-9 * static_cast<double>(file.clock_offset_ns)));
    }
  }
  std::string text;
  std::string_view label = "files";
  for (const auto& [kind, sum] : kinds) {
    text += fmt::format("{:<17}{} {}: {} records used, {} skipped", label, sum.files, kind,
                        count_text(sum.records), count_text(sum.skipped));
    label = "";
    if (sum.uncertainty_s >= 0) {
      text += fmt::format(
          " · clocks {}, ends agree within {}",
          sum.offset_s > 0 ? "moved by up to " + readable(from_seconds(sum.offset_s)) : "alike",
          readable(from_seconds(sum.uncertainty_s)));
    }
    text += "\n";
    std::size_t told = 0;
    for (const auto& [reason, files] : sum.reasons) {
      if (told++ >= kMostReasons) break;
      text += fmt::format("{:<19}{}{}\n", "", printable(reason),
                          files > 1 ? fmt::format(" ({} files)", files) : "");
    }
  }
  return text;
}

std::string beside_packets_text(const record::Run& run, const Imported& imported) {
  std::string text = sources_text(imported);
  std::string_view label = "by files";
  for (const record::Finding& each : run.findings) {
    static constexpr std::array<std::string_view, 11> kOfFiles{"missing_rank",
                                                               "arrivals",
                                                               "several_networks",
                                                               "wrong_interface",
                                                               "socket_fallback",
                                                               "one_nic",
                                                               "agreement",
                                                               "clock",
                                                               "volume",
                                                               "plan",
                                                               "wiring"};
    if (std::find(kOfFiles.begin(), kOfFiles.end(), each.kind.value_or("")) == kOfFiles.end()) {
      continue;
    }
    text += fmt::format("{:<17}{}\n", label, printable(each.text));
    label = "";
  }
  return text + "\n";
}

std::string imported_text(const record::Run& run, const Imported& imported,
                          const std::string& folder, const std::string& verdict) {
  std::string text = verdict + sources_text(imported);
  if (run.iterations && run.iterations->median_s) {
    text += fmt::format("{:<17}{} told{} · {}{}{}\n", "steps", count_text(run.iterations->count),
                        averages_text(*run.iterations), usual_text(*run.iterations),
                        time_text(run.iterations->median_s), interval_text(*run.iterations));
  }
  text += quality_text(run);
  text += "\n";
  if (run.operations) {
    add_operations(text, *run.operations);
    add_groups(text, *run.operations);
  }
  if (!run.findings.empty()) text += "\nfindings\n";
  for (std::size_t i = 0; i < std::min(kMostFindings, run.findings.size()); ++i) {
    text += fmt::format("  {}  {}\n", i + 1, printable(run.findings[i].text));
  }
  text += "\n";
  if (!folder.empty()) {
    const bool has_rows = run.operations && run.operations->rows > 0;
    text += fmt::format("tables: {}/{}{}run.json\n", printable(folder),
                        has_rows ? "operations.csv and " : "",
                        run.pairs.empty() ? "" : "pairs.csv and ");
  }
  return text +
         "next: trainwire analyze --json for programs, docs/imports.md for what each kind of file "
         "can show\n";
}

}  // namespace tw::operations
