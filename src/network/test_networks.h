// SPDX-License-Identifier: Apache-2.0
// What tests of this module share: networks from the text of an experiment.

#pragma once

#include "trainwire/network/network.h"
#include "trainwire/spec/parse.h"

#include <string>
#include <vector>

namespace tw::network {

inline spec::Network spec_of(const std::string& keys) {
  return spec::parse("[network]\n" + keys, "x.toml", {}).network;
}

inline Network network_of(const std::string& keys) { return Network(spec_of(keys)); }

inline std::string way(const Network& network, int from, int to) {
  return path_text(network, from, network.path(from, to));
}

/// One of every kind and many sizes, odd ones too.
inline const std::vector<std::string>& varied_networks() {
  static const std::vector<std::string> all{
      "hosts = 1",
      "hosts = 2",
      "hosts = 7",
      "topology = \"dumbbell\"\nhosts = 2",
      "topology = \"dumbbell\"\nhosts = 5\nleft = 1",
      "topology = \"leafspine\"\nhosts = 6\nleaves = 1\nspines = 1",
      "topology = \"leafspine\"\nhosts = 7\nleaves = 3\nspines = 2",
      "topology = \"leafspine\"\nhosts = 16\nleaves = 4\nspines = 5",
      "topology = \"fattree\"\nhosts = 1",
      "topology = \"fattree\"\nhosts = 2",
      "topology = \"fattree\"\nhosts = 3",
      "topology = \"fattree\"\nhosts = 16",
      "topology = \"fattree\"\nhosts = 17",
      "topology = \"fattree\"\nhosts = 54",
  };
  return all;
}

}  // namespace tw::network
