// SPDX-License-Identifier: Apache-2.0
// What the points of a sweep set: an axis for each setting that differs between them, with numbers
// in base units where all of its values are numbers ("0.01%" is 0.0001, "5ms" is 0.005 s), and
// words otherwise.

#pragma once

#include "trainwire/record/run.h"
#include "trainwire/report/limits.h"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tw::report {

enum class Quantity { Number, Share, Rate, Time, Size, Word };
std::string_view name_of(Quantity quantity);

/// A value of a setting; as a word it has no number.
struct SweptValue {
  std::string text;  ///< as the experiment has it, without quotes
  Quantity quantity = Quantity::Word;
  std::optional<double> number = {};  ///< in base units
};
/// `text` is TOML: a number, or a quoted text, which may be a number with a unit.
SweptValue swept_value(std::string_view text);

struct SweptAxis {
  std::string key;    ///< "network.loss"
  std::string label;  ///< "loss"
  Quantity quantity = Quantity::Word;
  std::vector<SweptValue> values = {};  ///< one for each point; an empty text where it sets none
};

/// In the order in which the first points set them; those that do not differ, and seeds, which make
/// repeats of the same point, are left out. `settings`: of each point, "network.loss=0.01".
std::vector<SweptAxis> swept_axes(const std::vector<std::vector<std::string>>& settings);

/// {"folders": [of the points], "axes": [{"key", "label", "kind", "texts": [], "numbers": []}],
/// "why": [[{"name", "text"} of each check that failed], or null], "pages": [whether its folder has
/// a page], "cautions": [what checks say of all points alike]}, the lists but the last in the order of points.csv; null without that table. Words have no
/// "numbers".
nlohmann::ordered_json swept_document(const std::string& folder, const record::Run& sweep,
                                      const Limits& limits);

}  // namespace tw::report
