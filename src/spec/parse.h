// SPDX-License-Identifier: Apache-2.0
// Reads an experiment file: TOML text to a resolved Experiment, or one error with all that is
// wrong.

#pragma once

#include "trainwire/base/error.h"
#include "trainwire/spec/experiment.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tw::spec {

/// The names that modules above this one give meaning to.
struct Vocabulary {
  std::vector<std::string_view> models;
  std::vector<std::string_view> strategies;
  std::vector<std::string_view> devices;
  /// Strategies whose last ranks are servers.
  std::vector<std::string_view> served = {};
};

/// --set job.model=vgg16. The key is a path as in the file ("network.rate", "traffic.0.load");
/// without a number, "job" and "traffic" mean every entry. The value is TOML, or a bare word taken
/// as a string.
struct Override {
  std::string key;
  std::string value;
};

/// "key=value". Throws SpecError when there is no "=" or no key.
Override parse_override(std::string_view text);

/// Throws SpecError whose message lists every problem, a line each, in the order of the file:
///   file:line: key: what is wrong; what to do ("did you mean ...?")
/// `file` only names the text in messages.
Experiment parse(std::string_view text, std::string_view file, const Vocabulary& vocabulary,
                 std::span<const Override> overrides = {});

}  // namespace tw::spec
