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

std::string page_with(std::span<const std::string> folders, const Limits& limits, Detail detail,
                      const Maker& maker) {
  ordered_json document = document_of(maker);
  document["full"] = detail == Detail::Full;
  document["runs"] = ordered_json::array();
  for (const std::string& folder : folders) document["runs"].push_back(run_data(folder, limits));
  return filled(page_template(), document);
}

}  // namespace

std::string run_page(std::span<const std::string> folders, Detail detail, const Maker& maker) {
  check(!folders.empty(), "a page needs a run");
  if (detail == Detail::Full) {
    return page_with(folders, without_limits_of_windows({}), detail, maker);
  }
  double factor = folders.size() > 2 ? static_cast<double>(folders.size()) / 2 : 1;
  std::string page;
  for (int i = 0; i < kAttempts; ++i, factor *= 2) {
    page = page_with(folders, divided({}, factor), detail, maker);
    if (page.size() <= kMostBytes) return page;
  }
  return page;
}

std::string load_page(const LoadSource& load, const Maker& maker) {
  ordered_json document = document_of(maker);
  document["load"] = load_data(load);
  return filled(page_template(), document);
}

}  // namespace tw::report
