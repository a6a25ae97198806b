// SPDX-License-Identifier: Apache-2.0
// What each direction of each link was to do and did, core links as those of hosts: asked for,
// measured before the run, counted while it went on.

#pragma once

#include "trainwire/network/plan.h"
#include "trainwire/record/network.h"
#include "trainwire/result/table_file.h"
#include "trainwire/testbed/check.h"
#include "trainwire/watch/record.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tw::usage {

struct TimeSpan {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
};

/// Asked for and measured. The rate of a link is that of a path that it limits: a path limited
/// elsewhere says nothing of it.
record::Network described(const network::NetPlan& plan,
                          const std::vector<testbed::PathCheck>& checks);

/// Adds what was counted: bytes and packets of the whole run, rate and share over the span's
/// samples, the last of which is the first after its end. Nothing where nobody counted.
/// REQUIRES: `network` describes the plan, whose ports the record's samples have.
void count(record::Network& network, const network::NetPlan& plan, const watch::WatchRecord& record,
           TimeSpan span);

/// The fullest direction of a link; nothing where none was counted.
std::optional<record::Utilisation> busiest(const record::Network& network);

void write_links(const record::Network& network, result::TableFile& table);
/// One row for each link and sample in which it changed.
void write_samples(const watch::WatchRecord& record, const network::NetPlan& plan,
                   result::TableFile& table);

std::string node_name(const network::NetPlan& plan, int node);

}  // namespace tw::usage
