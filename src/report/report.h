// SPDX-License-Identifier: Apache-2.0
// Runs, or a load, as one HTML page that needs nothing else.
//
// A page holds the data that it draws, at most kMostBytes of page unless everything is asked for:
// a run of a day is cut into the same number of buckets as one of a minute, and what does not fit
// is left off, with its number.

#pragma once

#include "trainwire/report/load_data.h"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <span>
#include <string>

namespace tw::report {

inline constexpr std::size_t kMostBytes = 1'000'000;

enum class Detail { Reduced, Full };

/// The program that writes the page, for its last line.
struct Maker {
  std::string version;
  std::string commit;
};

/// Several runs are laid over one another, the first being what others are compared with;
/// `comparisons` are what `compare` finds of them, or null. REQUIRES: folders not empty. Throws as
/// run_data() does.
std::string run_page(std::span<const std::string> folders, Detail detail, const Maker& maker,
                     const nlohmann::ordered_json& comparisons = nullptr);

/// What run_page() puts into the page: {"schema", "version", "commit", "full", "runs": [as
/// run_data()], "comparisons"}.
nlohmann::ordered_json run_document(std::span<const std::string> folders, Detail detail,
                                    const Maker& maker,
                                    const nlohmann::ordered_json& comparisons = nullptr);

/// REQUIRES: as load_data().
std::string load_page(const LoadSource& load, const Maker& maker);

}  // namespace tw::report
