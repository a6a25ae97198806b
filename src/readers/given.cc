// SPDX-License-Identifier: Apache-2.0
#include "trainwire/readers/given.h"

#include "trainwire/base/error.h"
#include "trainwire/base/printable.h"
#include "trainwire/readers/read.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

namespace tw::readers {
namespace {

using operations::Told;

bool tells(const Told& file) {
  return file.records > 0 || !file.steps.empty() || !file.wiring.empty();
}

/// Refuses what tells nothing, with the first file's reason.
void refuse_silence(const std::vector<Told>& told) {
  if (told.empty() || tell_something(told)) return;
  const Told& first = told.front();
  const std::string why = first.reasons.empty()
                              ? "it tells nothing of a job; docs/imports.md has what is read"
                              : first.reasons.front();
  throw DataError(fmt::format("reading {}: {}", printable(first.path), why));
}

using Steps = std::map<std::pair<int, std::int64_t>, imports::LoggedStep>;

}  // namespace

bool tell_something(const std::vector<Told>& told) {
  return std::any_of(told.begin(), told.end(), tells);
}

void add_empty_captures(const std::vector<std::string>& captures, std::vector<Told>& told) {
  for (const std::string& path : captures) {
    told.push_back(
        {.path = path, .kind = "capture", .reasons = {"the capture holds no packets; not used"}});
  }
}

Given given_files(const std::vector<std::string>& paths) {
  Found found = recognised(paths);
  const bool has_folder = std::any_of(paths.begin(), paths.end(), [](const std::string& path) {
    return path != "-" && std::filesystem::is_directory(path);
  });
  if (found.others.empty() && !has_folder) {
    const bool only_text = found.captures.empty() && is_text(found.unknown.front().path);
    if (only_text) refuse_silence(found.unknown);
    return {.captures = paths};  // whoever reads captures says best what is wrong with one
  }
  Given given{.captures = std::move(found.captures), .told = read_files(found.others)};
  given.told.insert(given.told.end(), found.unknown.begin(), found.unknown.end());
  if (given.captures.empty()) refuse_silence(given.told);
  return given;
}

std::optional<imports::StepLog> steps_for_packets(const std::vector<Told>& told) {
  std::map<std::string, Steps> by_kind;
  for (const Told& file : told) {
    for (const operations::Step& each : file.steps) {
      const int rank = each.rank.value_or(0);
      if (!each.start_ns || *each.start_ns < 0 || each.number < 0 || rank < 0) continue;
      by_kind[file.kind].try_emplace(
          {rank, each.number}, imports::LoggedStep{.rank = rank,
                                                   .step = each.number,
                                                   .start_ns = *each.start_ns,
                                                   .end_ns = *each.start_ns + each.duration_ns,
                                                   .is_shared = each.is_shared});
    }
  }
  const auto most = std::max_element(
      by_kind.begin(), by_kind.end(),
      [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  if (most == by_kind.end() || most->second.empty()) return {};
  imports::StepLog log{.format = most->first, .steps = {}};
  for (const auto& [key, step] : most->second) log.steps.push_back(step);
  return log;
}

void add_capture_sources(record::Run& run) {
  std::vector<record::Source> made;
  for (const record::CaptureFile& file : run.capture->files) {
    made.push_back({.path = file.path,
                    .kind = "capture",
                    .records = file.packets,
                    .skipped = file.duplicates});
    if (file.duplicates > 0) made.back().reasons.emplace_back("second copies of a packet");
    if (file.damage) made.back().reasons.push_back(file.damage->text);
  }
  run.sources.insert(run.sources.begin(), made.begin(), made.end());
}

}  // namespace tw::readers
