// SPDX-License-Identifier: Apache-2.0
#include "trainwire/serve/run_list.h"

#include "trainwire/base/error.h"
#include "trainwire/os/clock.h"
#include "trainwire/result/json_text.h"
#include "trainwire/serve/run_entry.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

namespace tw::serve {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

/// A folder with more than this below it is searched in part.
constexpr std::size_t kMostEntries = 200'000;
constexpr std::int64_t kMostJsonBytes = 64'000'000;
/// Between the points of a sweep nothing is told: a network is built, a capture analysed.
constexpr std::int64_t kSweepSilenceNs = 30'000'000'000;

struct Found {
  std::string id;
  std::int64_t modified_ns;
};

struct Search {
  std::vector<Found> runs;
  bool cut = false;
};

Search runs_below(const std::string& root) {
  Search search;
  std::error_code error;
  if (const FileStamp stamp = stamp_of(root + "/run.json"); stamp.bytes >= 0) {
    search.runs.push_back({".", stamp.modified_ns});
    return search;
  }
  fs::recursive_directory_iterator entry(root, fs::directory_options::skip_permission_denied,
                                         error);
  const fs::recursive_directory_iterator end;
  for (std::size_t seen = 0; !error && entry != end; entry.increment(error)) {
    if (++seen > kMostEntries) {
      search.cut = true;
      break;
    }
    std::error_code ignored;
    if (!entry->is_directory(ignored) || entry->is_symlink(ignored)) continue;
    const FileStamp stamp = stamp_of((entry->path() / "run.json").string());
    if (stamp.bytes >= 0) {
      search.runs.push_back({entry->path().lexically_relative(root).string(), stamp.modified_ns});
    }
    if (stamp.bytes >= 0 || entry.depth() + 1 >= kMostDepth) entry.disable_recursion_pending();
  }
  // Something went away meanwhile, or cannot be read: what comes after it was not looked at.
  search.cut = search.cut || error;
  return search;
}

void require_shallow(const std::string& file) {
  if (stamp_of(file).bytes > kMostJsonBytes) {
    throw DataError(fmt::format("reading {}: it is larger than any run's; it is not shown", file));
  }
  std::ifstream in(file, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  if (result::nesting(text) > result::kDeepestJson) {
    throw DataError(
        fmt::format("reading {}: it is nested deeper than any run's; it is not shown", file));
  }
}

/// Who has the experiment: the run itself, or a sweep's first point where it has a folder.
record::Run described_of(const record::RunFile& file, const std::string& folder) {
  if (!file.is_sweep()) return file.summary;
  try {
    return read_modest_run(folder + "/point-000").summary;
  } catch (const Error&) {
    return {.experiment = file.summary.experiment};
  }
}

std::string name_of_folder(const std::string& folder) {
  std::error_code ignored;
  const fs::path path = fs::weakly_canonical(folder, ignored);
  return path.extension() == ".run" ? path.stem().string() : path.filename().string();
}

}  // namespace

record::RunFile read_modest_run(const std::string& folder) {
  for (const char* name : {"/run.json", "/fit.json"}) {
    if (stamp_of(folder + name).bytes >= 0) require_shallow(folder + name);
  }
  return record::read_run(folder);
}

RunList::Known RunList::read(const std::string& id) const {
  const std::string folder = id == "." ? root_.given() : root_ / id;
  const std::optional<LivePlace> live = live_place(folder);
  Known known{.run = stamp_of(folder + "/run.json"),
              .live = live ? stamp_of(live->file) : FileStamp(),
              .live_file = live ? live->file : "",
              .entry = {}};
  ordered_json problem;
  std::string state = "complete";
  try {
    const record::RunFile file = read_modest_run(folder);
    known.entry = run_entry(file, described_of(file, folder));
    if (!file.complete) {
      state = "partial";
      problem =
          file.partial.value_or("it has not ended, or was killed; what there is can be shown");
      const record::LiveLines told = live ? glance_at_live(live->file) : record::LiveLines();
      add_live(known.entry, told);
      const bool sweep = live && !live->point.empty();
      known.may_run = live && !file.partial && (sweep || !told.ended);
      known.silence_ns = sweep ? std::max(kSweepSilenceNs, longest_silence_ns(told.samples))
                               : longest_silence_ns(told.samples);
    }
  } catch (const std::exception& error) {  // a bad run must not take the others off the list
    known.entry = run_entry({}, {});       // so that every entry has all members
    state = "broken";
    problem = error.what();
  }
  if (known.entry["name"].is_null()) known.entry["name"] = name_of_folder(folder);
  known.entry.update({{"id", id}, {"path", folder}, {"state", state}, {"problem", problem}});
  return known;
}

const RunList::Known& RunList::known(const std::string& id) {
  const std::string folder = id == "." ? root_.given() : root_ / id;
  const auto found = known_.find(id);
  if (found != known_.end() && found->second.run == stamp_of(folder + "/run.json")) {
    if (found->second.entry["state"] != "partial") return found->second;
    const std::optional<LivePlace> live = live_place(folder);
    if (found->second.live == (live ? stamp_of(live->file) : FileStamp())) return found->second;
  }
  ++reads_;
  if (known_.size() > 2 * kMostRuns) known_.clear();  // of runs that are gone
  return known_.insert_or_assign(id, read(id)).first->second;
}

ordered_json RunList::entry(const std::string& id) {
  const Known& run = known(id);
  ordered_json entry = run.entry;
  const std::int64_t silent_ns = std::abs(os::real_time_ns() - run.live.modified_ns);
  if (run.may_run && (silent_ns <= run.silence_ns || record::is_held(run.live_file))) {
    entry["state"] = "running";
    entry["problem"] = nullptr;
  }
  return entry;
}

bool RunList::is_running(const std::string& id) {
  const std::lock_guard lock(mutex_);
  return entry(id)["state"] == "running";
}

ordered_json RunList::document() {
  const std::lock_guard lock(mutex_);
  Search search = runs_below(root_.given());
  std::sort(search.runs.begin(), search.runs.end(),
            [](const Found& a, const Found& b) { return a.modified_ns > b.modified_ns; });
  const std::size_t listed = std::min(search.runs.size(), kMostRuns);
  std::vector<ordered_json> entries;
  for (std::size_t i = 0; i < listed; ++i) entries.push_back(entry(search.runs[i].id));
  // A text "2026-11-15T18:59:44Z" sorts by time; runs without one come last.
  std::stable_sort(
      entries.begin(), entries.end(), [](const ordered_json& a, const ordered_json& b) {
        const auto started = [](const ordered_json& entry) {
          return entry["started"].is_string() ? entry["started"].get_ref<const std::string&>() : "";
        };
        return started(a) > started(b);
      });
  return {{"schema", 1},
          {"runs", entries},
          {"left_off", search.runs.size() - listed},
          {"search_cut", search.cut}};
}

}  // namespace tw::serve
