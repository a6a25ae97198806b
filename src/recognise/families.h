// SPDX-License-Identifier: Apache-2.0
// The strategies that are recognised by the shape of their graph; recognise.h lists them.

#pragma once

#include "trainwire/recognise/pattern.h"
#include "trainwire/recognise/recognise.h"

#include <span>
#include <vector>

namespace tw::recognise {

/// What there is to explain.
struct Seen {
  const Pattern& pattern;
  const rhythm::Steps& exchanges;
  std::span<const rhythm::Channel> channels;
  Views views;
};

/// Everything of a family that fits, each with its score.
using Offers = std::vector<Recognition>;

Offers as_ring(const Seen& seen);
/// Two rings through all hosts, one each way, as libraries lay them to use both directions of the
/// links. Time tells them from recursive doubling of four hosts, and from two rings in turn.
Offers as_opposite_rings(const Seen& seen);
/// How far it speaks for recursive doubling that each of four hosts in a circle sends to its second
/// neighbour only when it has much of the first one's data: the second gets the sum with the first.
/// In nats; 0 where they are in no circle.
double partners_in_turn(const Seen& seen);
/// The same for two servers of two workers: every other host of the circle sends nothing before it
/// has much of what both neighbours send.
double every_other_answers(const Seen& seen);
Offers as_tree(const Seen& seen);
Offers as_complete(const Seen& seen);
Offers as_servers(const Seen& seen);
/// The same bytes from one host to all others in every step. Not called "broadcast" like the one of
/// the initial model, which is no part of the steps.
Offers as_broadcast(const Seen& seen);
/// What is known by nothing but its bytes: halving-doubling, two trees, recursive doubling, and a
/// library's reduce and broadcast.
Offers by_footprint(const Seen& seen);

/// When the pair begins to send, after the step's first byte: median over the steps, in ns.
double typical_start(const rhythm::Steps& exchanges, int from, int to);

}  // namespace tw::recognise
