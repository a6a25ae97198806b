// SPDX-License-Identifier: Apache-2.0
#include "trainwire/reproduce/collection.h"

#include "trainwire/base/error.h"
#include "trainwire/base/natural.h"
#include "trainwire/base/nearest.h"
#include "trainwire/base/shipped.h"
#include "trainwire/command/hosts_file.h"
#include "trainwire/reproduce/fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>

namespace tw::reproduce {
namespace {

namespace fs = std::filesystem;

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

std::vector<fs::path> folders_in(const fs::path& folder) {
  std::error_code failed;
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(folder, failed)) {
    const std::string name = entry.path().filename().string();
    if (entry.is_directory(failed) && !name.starts_with('.')) found.push_back(entry.path());
  }
  if (failed) {
    throw SystemError(fmt::format("reading {}: {}; --folder says where artefacts lie",
                                  folder.string(), failed.message()));
  }
  std::sort(found.begin(), found.end());
  return found;
}

Paper read_paper(const fs::path& folder) {
  const std::string path = (folder / "paper.toml").string();
  Problems problems(path);
  const keys::Table table = keys::read_tree(command::read_whole(path), path);
  Fields fields(table, "", 1, problems);
  Paper paper{.name = folder.filename().string(),
              .title = fields.needed("title"),
              .by = fields.needed("by")};
  if (const auto place = fields.numbers("place"); place.size() == 1) {
    paper.place = static_cast<int>(place[0]);
  }
  fields.refuse_others();
  problems.throw_if_any();
  return paper;
}

void refuse_twice(const std::vector<Artefact>& artefacts) {
  std::map<std::string, const Artefact*> seen;
  for (const Artefact& each : artefacts) {
    const auto [other, is_new] = seen.emplace(lower(each.id), &each);
    if (is_new) continue;
    throw SpecError(fmt::format("{}:1: id: {} has \"{}\" too; give each its own", each.path(),
                                other->second->path(), each.id));
  }
}

bool is_meant(const Artefact& artefact, const std::string& name) {
  return lower(artefact.id) == name || lower(artefact.name) == name ||
         lower(artefact.paper) == name;
}

[[noreturn]] void refuse_unknown(const Collection& collection, const std::string& name) {
  std::vector<std::string_view> known;
  for (const Paper& paper : collection.papers) known.push_back(paper.name);
  for (const Artefact& each : collection.artefacts) {
    known.push_back(each.id);
    known.push_back(each.name);
  }
  throw SpecError(fmt::format("there is no artefact or paper {}; {}", keys::in_quotes(name),
                              keys::remedy(name, known, "`trainwire reproduce --list`")));
}

}  // namespace

std::string default_folder() {
  std::error_code failed;
  const fs::path program = fs::read_symlink("/proc/self/exe", failed);
  const fs::path built_in = program.parent_path().parent_path().parent_path();
  for (const fs::path& candidate : {fs::path("reproductions"), fs::path(shipped("reproductions")),
                                    built_in / "reproductions"}) {
    if (fs::is_directory(candidate, failed)) return candidate.string();
  }
  throw SystemError("there is no folder reproductions here; --folder says where artefacts lie");
}

Collection read_collection(const std::string& folder) {
  Collection collection{.folder = folder};
  for (const fs::path& paper : folders_in(folder)) {
    collection.papers.push_back(read_paper(paper));
    for (const fs::path& each : folders_in(paper)) {
      if (!each.filename().string().starts_with("experiments")) {
        collection.artefacts.push_back(read_artefact(each.string()));
      }
    }
  }
  if (collection.artefacts.empty()) {
    throw SystemError(fmt::format(
        "{} holds no artefacts; --folder takes a folder of PAPER/ARTEFACT/artefact.toml", folder));
  }
  std::stable_sort(collection.papers.begin(), collection.papers.end(),
                   [](const Paper& a, const Paper& b) { return a.place < b.place; });
  std::map<std::string, int> places;
  for (const Paper& paper : collection.papers) places[paper.name] = paper.place;
  std::stable_sort(collection.artefacts.begin(), collection.artefacts.end(),
                   [&](const Artefact& a, const Artefact& b) {
                     const int one = places[a.paper];
                     const int other = places[b.paper];
                     return one != other ? one < other : NaturalLess()(a.id, b.id);
                   });
  refuse_twice(collection.artefacts);
  return collection;
}

std::vector<Artefact> selected(const Collection& collection, std::span<const std::string> names) {
  if (names.empty()) return collection.artefacts;
  for (const std::string& name : names) {
    if (std::none_of(collection.artefacts.begin(), collection.artefacts.end(),
                     [&](const Artefact& each) { return is_meant(each, lower(name)); })) {
      refuse_unknown(collection, name);
    }
  }
  std::vector<Artefact> wanted;
  for (const Artefact& each : collection.artefacts) {
    if (std::any_of(names.begin(), names.end(),
                    [&](const std::string& name) { return is_meant(each, lower(name)); })) {
      wanted.push_back(each);
    }
  }
  return wanted;
}

}  // namespace tw::reproduce
