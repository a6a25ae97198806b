// SPDX-License-Identifier: Apache-2.0
#include "trainwire/report/report.h"

#include "trainwire/base/error.h"
#include "trainwire/report/limits.h"
#include "trainwire/report/page.h"
#include "trainwire/report/run_data.h"
#include "trainwire/report/template.h"

namespace tw::report {
namespace {

using nlohmann::ordered_json;

constexpr int kSchema = 1;
/// Each attempt halves what the one before took; after these even lists are at their least.
constexpr int kAttempts = 8;

ordered_json document_of(const Maker& maker) {
  return {{"schema", kSchema}, {"version", maker.version}, {"commit", maker.commit}};
}

ordered_json document_with(std::span<const std::string> folders, const Limits& limits,
                           Detail detail, const Maker& maker, const ordered_json& comparisons) {
  ordered_json document = document_of(maker);
  document["full"] = detail == Detail::Full;
  document["runs"] = ordered_json::array();
  for (const std::string& folder : folders) document["runs"].push_back(run_data(folder, limits));
  if (!comparisons.is_null()) document["comparisons"] = cut_to(comparisons, limits);
  return document;
}

struct Made {
  ordered_json document;
  std::string page;
};

Made made_of(std::span<const std::string> folders, Detail detail, const Maker& maker,
             const ordered_json& comparisons) {
  check(!folders.empty(), "a page needs a run");
  const auto made_with = [&](const Limits& limits) {
    Made made{.document = document_with(folders, limits, detail, maker, comparisons), .page = {}};
    made.page = filled(page_template(), made.document);
    return made;
  };
  if (detail == Detail::Full) return made_with(without_limits_of_windows({}));
  double factor = folders.size() > 2 ? static_cast<double>(folders.size()) / 2 : 1;
  Made made = made_with(divided({}, factor));
  for (int i = 1; i < kAttempts && made.page.size() > kMostBytes; ++i) {
    factor *= 2;
    made = made_with(divided({}, factor));
  }
  return made;
}

}  // namespace

std::string run_page(std::span<const std::string> folders, Detail detail, const Maker& maker,
                     const ordered_json& comparisons) {
  return made_of(folders, detail, maker, comparisons).page;
}

ordered_json run_document(std::span<const std::string> folders, Detail detail, const Maker& maker,
                          const ordered_json& comparisons) {
  return made_of(folders, detail, maker, comparisons).document;
}

std::string load_page(const LoadSource& load, const Maker& maker) {
  ordered_json document = document_of(maker);
  document["load"] = load_data(load);
  return filled(page_template(), document);
}

}  // namespace tw::report
