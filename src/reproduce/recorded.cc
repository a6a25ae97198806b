// SPDX-License-Identifier: Apache-2.0
#include "trainwire/reproduce/recorded.h"

#include "trainwire/base/error.h"
#include "trainwire/command/hosts_file.h"
#include "trainwire/reproduce/fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace tw::reproduce {
namespace {

std::string path_of(const Artefact& artefact) { return artefact.folder + "/recorded.toml"; }

Verdict verdict_in(const keys::Node* node, int line, std::string_view key, Problems& problems) {
  const auto* text = node == nullptr ? nullptr : std::get_if<std::string>(&node->value);
  const auto found = text == nullptr ? std::nullopt : verdict_named(*text);
  if (!found) {
    problems.add(node == nullptr ? line : node->place.line, key,
                 "no verdict; `trainwire reproduce ID --record` writes the file anew");
  }
  return found.value_or(Verdict::NotDetermined);
}

/// Whether a recorded row is one of the artefact's: by its name, or of several by its beginning.
bool is_of(const Artefact& artefact, std::string_view recorded) {
  return std::ranges::any_of(artefact.rows, [&](const Row& row) {
    if (!recorded.starts_with(row.what)) return false;
    const std::string_view rest = recorded.substr(row.what.size());
    return rest.empty() || rest.starts_with(": ") || rest.starts_with(" (");
  });
}

}  // namespace

std::optional<Recorded> read_recorded(const Artefact& artefact) {
  const std::string path = path_of(artefact);
  if (std::error_code none; !std::filesystem::exists(path, none)) return {};
  Problems problems(path);
  const keys::Table table = keys::read_tree(command::read_whole(path), path);
  Recorded recorded;
  recorded.verdict = verdict_in(keys::find(table, "verdict"), 1, "verdict", problems);
  if (const keys::Node* rows = keys::find(table, "rows")) {
    if (const auto* entries = std::get_if<keys::Table>(&rows->value)) {
      for (const keys::Entry& entry : *entries) {
        recorded.rows[entry.key] =
            verdict_in(&entry.node, entry.node.place.line, "rows." + entry.key, problems);
      }
    }
  }
  problems.throw_if_any();
  return recorded;
}

std::string recorded_text(const Outcome& outcome, const Recorded& before) {
  std::string text = fmt::format("# Written by `trainwire reproduce --record`.\nverdict = \"{}\"\n",
                                 name_of(outcome.verdict));
  if (outcome.judged.empty()) return text;
  text += "\n[rows]\n";
  for (const Judged& one : outcome.judged) {
    text += fmt::format("{} = \"{}\"\n", keys::print({.value = one.what}), name_of(one.verdict));
  }
  for (const auto& [what, verdict] : before.rows) {
    const bool is_judged = std::ranges::any_of(
        outcome.judged, [&, &what = what](const Judged& one) { return one.what == what; });
    if (is_judged || !is_of(outcome.artefact, what)) continue;
    text += fmt::format("{} = \"{}\"\n", keys::print({.value = what}), name_of(verdict));
  }
  return text;
}

void record(const Outcome& outcome) {
  const std::string path = path_of(outcome.artefact);
  const std::string text =
      recorded_text(outcome, read_recorded(outcome.artefact).value_or(Recorded()));
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.close();
  if (!out) throw SystemError(fmt::format("writing {}: it cannot be written", path));
}

std::vector<std::string> worse(const Outcome& outcome, const Recorded& recorded) {
  std::vector<std::string> sentences;
  for (const Judged& one : outcome.judged) {
    const auto before = recorded.rows.find(one.what);
    if (before == recorded.rows.end() || one.verdict >= before->second) continue;
    std::string found;
    if (one.published && one.value) {
      found =
          fmt::format(" (published {:.6g}, now {:.6g} {})", *one.published, *one.value, one.unit);
    }
    sentences.push_back(fmt::format("{}: {}: was {}, is {}{}", outcome.artefact.id, one.what,
                                    name_of(before->second), name_of(one.verdict), found));
  }
  // Of some engines only, the verdict is on other rows than the recorded one.
  const bool is_whole = outcome.judged.size() == recorded.rows.size() &&
                        std::ranges::all_of(outcome.judged, [&](const Judged& one) {
                          return recorded.rows.contains(one.what);
                        });
  if (sentences.empty() && is_whole && outcome.verdict < recorded.verdict) {
    sentences.push_back(fmt::format("{}: was {}, is {}", outcome.artefact.id,
                                    name_of(recorded.verdict), name_of(outcome.verdict)));
  }
  return sentences;
}

}  // namespace tw::reproduce
