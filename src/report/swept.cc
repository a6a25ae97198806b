// SPDX-License-Identifier: Apache-2.0
#include "trainwire/report/swept.h"

#include "trainwire/base/error.h"
#include "trainwire/base/units.h"
#include "trainwire/record/run_file.h"
#include "trainwire/report/run_data.h"
#include "trainwire/result/table_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

namespace tw::report {
namespace {

using nlohmann::ordered_json;
namespace fs = std::filesystem;

using Settings = std::vector<std::pair<std::string, std::string>>;

constexpr std::string_view kSeed = "run.seed";
/// Points whose records are looked at although nothing failed in them.
constexpr std::size_t kMostRead = 64;

std::string_view unquoted(std::string_view text) {
  const bool quoted = text.size() >= 2 && text.front() == '"' && text.back() == '"';
  return quoted ? text.substr(1, text.size() - 2) : text;
}

/// "network.loss=0.01" as key and value.
std::pair<std::string, std::string> parted(std::string_view setting) {
  const std::size_t equals = std::min(setting.find('='), setting.size());
  return {std::string(setting.substr(0, equals)),
          std::string(setting.substr(std::min(equals + 1, setting.size())))};
}

/// The settings of points.csv: a word without "=" belongs to the value before it.
std::vector<std::string> settings_in(std::string_view text) {
  std::vector<std::string> settings;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (word.find('=') != word.npos || settings.empty()) {
      settings.emplace_back(word);
    } else {
      settings.back().append(" ").append(word);
    }
  }
  return settings;
}

bool is_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](unsigned char c) { return std::isdigit(c) != 0; });
}

/// "loss" of "network.loss", "traffic kind" of "traffic.0.kind": what a reader would call it.
std::string label_of(std::string_view key) {
  static const std::set<std::string_view> kSections{"job", "network", "run"};
  std::string label;
  bool is_first = true;
  while (!key.empty()) {
    const std::size_t end = std::min(key.find('.'), key.size());
    const std::string_view part = key.substr(0, end);
    key.remove_prefix(std::min(end + 1, key.size()));
    const bool passed_over =
        is_digits(part) || (is_first && !key.empty() && kSections.contains(part));
    is_first = false;
    if (passed_over) continue;
    label += (label.empty() ? "" : " ") + std::string(part);
  }
  std::replace(label.begin(), label.end(), '_', ' ');
  return label;
}

/// Shares that are written as plain numbers.
bool is_share_key(std::string_view key) { return key.ends_with("loss") || key.ends_with(".load"); }

/// One quantity of all values; plain numbers go along with any.
Quantity common_quantity(const SweptAxis& axis) {
  Quantity common = Quantity::Number;
  for (const SweptValue& value : axis.values) {
    if (!value.number) return Quantity::Word;
    if (value.quantity == Quantity::Number || value.quantity == common) continue;
    if (common != Quantity::Number) return Quantity::Word;
    common = value.quantity;
  }
  return common == Quantity::Number && is_share_key(axis.key) ? Quantity::Share : common;
}

/// Of a name that may be anybody's: only a folder right inside the sweep's.
bool is_inside(const std::string& folder, const std::string& point) {
  const fs::path path(point);
  std::error_code error;
  return !point.empty() && path == path.filename() && point != "." && point != ".." &&
         fs::is_directory(fs::symlink_status(folder + "/" + point, error));
}

/// As the point's own record has them; none where its folder is gone or not ours.
std::vector<record::Check> checks_of(const std::string& folder, const std::string& point) {
  try {
    if (is_inside(folder, point)) return record::read_run(folder + "/" + point).summary.checks;
  } catch (const Error&) {
    // The table says whether it failed.
  }
  return {};
}

/// `problem`: what the sweep's table says of a point that did not come to its end.
ordered_json why_of(const std::vector<record::Check>& checks, bool complete,
                    std::string_view problem) {
  ordered_json why = ordered_json::array();
  if (!complete) {
    why.push_back(
        {{"name", "end"}, {"text", problem.empty() ? "it did not come to its end" : problem}});
  }
  for (const record::Check& check : checks) {
    if (!check.ok) why.push_back({{"name", check.name}, {"text", check.text}});
  }
  if (why.empty()) why.push_back({{"name", "checks"}, {"text", "a check failed"}});
  return why;
}

/// What is to be kept in mind of all points alike.
class CommonCautions {
 public:
  void add(const std::vector<record::Check>& checks) {
    if (checks.empty()) return;
    ++points_;
    std::set<std::string> texts;
    for (const record::Check& check : checks) {
      if (check.caution.value_or(false)) texts.insert(check.text);
    }
    for (const std::string& text : texts) ++seen_[text];
  }
  ordered_json document() const {
    ordered_json texts = ordered_json::array();
    for (const auto& [text, count] : seen_) {
      if (count == points_) texts.push_back(text);
    }
    return texts;
  }

 private:
  std::size_t points_ = 0;
  std::map<std::string, std::size_t> seen_;
};

ordered_json axis_document(const SweptAxis& axis) {
  ordered_json texts = ordered_json::array(), numbers = ordered_json::array();
  for (const SweptValue& value : axis.values) {
    texts.push_back(value.text);
    numbers.push_back(value.number ? ordered_json(*value.number) : ordered_json());
  }
  ordered_json document{{"key", axis.key},
                        {"label", axis.label},
                        {"kind", name_of(axis.quantity)},
                        {"texts", std::move(texts)}};
  if (axis.quantity != Quantity::Word) document["numbers"] = std::move(numbers);
  return document;
}

}  // namespace

std::string_view name_of(Quantity quantity) {
  switch (quantity) {
    case Quantity::Number:
      return "number";
    case Quantity::Share:
      return "share";
    case Quantity::Rate:
      return "rate";
    case Quantity::Time:
      return "time";
    case Quantity::Size:
      return "bytes";
    case Quantity::Word:
      return "word";
  }
  return {};
}

SweptValue swept_value(std::string_view text) {
  const std::string_view plain = unquoted(text);
  SweptValue value{.text = std::string(plain)};
  const auto is = [&](Quantity quantity, double number) {
    if (!std::isfinite(number)) return value;
    value.quantity = quantity;
    value.number = number;
    return value;
  };
  if (const auto number = result::parsed<double>(plain)) return is(Quantity::Number, *number);
  if (const auto share = parse_fraction(plain)) return is(Quantity::Share, *share);
  if (const auto rate = parse_rate(plain)) return is(Quantity::Rate, rate->bits_per_second());
  if (const auto time = parse_duration(plain)) return is(Quantity::Time, seconds(*time));
  if (const auto size = parse_bytes(plain)) {
    return is(Quantity::Size, static_cast<double>(size->count()));
  }
  return value;
}

std::vector<SweptAxis> swept_axes(const std::vector<std::vector<std::string>>& settings) {
  std::vector<SweptAxis> axes;
  for (std::size_t point = 0; point < settings.size(); ++point) {
    for (const std::string& setting : settings[point]) {
      const auto [key, text] = parted(setting);
      if (key == kSeed) continue;
      auto axis = axes.begin();
      while (axis != axes.end() && axis->key != key) ++axis;
      if (axis == axes.end()) {
        axis = axes.insert(axis, {.key = key, .label = label_of(key)});
        axis->values.resize(settings.size());
      }
      axis->values[point] = swept_value(text);
    }
  }
  std::erase_if(axes, [](const SweptAxis& axis) {
    return std::all_of(axis.values.begin(), axis.values.end(), [&](const SweptValue& value) {
      return value.text == axis.values.front().text;
    });
  });
  for (SweptAxis& axis : axes) axis.quantity = common_quantity(axis);
  return axes;
}

ordered_json swept_document(const std::string& folder, const record::Run& sweep,
                            const Limits& limits) {
  std::ifstream file = result::open_table(folder + "/points.csv");
  if (!file.is_open()) return nullptr;
  std::map<std::string, std::vector<std::string>> recorded;
  if (sweep.points) {
    for (const record::Point& point : *sweep.points) recorded[point.folder] = point.settings;
  }
  result::TableReader table(file);
  const auto name = table.column("folder"), text = table.column("settings");
  const auto complete = table.column("complete"), checks = table.column("checks_ok");
  const auto problem = table.column("problem");
  std::vector<std::vector<std::string>> settings;
  ordered_json folders = ordered_json::array(), why = folders, pages = folders;
  CommonCautions cautions;
  while (table.next() && settings.size() < limits.list_items * 4) {
    const std::string point(table.text(name));
    const auto known = recorded.find(point);
    const bool has_settings = known != recorded.end() && !known->second.empty();
    settings.push_back(has_settings ? known->second : settings_in(table.text(text)));
    folders.push_back(point);
    const bool ended = table.integer(complete) != 0;
    const bool failed = !ended || table.integer(checks) == 0;
    const bool is_read = failed || folders.size() <= kMostRead;
    const auto told = is_read ? checks_of(folder, point) : std::vector<record::Check>();
    cautions.add(told);
    why.push_back(failed ? cut_to(why_of(told, ended, table.text(problem)), limits)
                         : ordered_json());
    std::error_code error;
    pages.push_back(is_inside(folder, point) &&
                    fs::is_regular_file(folder + "/" + point + "/report.html", error));
  }
  ordered_json axes = ordered_json::array();
  for (const SweptAxis& axis : swept_axes(settings)) axes.push_back(axis_document(axis));
  return {{"folders", std::move(folders)},
          {"axes", std::move(axes)},
          {"why", std::move(why)},
          {"cautions", cut_to(cautions.document(), limits)},
          {"pages", std::move(pages)}};
}

}  // namespace tw::report
