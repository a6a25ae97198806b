// SPDX-License-Identifier: Apache-2.0
#include "trainwire/keys/range.h"
#include "trainwire/spec/override.h"
#include "trainwire/spec/read.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <unordered_set>

namespace tw::spec {
namespace {

constexpr std::int64_t kMostPoints = 10'000;

/// One axis, or several keys that go together ("job.strategy, job.overlap").
struct Axis {
  std::string shown;  ///< as the file has it
  std::vector<std::string> keys;
  keys::Place place;
  std::vector<keys::List> values;  ///< one of each key's
};

void refuse(std::vector<keys::Problem>& problems, const Axis& axis, keys::Place place,
            std::string text) {
  problems.push_back(
      {place, fmt::format("sweep.{}", keys::print_key(axis.shown)), std::move(text)});
}

/// "job.strategy, job.overlap" gives both.
std::vector<std::string> keys_in(std::string_view text) {
  std::vector<std::string> found;
  while (true) {
    const std::size_t comma = text.find(',');
    std::string_view one = text.substr(0, comma);
    while (one.starts_with(' ')) one.remove_prefix(1);
    while (one.ends_with(' ')) one.remove_suffix(1);
    found.emplace_back(one);
    if (comma == text.npos) return found;
    text.remove_prefix(comma + 1);
  }
}

/// Reads the values of one axis, ranges written out.
class AxisReader {
 public:
  AxisReader(Axis axis, std::vector<keys::Problem>& problems)
      : axis_(std::move(axis)), problems_(problems) {}

  /// Nothing when they are none, which has been told then.
  std::optional<Axis> read(const keys::Node& node) {
    const std::size_t before = problems_.size();
    const auto* list = std::get_if<keys::List>(&node.value);
    const auto* text = std::get_if<std::string>(&node.value);
    if (list != nullptr) {
      for (const keys::Node& value : *list) take(value);
    } else if (axis_.keys.size() == 1 && text != nullptr && keys::is_range(*text)) {
      take_range(*text, node.place);
    }
    if (problems_.size() == before && axis_.values.empty()) needs_values();
    if (problems_.size() > before) return {};
    return std::move(axis_);
  }

 private:
  void needs_values() {
    refuse(problems_, axis_, axis_.place,
           axis_.keys.size() == 1
               ? "needs a list of values, as in [1, 2, 4], or a range, as in \"1..8\""
               : fmt::format("needs a list of lists of {} values, one for each key",
                             axis_.keys.size()));
  }

  void take(const keys::Node& value) {
    if (axis_.keys.size() > 1) return take_together(value);
    const auto* text = std::get_if<std::string>(&value.value);
    if (text != nullptr && keys::is_range(*text)) return take_range(*text, value.place);
    axis_.values.push_back({value});
  }

  void take_range(const std::string& text, keys::Place place) {
    keys::Range range = keys::expand_range(text, place);
    if (!range.problem.empty()) {
      refuse(problems_, axis_, place, fmt::format("\"{}\" {}", text, range.problem));
    }
    for (keys::Node& node : range.values) axis_.values.push_back({std::move(node)});
  }

  void take_together(const keys::Node& value) {
    const auto* row = std::get_if<keys::List>(&value.value);
    if (row != nullptr && row->size() == axis_.keys.size()) {
      axis_.values.push_back(*row);
      return;
    }
    refuse(problems_, axis_, value.place,
           fmt::format("{} is no list of {} values, one for each key", keys::print(value),
                       axis_.keys.size()));
  }

  Axis axis_;
  std::vector<keys::Problem>& problems_;
};

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
    AxisReader reader({.shown = key, .keys = keys_in(key), .place = entry.node.place, .values = {}},
                      problems);
    if (auto axis = reader.read(entry.node)) axes.push_back(*std::move(axis));
  }
}

/// Points of the whole grid, or one more than are allowed.
std::int64_t points(std::span<const Axis> axes) {
  std::int64_t product = 1;
  for (const Axis& axis : axes) {
    product *= std::ssize(axis.values);
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
    for (const Axis& axis : axes_) point_.push_back(&axis.values.front());
  }

  void run() {
    try_point(0);
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      for (std::size_t v = 1; v < axes_[i].values.size(); ++v) {
        point_[i] = &axes_[i].values[v];
        try_point(i);
      }
      point_[i] = &axes_[i].values.front();
    }
  }

 private:
  /// Reports what is new at this point; what cannot be told apart is put down to axis `changed`.
  void try_point(std::size_t changed) {
    keys::Table tree = root_;
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      for (std::size_t k = 0; k < axes_[i].keys.size(); ++k) {
        const std::string problem = set_value(tree, axes_[i].keys[k], (*point_[i])[k]);
        if (!problem.empty() && told_.insert(i).second) {
          refuse(problems_, axes_[i], axes_[i].place, problem);
        }
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
      if (problem.place == point_[i]->front().place) return report_at(i, problem.text);
    }
    report_at(changed, fmt::format("{}: {}", problem.key, problem.text));
  }

  void report_at(std::size_t axis, const std::string& text) {
    const keys::List& values = *point_[axis];
    const keys::Node shown = values.size() == 1 ? values.front() : keys::Node{.value = values};
    refuse(problems_, axes_[axis], values.front().place,
           fmt::format("with {}: {}", keys::print(shown), text));
  }

  keys::Table root_;
  const Vocabulary& vocabulary_;
  std::span<const Axis> axes_;
  std::vector<keys::Problem>& problems_;
  std::vector<const keys::List*> point_;
  std::unordered_set<std::string> known_;
  std::unordered_set<std::size_t> told_;
};

void append_texts(const Axis& axis, int group, std::vector<SweepAxis>& sweep) {
  for (std::size_t k = 0; k < axis.keys.size(); ++k) {
    SweepAxis& one =
        sweep.emplace_back(SweepAxis{.key = axis.keys[k], .values = {}, .group = group});
    for (const keys::List& values : axis.values) one.values.push_back(keys::print(values[k]));
  }
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
  for (std::size_t i = 0; i < axes.size(); ++i) append_texts(axes[i], static_cast<int>(i), sweep);
  return sweep;
}

}  // namespace tw::spec
