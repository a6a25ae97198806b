// SPDX-License-Identifier: Apache-2.0
#include "trainwire/sweep/earlier.h"

#include "trainwire/base/error.h"
#include "trainwire/record/json.h"
#include "trainwire/record/run_file.h"
#include "trainwire/spec/print.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <filesystem>
#include <initializer_list>
#include <string_view>
#include <utility>
#include <variant>

namespace tw::sweep {
namespace {

using nlohmann::ordered_json;

void drop(record::Value& from, std::initializer_list<std::string_view> names) {
  if (auto* members = std::get_if<record::Members>(&from.is)) {
    std::erase_if(*members, [&](const record::Member& each) {
      return std::find(names.begin(), names.end(), each.name) != names.end();
    });
  }
}

/// As it is written and read back: a number of a file has no type.
record::Value settings_of(record::Value experiment) {
  drop(experiment, {"expectations", "sweep"});
  if (auto* members = std::get_if<record::Members>(&experiment.is)) {
    for (record::Member& each : *members) {
      if (each.name == "run") drop(each.value, {"repeats", "repeat_until"});
    }
  }
  return record::value_from(ordered_json::parse(record::to_json(experiment).dump()));
}

bool are_same(const std::vector<record::Input>& before, const std::vector<result::InputFile>& now) {
  return !now.empty() && std::equal(before.begin(), before.end(), now.begin(), now.end(),
                                    [](const record::Input& a, const result::InputFile& b) {
                                      return a.path == b.path && a.hash && *a.hash == b.hash;
                                    });
}

/// Without what changes the output alone.
std::vector<std::string> said(std::vector<std::string> words) {
  static constexpr std::array<std::string_view, 4> kOutput{"-q", "--quiet", "--json", "--no-page"};
  std::erase_if(words, [](const std::string& word) {
    return std::find(kOutput.begin(), kOutput.end(), word) != kOutput.end();
  });
  return words;
}

bool is_made_alike(const record::RunFile& file, const record::Maker& maker) {
  const auto& made = file.provenance;
  return made && file.command == maker.command && made->version == maker.version &&
         made->commit == maker.commit && said(made->command_line) == said(maker.command_line) &&
         are_same(made->inputs, maker.inputs);
}

}  // namespace

std::optional<record::Run> finished(const std::string& folder, const spec::Experiment& experiment) {
  if (!std::filesystem::exists(folder + "/run.json")) return {};
  try {
    record::RunFile file = record::read_run(folder);
    if (!file.complete || !file.summary.experiment) return {};
    const record::Value wanted = record::value_from(spec::to_json(experiment));
    if (settings_of(*file.summary.experiment) != settings_of(wanted)) return {};
    return std::move(file.summary);
  } catch (const Error&) {
    return {};  // not ours, or cut off: it is conducted again
  }
}

bool is_finished(const std::string& folder, const Planned& point,
                 const spec::Experiment& experiment) {
  return finished(fmt::format("{}/{}", folder, point.folder), experiment).has_value();
}

void require_sweepable(const std::string& folder) {
  if (!std::filesystem::exists(folder + "/run.json") || record::is_cut_off(folder)) return;
  if (record::read_run(folder).summary.sweep) return;
  if (!std::filesystem::exists(folder + "/steps.csv")) return;
  throw SystemError(fmt::format(
      "{} holds a run that is no sweep; choose another place with --out, or replace it with "
      "--force",
      folder));
}

Recorded::Recorded(const std::string& folder, const record::Maker& maker) {
  if (!std::filesystem::exists(folder + "/run.json")) return;
  try {
    record::RunFile file = record::read_run(folder);
    if (!file.summary.points || !is_made_alike(file, maker)) return;
    for (record::Point& point : *file.summary.points) {
      if (point.complete) points_.emplace(point.settings, std::move(point));
    }
  } catch (const Error&) {
    points_.clear();  // not ours, or cut off
  }
}

const record::Point* Recorded::find(const std::vector<std::string>& settings) const {
  const auto found = points_.find(settings);
  return found == points_.end() ? nullptr : &found->second;
}

}  // namespace tw::sweep
