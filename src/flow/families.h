// SPDX-License-Identifier: Apache-2.0
// The strategies that are recognised by the shape of their graph; recognise.h lists them.

#pragma once

#include "trainwire/flow/pattern.h"
#include "trainwire/flow/recognise.h"

#include <optional>
#include <span>

namespace tw::flow {

/// How far pairs that should carry the same may differ: framing, buffers and small side messages.
inline constexpr double kEven = 0.04;

std::optional<Recognition> as_ring(const Pattern& pattern, const Exchanges& exchanges,
                                   std::span<const Channel> channels);
/// Two rings through all hosts, one each way, as libraries lay them to use both directions of the
/// links. Time tells them from recursive doubling of four hosts, and from two rings in turn.
std::optional<Recognition> as_opposite_rings(const Pattern& pattern, const Exchanges& exchanges,
                                             std::span<const Channel> channels);
/// Whether each of four hosts in a circle sends to its second neighbour only when it has much of
/// the first one's data, as in recursive doubling, where the second gets the sum with the first.
/// False where they are in no circle.
bool take_partners_in_turn(const Pattern& pattern, const Exchanges& exchanges,
                           std::span<const Channel> channels);
std::optional<Recognition> as_tree(const Pattern& pattern, const Exchanges& exchanges,
                                   std::span<const Channel> channels);
std::optional<Recognition> as_complete(const Pattern& pattern, const Exchanges& exchanges,
                                       std::span<const Channel> channels);
std::optional<Recognition> as_servers(const Pattern& pattern, const Exchanges& exchanges);
/// The same bytes from one host to all others in every step. Not called "broadcast" like the one of
/// the initial model, which is no part of the steps.
std::optional<Recognition> as_broadcast(const Pattern& pattern, const Exchanges& exchanges);

/// When the pair begins to send, after the step's first byte: median over the steps, in ns.
double typical_start(const Exchanges& exchanges, int from, int to);

}  // namespace tw::flow
