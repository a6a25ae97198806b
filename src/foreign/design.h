// SPDX-License-Identifier: Apache-2.0
// Experiments from what other simulators are given: workloads of SimAI (text) and AICB (CSV), networks (YAML or JSON) and systems
// (JSON) of ASTRA-sim.
//
// A file says a few things of a job or of a network; what it says becomes the flags that `new` takes, and what cannot be said
// in an experiment becomes a remark, so that nothing is dropped silently. Files go together: a workload, a network and a
// system make one experiment.
//
// Limits: of a workload the gradients' exchange is taken (weights' communication, or that of data-parallel groups); tensor,
// expert and pipeline traffic is remarked on. Of a network of several dimensions the last is what joins hosts, and the others are
// inside a host.

#pragma once

#include "trainwire/sketch/sketch.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tw::foreign {

/// What a workload says of who exchanges gradients. A rank of the experiment is one GPU of each tensor-parallel group: others of the group
/// exchange their own gradients at the same time, over their own share of a host's link.
struct Exchange {
  double ranks = 0;   ///< 0: not told
  double tensor = 1;  ///< GPUs of a tensor-parallel group
  double gpus = 0;    ///< of the whole job; 0: not told
};

/// What a network says: hosts of as many NPUs, each of which has a link to the outside.
struct Hosts {
  double count = 0;
  double inside = 1;
  double gigabytes = 0;  ///< a second, of one NPU's links to the outside together
};

struct Design {
  sketch::Sketch flags = {};
  std::vector<std::string> remarks = {};  ///< sentences
  std::optional<Exchange> exchange = {};
  std::optional<Hosts> hosts = {};
};

/// "simai", "aicb", "astra_network", "astra_system", or "" for another.
std::string_view design_kind(std::string_view text);

/// Adds what one file says; what an earlier one said stays. Throws DataError naming `name` and what is wrong.
void add_design(std::string_view text, const std::string& name, Design& into);

/// After all files, in whatever order they came: ranks, hosts and their rate, where no flag says them.
void settle(Design& into);

/// For each kind; design.cc tells them apart.
void add_simai(std::string_view text, const std::string& name, Design& into);
void add_aicb(std::string_view text, const std::string& name, Design& into);
void add_astra_network(std::string_view text, const std::string& name, Design& into);
void add_astra_system(std::string_view text, const std::string& name, Design& into);

}  // namespace tw::foreign
