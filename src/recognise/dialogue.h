// SPDX-License-Identifier: Apache-2.0
// Asynchronous parameter servers: every worker sends its gradients when it has them, and gets the
// model back at once, whatever the other workers do.
//
// Then no two workers keep step, and no channel need have a rhythm that stands out. What remains is
// a dialogue between each worker and each server: data one way, then as much the other way, in
// turns. Who takes his turn quickly is the server, for the worker computes before he takes his.
//
//   worker -> server   |####|              |####|                 |####|
//   server -> worker          |####|              |####|                 |####|
//
// Limits: gradients that are sent in a smaller format than the model are not looked for.

#pragma once

#include "trainwire/recognise/pulls.h"
#include "trainwire/rhythm/channel.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tw::recognise {

/// What one host sends another until the other sends.
struct Turn {
  int from;  ///< host
  std::int64_t start_ns;
  std::int64_t end_ns;
  double bytes;
};

/// The turns of all channels between two hosts, both ways, in time order. Messages that are small
/// against the data take no turn.
std::vector<Turn> turns_of(std::span<const rhythm::Channel> channels);

/// Each worker's steps, from its data to the answer, with `servers` set. Nothing unless all hosts
/// with large dialogues are workers, who speak with every server, or servers, who answer workers
/// before the others have spoken.
std::optional<Pulls> find_asynchronous_servers(std::span<const rhythm::Channel> channels);

}  // namespace tw::recognise
