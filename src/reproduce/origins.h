// SPDX-License-Identifier: Apache-2.0
// Which engines a number hangs on, and what has to be asked for those that are wanted.

#pragma once

#include "trainwire/reproduce/artefact.h"
#include "trainwire/reproduce/judge.h"

#include <map>
#include <set>
#include <string>

namespace tw::reproduce {

/// Engines on which a name, and what is computed from it, hangs.
class Origins {
 public:
  explicit Origins(const Artefact& artefact);

  std::set<Engine> of(const Expression& expression) const;
  std::set<Engine> of(const Row& row) const;

 private:
  std::map<std::string, std::set<Engine>> of_ = {};
};

bool may_ask(const std::set<Engine>& engines, const Asking& asking);

/// "plan", "flow, packet"; "equation" for none.
std::string names_of(const std::set<Engine>& engines);

/// Names of all that is judged and drawn.
std::set<std::string> needed_names(const Artefact& artefact, const Asking& asking);

}  // namespace tw::reproduce
