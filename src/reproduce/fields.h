// SPDX-License-Identifier: Apache-2.0
// Tables of an artefact's file, read key by key; what is wrong is collected with its line and told
// at once.

#pragma once

#include "trainwire/keys/problem.h"
#include "trainwire/keys/tree.h"
#include "trainwire/reproduce/artefact.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tw::reproduce {

class Problems {
 public:
  explicit Problems(std::string file) : file_(std::move(file)) {}

  void add(int line, std::string_view key, std::string text) {
    found_.push_back({.place = {.line = line}, .key = std::string(key), .text = std::move(text)});
  }
  /// Throws SpecError with all of them.
  void throw_if_any() const;

 private:
  std::string file_;
  std::vector<keys::Problem> found_ = {};
};

/// One table. A key that nobody asks for is refused at the end.
class Fields {
 public:
  /// REQUIRES: table and problems outlive it.
  Fields(const keys::Table& table, std::string path, int line, Problems& problems)
      : table_(table), path_(std::move(path)), line_(line), problems_(problems) {}

  int line() const { return line_; }

  /// "" and no problem when it is not there.
  std::string text(std::string_view key);
  /// The same, but it must be there.
  std::string needed(std::string_view key);
  bool yes(std::string_view key);
  /// A text, or a list of them.
  std::vector<std::string> texts(std::string_view key);
  /// A number, or a list of them.
  std::vector<double> numbers(std::string_view key);
  /// Numbers, or shares such as "5%".
  std::vector<Tolerance> tolerances(std::string_view key);
  std::optional<Expression> expression(std::string_view key);
  Expression needed_expression(std::string_view key);
  /// A table of lists: values as --set takes them.
  std::vector<std::pair<std::string, std::vector<std::string>>> lists_of_values(
      std::string_view key);
  /// Every table of a list of tables, in order.
  void each_table(std::string_view key, const std::function<void(Fields&)>& take);
  void table(std::string_view key, const std::function<void(Fields&)>& take);

  void refuse(std::string_view key, std::string text);
  /// Keys that nobody asked for, with the nearest that somebody did.
  void refuse_others();

 private:
  const keys::Node* find(std::string_view key);

  const keys::Table& table_;
  std::string path_;
  int line_;
  Problems& problems_;
  std::vector<std::string> asked_ = {};
};

}  // namespace tw::reproduce
