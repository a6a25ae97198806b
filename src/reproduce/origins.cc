// SPDX-License-Identifier: Apache-2.0
#include "trainwire/reproduce/origins.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <string_view>
#include <vector>

namespace tw::reproduce {
namespace {

/// Adds the names of an expression, and of what these are computed from.
void add_names(const Artefact& artefact, const std::optional<Expression>& expression,
               std::set<std::string>& names) {
  if (!expression) return;
  for (const std::string& name : expression->names()) {
    if (!names.insert(name).second) continue;
    for (const Let& let : artefact.lets) {
      if (let.name == name) add_names(artefact, let.is, names);
    }
  }
}

}  // namespace

Origins::Origins(const Artefact& artefact) {
  for (const Compute& compute : artefact.computes) of_[compute.name] = {compute.engine};
  for (const Let& let : artefact.lets) of_[let.name] = of(let.is);
}

std::set<Engine> Origins::of(const Expression& expression) const {
  std::set<Engine> all;
  for (const std::string& name : expression.names()) {
    if (const auto found = of_.find(name); found != of_.end()) {
      all.insert(found->second.begin(), found->second.end());
    }
  }
  return all;
}

std::set<Engine> Origins::of(const Row& row) const {
  std::set<Engine> all;
  for (const auto* each : {&row.ours, &row.holds, &row.shape, &row.refutes}) {
    if (!*each) continue;
    const std::set<Engine> some = of(**each);
    all.insert(some.begin(), some.end());
  }
  return all;
}

bool may_ask(const std::set<Engine>& engines, const Asking& asking) {
  if (engines.contains(Engine::Run) && !asking.full) return false;
  if (!asking.only) return true;
  return engines.empty() ? *asking.only == Engine::Equation : engines.contains(*asking.only);
}

std::string names_of(const std::set<Engine>& engines) {
  if (engines.empty()) return std::string(name_of(Engine::Equation));
  std::vector<std::string_view> names;
  for (const Engine each : engines) names.push_back(name_of(each));
  return fmt::format("{}", fmt::join(names, ", "));
}

std::set<std::string> needed_names(const Artefact& artefact, const Asking& asking) {
  const Origins origins(artefact);
  std::set<std::string> names;
  for (const Row& row : artefact.rows) {
    if (!row.missing.empty() || !may_ask(origins.of(row), asking)) continue;
    for (const auto* each :
         {&row.ours, &row.low, &row.high, &row.holds, &row.shape, &row.refutes}) {
      add_names(artefact, *each, names);
    }
  }
  for (const Curve& curve : artefact.plot.curves) {
    if (!may_ask(origins.of(curve.y), asking)) continue;
    add_names(artefact, curve.x, names);
    add_names(artefact, curve.y, names);
  }
  return names;
}

}  // namespace tw::reproduce
