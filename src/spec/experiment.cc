// SPDX-License-Identifier: Apache-2.0
#include "trainwire/spec/experiment.h"

#include "trainwire/base/error.h"
#include "trainwire/spec/links.h"

#include <fmt/format.h>

namespace tw::spec {

std::string host_name(int host) { return fmt::format("host{}", host); }

std::optional<int> host_number(const Network& network, std::string_view name) {
  const std::optional<int> number = number_after("host", name);
  return number && *number < *network.hosts ? number : std::nullopt;
}

std::vector<int> placement(const Network& network, const Job& job) {
  std::vector<int> hosts;
  hosts.reserve(job.placement->size());
  for (const std::string& name : *job.placement) {
    const std::optional<int> host = host_number(network, name);
    check(host.has_value(), "a resolved job runs on hosts of its network");
    hosts.push_back(*host);
  }
  return hosts;
}

}  // namespace tw::spec
