// SPDX-License-Identifier: Apache-2.0
#include "trainwire/foreign/design.h"

#include "trainwire/base/error.h"
#include "trainwire/base/printable.h"

#include <fmt/format.h>

namespace tw::foreign {

namespace {

/// "HYBRID_DATA_MODEL", "DATA", "MICRO" alone at the beginning, and then how many layers there are.
bool begins_as_workload(std::string_view text) {
  const auto word = text.substr(0, text.find_first_of(" \t\r\n"));
  if (word != "MICRO" && word != "DATA" && word != "MODEL" && !word.starts_with("HYBRID_"))
    return false;
  const std::size_t end = text.find('\n');
  const std::size_t next = end == text.npos ? end : text.find_first_not_of(" \t\r\n", end);
  return next != text.npos && text[next] >= '0' && text[next] <= '9';
}

void set(Design& into, const std::string& flag, std::string value) {
  into.flags.values.try_emplace(flag, std::move(value));
}

}  // namespace

std::string_view design_kind(std::string_view text) {
  const std::string_view beginning = text.substr(0, 4096);
  const auto has = [&](std::string_view part) {
    return beginning.find(part) != std::string_view::npos;
  };
  if (begins_as_workload(beginning) || has("model_parallel_NPU_group")) return "simai";
  if (has("comm_type,comm_group,")) return "aicb";
  const bool has_counts = has("npus_count:") || has("\"npus_count\"");
  if (has_counts && (has("bandwidth:") || has("\"bandwidth\""))) return "astra_network";
  if (has("\"units-count\"") && has("\"link-bandwidth\"")) return "astra_network";
  return has("\"all-reduce-implementation\"") ? "astra_system" : "";
}

void add_design(std::string_view text, const std::string& name, Design& into) {
  const std::string_view kind = design_kind(text);
  if (kind == "simai") return add_simai(text, name, into);
  if (kind == "aicb") return add_aicb(text, name, into);
  if (kind == "astra_network") return add_astra_network(text, name, into);
  if (kind == "astra_system") return add_astra_system(text, name, into);
  throw DataError(
      fmt::format("reading {}: neither a workload of SimAI or AICB nor a network (YAML or JSON) or "
                  "system (JSON) of "
                  "ASTRA-sim; give one of these",
                  printable(name)));
}

void settle(Design& into) {
  const Exchange exchange = into.exchange.value_or(Exchange{});
  const double npus = into.hosts ? into.hosts->count * into.hosts->inside : 0;
  const double ranks = into.exchange ? exchange.ranks : npus;
  if (ranks >= 1) {
    set(into, "--ranks", fmt::format("{:.0f}", ranks));
  } else if (into.exchange && npus >= 1) {
    set(into, "--ranks", fmt::format("{:.0f}", npus));
  } else if (into.exchange && !into.flags.values.contains("--ranks")) {
    into.remarks.emplace_back("it does not say how many ranks exchange gradients: give --ranks");
  }
  if (!into.hosts) {
    if (ranks >= 1) set(into, "--hosts", fmt::format("{:.0f}", ranks));
    return;
  }
  // "400Gbit" of 50 GB/s.
  const double links = std::max(1.0, into.hosts->inside / exchange.tensor);
  set(into, "--hosts", fmt::format("{:.0f}", into.hosts->count));
  set(into, "--rate", fmt::format("{:.10g}Gbit", 8 * into.hosts->gigabytes * links));
  if (exchange.tensor > 1) {
    into.remarks.push_back(fmt::format(
        "a rank is one GPU of each tensor-parallel group of {:.0f}, and has its own share of a "
        "host's link: the others exchange their gradients beside it",
        exchange.tensor));
  }
  if (exchange.gpus >= 1 && exchange.gpus != npus) {
    into.remarks.push_back(fmt::format(
        "the workload is for {:.0f} GPUs, the network has {:.0f} NPUs: ranks are the workload's, "
        "hosts the network's",
        exchange.gpus, npus));
  }
}

}  // namespace tw::foreign
