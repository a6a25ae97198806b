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
std::optional<Recognition> as_tree(const Pattern& pattern, const Exchanges& exchanges,
                                   std::span<const Channel> channels);
std::optional<Recognition> as_complete(const Pattern& pattern, const Exchanges& exchanges,
                                       std::span<const Channel> channels);
std::optional<Recognition> as_servers(const Pattern& pattern, const Exchanges& exchanges);

/// When the pair begins to send, after the step's first byte: median over the steps, in ns.
double typical_start(const Exchanges& exchanges, int from, int to);

}  // namespace tw::flow
