// SPDX-License-Identifier: Apache-2.0
// All artefacts that there are: reproductions/PAPER/ARTEFACT/artefact.toml. Adding a paper is adding
// folders.

#pragma once

#include "trainwire/reproduce/artefact.h"

#include <span>
#include <string>
#include <vector>

namespace tw::reproduce {

/// Of a folder of artefacts: paper.toml says what the study is called and where it stands.
struct Paper {
  std::string name;  ///< of the folder
  std::string title;
  std::string by;
  int place = 0;  ///< papers are listed in this order
};

struct Collection {
  std::string folder;
  std::vector<Paper> papers = {};
  std::vector<Artefact> artefacts = {};  ///< by paper, then by id as people count
};

/// Where artefacts lie when nobody says it: here, beside the sources of a program that was built in
/// them, or where it was installed. Throws SystemError when in none of these.
std::string default_folder();

/// Reads everything there. Throws SpecError with file, line and remedy for what is wrong, also for
/// an id that two have; SystemError when there is nothing.
Collection read_collection(const std::string& folder);

/// Artefacts that are wanted: by id, by PAPER/ARTEFACT, or all of a paper; no names: all. Letter
/// case does not matter. Throws SpecError for a name that nothing has, with the nearest.
std::vector<Artefact> selected(const Collection& collection, std::span<const std::string> names);

}  // namespace tw::reproduce
