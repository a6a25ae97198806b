// SPDX-License-Identifier: Apache-2.0
#include "trainwire/reproduce/documents.h"

#include "trainwire/base/error.h"
#include "trainwire/reproduce/drawing.h"
#include "trainwire/reproduce/page.h"
#include "trainwire/reproduce/plots.h"
#include "trainwire/reproduce/tables.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>

namespace tw::reproduce {
namespace {

void write(const std::string& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.close();
  if (!out)
    throw SystemError(fmt::format("writing {}: it cannot be written; is there room?", path));
}

/// Ids have signs that no shell likes.
std::string file_name(const std::string& id) {
  std::string name = id;
  for (char& c : name) {
    if (c == ',' || c == ' ' || c == '/') c = '-';
  }
  return name;
}

}  // namespace

void write_documents(const std::string& folder, const Collection& collection,
                     std::span<const Outcome> outcomes) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) throw SystemError(fmt::format("making {}: {}", folder, failed.message()));
  write(folder + "/reproductions.html", page_of(collection, outcomes));
  write(folder + "/reproductions.csv", csv_of(outcomes));
  write(folder + "/reproductions.tex", latex_of(collection, outcomes));
  for (const Outcome& outcome : outcomes) {
    const auto drawing = drawing_of(outcome);
    if (!drawing) continue;
    const std::string name = folder + "/" + file_name(outcome.artefact.id);
    write(name + ".svg", svg_of(*drawing));
    write(name + ".pdf", pdf_of(*drawing));
    write(name + ".csv", csv_of({&outcome, 1}));
  }
}

}  // namespace tw::reproduce
