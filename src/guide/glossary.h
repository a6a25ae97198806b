// SPDX-License-Identifier: Apache-2.0
// Every word that a user meets and may want explained: keys of experiments, tables and columns of
// run folders, checks, findings, strategies, models. Texts are those of the modules that define
// them.

#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tw::guide {

struct Entry {
  std::string kind;  ///< key, table, column, check, finding, strategy, model
  std::string name;  ///< whole: "network.rate", "flows.class", "clock"
  std::vector<std::pair<std::string, std::string>>
      facts;  ///< in the order of reading; no text is ""
};

/// All there are, kind by kind.
const std::vector<Entry>& glossary();

/// Those of that name, whole or from a dot on: "rate" finds network.rate and network.link.rate.
/// Numbers in paths ("job.0.model", as --set takes them), brackets of sections, ".csv" and case do
/// not count.
std::vector<Entry> find(std::string_view word);

/// At most three names that `word` may have been meant for.
std::vector<std::string> near(std::string_view word);

}  // namespace tw::guide
