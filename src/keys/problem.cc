// SPDX-License-Identifier: Apache-2.0
#include "trainwire/keys/problem.h"

#include "trainwire/base/nearest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <unordered_set>

namespace tw::keys {
namespace {

constexpr std::size_t kMostShown = 60;   // characters of a quoted text
constexpr std::size_t kMostListed = 12;  // names in a remedy

std::string line(const Problem& problem, std::string_view file, std::span<const std::string> sets) {
  if (problem.place.set >= 0) {
    return fmt::format("--set {}: {}", sets[static_cast<std::size_t>(problem.place.set)],
                       problem.text);
  }
  const std::string key = problem.key.empty() ? "" : problem.key + ": ";
  return fmt::format("{}:{}: {}{}", file, problem.place.line, key, problem.text);
}

bool stands_before(const Problem& a, const Problem& b) {
  return a.place.set != b.place.set ? a.place.set < b.place.set : a.place.line < b.place.line;
}

}  // namespace

bool Section::readable(std::initializer_list<std::string_view> keys) const {
  return std::none_of(keys.begin(), keys.end(), [&](std::string_view key) {
    return std::find(refused_.begin(), refused_.end(), key) != refused_.end();
  });
}

void Section::refuse(std::string_view key, std::string text) {
  const Node* node = find(*table_, key);
  const std::string dot = path_.empty() ? "" : ".";
  problems_->push_back(
      {node != nullptr ? node->place : place_, path_ + dot + print_key(key), std::move(text)});
  refused_.emplace_back(key);
}

std::string in_quotes(std::string_view name) {
  if (name.size() <= kMostShown) return print({.value = std::string(name)});
  std::size_t end = kMostShown;
  // Not within a UTF-8 character.
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xC0) == 0x80) --end;
  return print({.value = std::string(name.substr(0, end)) + "..."});
}

std::string remedy(std::string_view name, std::span<const std::string_view> known,
                   std::string_view where) {
  if (name.size() <= kMostShown) {
    if (const auto near = nearest(name, known)) return fmt::format("did you mean \"{}\"?", *near);
  }
  if (known.size() > kMostListed) return fmt::format("{} lists them", where);
  return fmt::format("known: {}", fmt::join(known, ", "));
}

std::string message(std::span<const Problem> problems, std::string_view file,
                    std::span<const std::string> sets) {
  std::vector<Problem> sorted(problems.begin(), problems.end());
  std::stable_sort(sorted.begin(), sorted.end(), stands_before);
  std::vector<std::string> lines;
  // A --set that reaches several jobs is told once.
  std::unordered_set<std::string> told;
  for (const Problem& problem : sorted) {
    std::string text = line(problem, file, sets);
    if (told.insert(text).second) lines.push_back(std::move(text));
  }
  if (lines.size() > 1) lines.push_back(fmt::format("{} problems in {}", lines.size(), file));
  return fmt::format("{}", fmt::join(lines, "\n"));
}

}  // namespace tw::keys
