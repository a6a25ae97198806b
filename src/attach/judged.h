// SPDX-License-Identifier: Apache-2.0
// What a job's connections and devices did while they were watched, and what that says.
//
// TCP itself knows why it does not send: nothing to send (the rank computes or waits), the peer's window is full (the peer
// does not read: it is late), its own buffer is full, or the network takes no more. The shares of time decide. Where no
// connection moves much and a port of an RDMA card does, that port's counters decide: segments out of order or timed out,
// and how long its link was full.
//
// Limits: a peer that does not read may itself wait for a third. What RDMA waits for is not known, only how full its link was.

#pragma once

#include "trainwire/attach/tally.h"
#include "trainwire/record/run.h"

#include <string>
#include <vector>

namespace tw::attach {

/// Says so where less than a second was watched.
record::Verdict judged(const Sums& sums);

/// Of both: that of the packets where it names a cause, with what TCP says of the same; that of TCP otherwise, but for
/// computing where packets move for a tenth of a step or more, and also where a peer does not read for most of the time, of which packets alone
/// make a slow exchange, loss or computing. `moving`: that share, 0 where there are no steps.
record::Verdict of_both(const record::Verdict& packets, const record::Verdict& sockets,
                        double moving);

/// Sentences worth a line: segments sent again, packets dropped by devices, what RDMA cards count of trouble.
std::vector<record::Finding> findings_of(const Sums& sums);

/// Ways that moved something, most bytes first.
using WayPlace = std::map<std::pair<std::string, std::string>, Way>::const_iterator;
std::vector<WayPlace> busy_ways(const Sums& sums);

}  // namespace tw::attach
