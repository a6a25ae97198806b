// SPDX-License-Identifier: Apache-2.0
// What is wrong with an experiment: collected while reading, told all at once.

#pragma once

#include "trainwire/keys/tree.h"

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tw::keys {

struct Problem {
  Place place;
  std::string key;   ///< path as --set takes it: "network.rate", "job.1.hosts"
  std::string text;  ///< what is wrong; what to do
  bool operator==(const Problem&) const = default;
};

/// One table of the file while it is read and checked: knows where each key was written, and which
/// keys could not be read, so that rules can leave alone a value that stands in for a broken one.
class Section {
 public:
  Section(std::string path, const Table& table, Place place, std::vector<Problem>& problems)
      : path_(std::move(path)), table_(&table), place_(place), problems_(&problems) {}

  const std::string& path() const { return path_; }
  const Table& table() const { return *table_; }
  /// True when none of these keys was refused before.
  bool readable(std::initializer_list<std::string_view> keys) const;
  /// Reports at the key where it was written, else at the section.
  void refuse(std::string_view key, std::string text);
  /// Reports about the section as a whole.
  void refuse(std::string text) { problems_->push_back({place_, path_, std::move(text)}); }

 private:
  std::string path_;
  const Table* table_;
  Place place_;
  std::vector<Problem>* problems_;
  std::vector<std::string> refused_;
};

/// "name" in quotes, escaped, shortened when long.
std::string in_quotes(std::string_view name);

/// What to do about a name that is not known: the nearest one, or all of them when they are few, or
/// `where` they are listed.
std::string remedy(std::string_view name, std::span<const std::string_view> known,
                   std::string_view where);

/// The message of parse(): lines in the order of the file, then of the command line. `sets` are the
/// texts of the --set options.
std::string message(std::span<const Problem> problems, std::string_view file,
                    std::span<const std::string> sets);

}  // namespace tw::keys
