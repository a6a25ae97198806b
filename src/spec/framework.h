// SPDX-License-Identifier: Apache-2.0
// Frameworks as presets: what a job does on the wire when it runs under TensorFlow, Horovod, KungFu
// or PyTorch, as far as the published measurements and sources tell.

#pragma once

#include "trainwire/spec/experiment.h"

#include <optional>
#include <span>
#include <string_view>

namespace tw::spec {

/// What a framework brings; a key it says nothing about keeps its default.
struct Framework {
  std::string_view name;
  std::string_view strategy;
  std::string_view transport;
  Bytes bucket;
  Bytes first_bucket = {};  ///< of a step, where it is smaller than the others; 0: it is not
  std::optional<Duration> cycle = {};  ///< that it gathers gradients by
  bool overlap;
  Duration tensor_time = {};  ///< what it adds to a step for each tensor, beside computing
  std::optional<int> pieces = {};
  std::optional<int> connections = {};
  std::optional<int> side_connections = {};
  std::string_view variant = {};  ///< whose definition a model's short name means: "torchvision"
};

std::span<const Framework> frameworks();
std::span<const std::string_view> framework_names();

/// The job's framework; nullptr when it has none. REQUIRES: the framework exists.
const Framework* framework_of(const Job& job);

/// Connections that a framework makes beside those of gradients and of its side talk.
struct BesideConnections {
  int idle = 0;     ///< of each other rank with the first: made, and not used
  int refused = 0;  ///< attempts of all ranks together that find nobody listening
  bool operator==(const BesideConnections&) const = default;
};
/// Of the job's framework under its strategy, between so many ranks. Fitted to what the TUM study
/// counted between four.
BesideConnections beside_connections(const Job& job, int ranks);
/// Whether its workers connect by a topology besides its strategy.
bool has_topology(const Job& job);

/// Gives the job's framework its say on every setting that nobody set. REQUIRES: the framework
/// exists.
void apply_framework(Job& job);

}  // namespace tw::spec
