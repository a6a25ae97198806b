// SPDX-License-Identifier: Apache-2.0
#include "trainwire/foreign/design.h"

#include "trainwire/base/error.h"
#include "trainwire/base/printable.h"

#include <fmt/format.h>

namespace tw::foreign {

std::string_view design_kind(std::string_view text) {
  const std::string_view beginning = text.substr(0, 4096);
  const auto has = [&](std::string_view part) {
    return beginning.find(part) != std::string_view::npos;
  };
  if (beginning.starts_with("HYBRID_") || beginning.starts_with("MICRO") ||
      beginning.starts_with("DATA ") || has("model_parallel_NPU_group"))
    return "simai";
  if (has("comm_type,comm_group,comm_group_size")) return "aicb";
  if (has("npus_count:") && has("bandwidth:")) return "astra_network";
  return has("\"all-reduce-implementation\"") ? "astra_system" : "";
}

void add_design(std::string_view text, const std::string& name, Design& into) {
  const std::string_view kind = design_kind(text);
  if (kind == "simai") return add_simai(text, name, into);
  if (kind == "aicb") return add_aicb(text, name, into);
  if (kind == "astra_network") return add_astra_network(text, name, into);
  if (kind == "astra_system") return add_astra_system(text, name, into);
  throw DataError(fmt::format(
      "reading {}: neither a workload of SimAI or AICB nor a network (YAML) or system (JSON) of "
      "ASTRA-sim; give one of these",
      printable(name)));
}

}  // namespace tw::foreign
