// SPDX-License-Identifier: Apache-2.0
#include "trainwire/spec/override.h"
#include "trainwire/spec/read.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

namespace tw::spec {
namespace {

constexpr std::int64_t kMostPoints = 10'000;

struct Axis {
  std::string key;
  keys::Place place;
  const keys::List* values;
};

void refuse(std::vector<keys::Problem>& problems, const Axis& axis, keys::Place place,
            std::string text) {
  problems.push_back({place, fmt::format("sweep.{}", keys::print_key(axis.key)), std::move(text)});
}

/// Axes with values, in the order of the file. Unquoted paths, which TOML reads as nested tables,
/// count too.
void collect(const keys::Table& table, const std::string& prefix, std::vector<Axis>& axes,
             std::vector<keys::Problem>& problems) {
  for (const keys::Entry& entry : table) {
    const std::string key = prefix + entry.key;
    if (const auto* inner = std::get_if<keys::Table>(&entry.node.value)) {
      collect(*inner, key + ".", axes, problems);
      continue;
    }
    const Axis axis{key, entry.node.place, std::get_if<keys::List>(&entry.node.value)};
    if (axis.values != nullptr && !axis.values->empty()) {
      axes.push_back(axis);
    } else {
      refuse(problems, axis, axis.place, "needs a list of values, as in [1, 2, 4]");
    }
  }
}

/// Points of the whole grid, or one more than are allowed.
std::int64_t points(std::span<const Axis> axes) {
  std::int64_t product = 1;
  for (const Axis& axis : axes) {
    product *= std::ssize(*axis.values);
    if (product > kMostPoints) return kMostPoints + 1;
  }
  return product;
}

std::string identity(const keys::Problem& p) {
  return fmt::format("{}\n{}\n{}\n{}", p.place.line, p.place.set, p.key, p.text);
}

/// Tries points of the sweep: the axes at their first values, then each other value of one axis
/// with the first ones of the rest. Only points are tried, since axes may need one another.
class Trials {
 public:
  Trials(const keys::Table& root, const Vocabulary& vocabulary, std::span<const Axis> axes,
         std::vector<keys::Problem>& problems)
      : root_(root), vocabulary_(vocabulary), axes_(axes), problems_(problems) {
    std::erase_if(root_, [](const keys::Entry& entry) { return entry.key == "sweep"; });
    std::vector<keys::Problem> before;
    read_experiment(root_, vocabulary_, before);
    for (const keys::Problem& problem : before) known_.insert(identity(problem));
    for (const Axis& axis : axes_) point_.push_back(&axis.values->front());
  }

  void run() {
    try_point(0);
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      for (std::size_t v = 1; v < axes_[i].values->size(); ++v) {
        point_[i] = &(*axes_[i].values)[v];
        try_point(i);
      }
      point_[i] = &axes_[i].values->front();
    }
  }

 private:
  /// Reports what is new at this point; what cannot be told apart is put down to axis `changed`.
  void try_point(std::size_t changed) {
    keys::Table tree = root_;
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      const std::string problem = set_value(tree, axes_[i].key, *point_[i]);
      if (!problem.empty() && told_.insert(i).second) {
        refuse(problems_, axes_[i], axes_[i].place, problem);
      }
    }
    std::vector<keys::Problem> found;
    read_experiment(tree, vocabulary_, found);
    for (const keys::Problem& problem : found) {
      if (known_.insert(identity(problem)).second) report(problem, changed);
    }
  }

  void report(const keys::Problem& problem, std::size_t changed) {
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      if (problem.place == point_[i]->place) return report_at(i, problem.text);
    }
    report_at(changed, fmt::format("{}: {}", problem.key, problem.text));
  }

  void report_at(std::size_t axis, const std::string& text) {
    refuse(problems_, axes_[axis], point_[axis]->place,
           fmt::format("with {}: {}", keys::print(*point_[axis]), text));
  }

  keys::Table root_;
  const Vocabulary& vocabulary_;
  std::span<const Axis> axes_;
  std::vector<keys::Problem>& problems_;
  std::vector<const keys::Node*> point_;
  std::unordered_set<std::string> known_;
  std::unordered_set<std::size_t> told_;
};

SweepAxis to_texts(const Axis& axis) {
  SweepAxis result{.key = axis.key, .values = {}};
  for (const keys::Node& value : *axis.values) result.values.push_back(keys::print(value));
  return result;
}

}  // namespace

std::vector<SweepAxis> read_sweep(const keys::Table& root, const Vocabulary& vocabulary,
                                  std::vector<keys::Problem>& problems) {
  const keys::Node* node = keys::find(root, "sweep");
  if (node == nullptr) return {};
  const auto* table = std::get_if<keys::Table>(&node->value);
  if (table == nullptr) {
    problems.push_back({node->place, "sweep", "not a section; write [sweep]"});
    return {};
  }
  std::vector<Axis> axes;
  collect(*table, "", axes, problems);
  if (axes.empty()) return {};
  if (points(axes) > kMostPoints) {
    problems.push_back({node->place, "sweep",
                        fmt::format("more than {} points; write fewer values", kMostPoints)});
    return {};
  }
  Trials(root, vocabulary, axes, problems).run();
  std::vector<SweepAxis> sweep;
  std::transform(axes.begin(), axes.end(), std::back_inserter(sweep), to_texts);
  return sweep;
}

}  // namespace tw::spec
