// SPDX-License-Identifier: Apache-2.0
// Connections of one sender, told by when they begin to send.
//
// Libraries stripe what a rank sends over several connections (NCCL's channels and sockets). After a pause one thread begins on
// all of them, so that from step to step they begin at nearly constant distances, while other ranks begin when they are ready:
// the distance between their beginnings varies by ten times as much. How much it varies is compared, not how long it is, so that
// ranks that are always late are not taken for one another.
//
// Limits: every sender has as many connections as the others, two senders at least, and four pauses that stand out. Ranks of one
// process group that begin together to a few microseconds look like connections of one.

#pragma once

#include "trainwire/flow/flow.h"

#include <cstddef>
#include <vector>

namespace tw::flow {

/// Numbers of the connections of each sender, in groups of equal size; nothing where that does not show, or each has one.
/// `lanes`: what each connection sends, in time order; `leads_to`: for each the port at its other end.
std::vector<std::vector<std::size_t>> same_senders(
    const std::vector<const std::vector<Burst>*>& lanes, const std::vector<int>& leads_to);

}  // namespace tw::flow
