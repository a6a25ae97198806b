// SPDX-License-Identifier: Apache-2.0
// The flags of a command line that stand for keys of an experiment, one to one.

#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tw::sketch {

struct Flag {
  std::string_view option;   ///< "--rate"
  std::string_view section;  ///< header, as spec/reference.h has it: "[network]"
  std::string_view key;
  std::string_view word;  ///< for its value, in the help
};

/// In the order of the file.
std::span<const Flag> flags();

bool has_key(std::string_view section, std::string_view key);

/// What the key means and which words it takes, as the experiment's reference has it. REQUIRES: there
/// is such a key, here and below.
std::string meaning(std::string_view section, std::string_view key);

/// The default as it would be written; "" where it is told in words only.
std::string usual(std::string_view section, std::string_view key);

/// The default as it would be written, or in words.
std::string usual_in_words(std::string_view section, std::string_view key);

/// The words that the key takes; none where it takes something else.
std::vector<std::string> words_of(std::string_view section, std::string_view key);

}  // namespace tw::sketch
