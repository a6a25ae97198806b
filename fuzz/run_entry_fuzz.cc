// SPDX-License-Identifier: Apache-2.0
// Any JSON may stand in run.json: its entry in the list has the same members, always.

#include "trainwire/base/error.h"
#include "trainwire/result/json_text.h"
#include "trainwire/serve/run_entry.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

using namespace tw;
using namespace tw::serve;
using nlohmann::ordered_json;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const ordered_json document = result::parse_json(text);
  if (!document.is_object()) return 0;
  const ordered_json entry = run_entry(document, document.value("experiment", ordered_json()));
  check(entry.size() == 12 && entry["jobs"].is_array(), "an entry has all its members");
  check(entry["sparkline"].is_null() || entry["sparkline"].size() <= kSparklinePoints,
        "a sparkline is short");
  return 0;
}
