// SPDX-License-Identifier: Apache-2.0
// An experiment from a few flags: `new` writes it as a file with comments, `exec` uses it at once.
//
// Values are written as they were typed, and nothing is judged here: whoever reads the text back
// (spec/parse.h) finds what is wrong, and in_options() says at which flag.

#pragma once

#include "trainwire/sketch/compound.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tw::sketch {

/// What the flags said.
struct Sketch {
  std::map<std::string, std::string, std::less<>> values = {};  ///< "--rate" -> "1Gbit"
  std::vector<std::string> links = {};                          ///< "host1:to:120Mbit"
  std::vector<std::string> traffic = {};                        ///< "host2:host0:0.8"

  bool empty() const { return values.empty() && links.empty() && traffic.empty(); }
};

/// Of a training that names none.
inline constexpr std::string_view kUsualModel = "resnet50";

enum class For {
  Training,  ///< a job of trainwire's own: a model where none is given
  Program,   ///< somebody's program: a job only where the ranks were told, for their number
};

struct Text {
  std::string toml = {};
  std::vector<std::string> origins = {};  ///< of each line: "--rate 1Gbit"; "" where no flag did it
};

/// Keys that were given, and beside them, as comments with their defaults, those that most
/// experiments touch; each with its meaning. Throws SpecError for a --link or --traffic without
/// its parts.
Text written(const Sketch& sketch, For purpose);

/// A message about the text (spec/parse.h, which was given `file`) as one about the flags.
std::string in_options(std::string_view message, std::string_view file, const Text& text);

}  // namespace tw::sketch
