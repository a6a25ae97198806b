// SPDX-License-Identifier: Apache-2.0
#include "trainwire/spec/resolve.h"

#include <fmt/format.h>

namespace tw::spec {

void resolve_expectation(const Expectation& expectation, keys::Section& section) {
  if (section.readable({"of"}) && expectation.of.empty()) {
    section.refuse("an expectation needs of = a command");
  }
  if (section.readable({"metric"}) && expectation.metric.empty()) {
    section.refuse("an expectation needs metric = a path in the command's document");
  }
  if (!section.readable({"equals", "at_least", "at_most", "tolerance"})) return;
  const bool has_limit = expectation.at_least || expectation.at_most;
  if (!expectation.equals && !has_limit) {
    section.refuse("an expectation needs equals, at_least or at_most");
  }
  if (expectation.equals && has_limit) {
    section.refuse("equals", "excludes at_least and at_most; keep one kind of bound");
  }
  if (!expectation.equals && keys::find(section.table(), "tolerance") != nullptr) {
    section.refuse("tolerance", "belongs to equals; remove it or add equals");
  }
  if (expectation.at_least && expectation.at_most && *expectation.at_least > *expectation.at_most) {
    section.refuse("at_least", fmt::format("{} is above at_most = {}", *expectation.at_least,
                                           *expectation.at_most));
  }
}

}  // namespace tw::spec
