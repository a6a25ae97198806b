// SPDX-License-Identifier: Apache-2.0
// Any JSON may stand in run.json: its entry in the list has the same members, always.

#include "trainwire/base/error.h"
#include "trainwire/record/json.h"
#include "trainwire/record/run_file.h"
#include "trainwire/result/json_text.h"
#include "trainwire/serve/run_entry.h"

#include <nlohmann/json.hpp>

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
  const record::RunFile file = record::run_file_from(document);
  const ordered_json entry = run_entry(file, record::run_from(document));
  check(entry.size() == 12 && entry["jobs"].is_array(), "an entry has all its members");
  check(entry["sparkline"].is_null() || entry["sparkline"].size() <= kSparklinePoints,
        "a sparkline is short");
  const ordered_json written = record::to_json(file.summary);
  check(record::dumped(record::to_json(record::run_from(written))) == record::dumped(written),
        "what is written is read back");
  return 0;
}
