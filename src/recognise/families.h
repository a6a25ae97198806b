// SPDX-License-Identifier: Apache-2.0
// The strategies that are recognised by the shape of their graph; recognise.h lists them.

#pragma once

#include "trainwire/recognise/pattern.h"
#include "trainwire/recognise/recognise.h"

#include <optional>
#include <span>

namespace tw::recognise {

/// How far pairs that should carry the same may differ: framing, buffers and small side messages.
inline constexpr double kEven = 0.04;

std::optional<Recognition> as_ring(const Pattern& pattern, const rhythm::Steps& exchanges,
                                   std::span<const rhythm::Channel> channels);
/// Two rings through all hosts, one each way, as libraries lay them to use both directions of the
/// links. Time tells them from recursive doubling of four hosts, and from two rings in turn.
std::optional<Recognition> as_opposite_rings(const Pattern& pattern, const rhythm::Steps& exchanges,
                                             std::span<const rhythm::Channel> channels);
/// Whether each of four hosts in a circle sends to its second neighbour only when it has much of
/// the first one's data, as in recursive doubling, where the second gets the sum with the first.
/// False where they are in no circle.
bool take_partners_in_turn(const Pattern& pattern, const rhythm::Steps& exchanges,
                           std::span<const rhythm::Channel> channels);
std::optional<Recognition> as_tree(const Pattern& pattern, const rhythm::Steps& exchanges,
                                   std::span<const rhythm::Channel> channels);
std::optional<Recognition> as_complete(const Pattern& pattern, const rhythm::Steps& exchanges,
                                       std::span<const rhythm::Channel> channels);
std::optional<Recognition> as_servers(const Pattern& pattern, const rhythm::Steps& exchanges);
/// The same bytes from one host to all others in every step. Not called "broadcast" like the one of
/// the initial model, which is no part of the steps.
std::optional<Recognition> as_broadcast(const Pattern& pattern, const rhythm::Steps& exchanges);

/// When the pair begins to send, after the step's first byte: median over the steps, in ns.
double typical_start(const rhythm::Steps& exchanges, int from, int to);

}  // namespace tw::recognise
