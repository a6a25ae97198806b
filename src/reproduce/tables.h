// SPDX-License-Identifier: Apache-2.0
// What `trainwire reproduce` prints and writes as tables: for people, JSON, CSV, LaTeX.

#pragma once

#include "trainwire/reproduce/collection.h"
#include "trainwire/reproduce/judge.h"

#include <nlohmann/json.hpp>

#include <map>
#include <span>
#include <string>

namespace tw::reproduce {

/// How many artefacts, and numbers, have which verdict.
struct Tally {
  std::map<Verdict, int> artefacts = {};
  std::map<Verdict, int> numbers = {};  ///< published numbers; claims do not count
  int by_command = 0;  ///< of the artefacts: systems and techniques that a command does
};
Tally tally_of(std::span<const Outcome> outcomes);

/// "1.4 Gbit/s", "2,011 MB": as many digits as say something.
std::string number_text(double value);
/// "-3.2 %", or in the unit where a share says nothing; "" without both numbers.
std::string difference_text(const Judged& one);

/// A line for each artefact, and the tally.
std::string table_text(std::span<const Outcome> outcomes);
/// One artefact with all its numbers and reasons.
std::string detail_text(const Outcome& outcome);
/// Ids and what they are, without computing anything.
std::string list_text(std::span<const Artefact> artefacts);

/// Schema 1 (docs/reproduce.md).
nlohmann::ordered_json document_of(std::span<const Outcome> outcomes);
/// One line for each number and claim, with a header.
std::string csv_of(std::span<const Outcome> outcomes);
/// A longtable of all numbers; needs the packages longtable and booktabs.
std::string latex_of(const Collection& collection, std::span<const Outcome> outcomes);

}  // namespace tw::reproduce
