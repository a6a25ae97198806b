// SPDX-License-Identifier: Apache-2.0
// What came of ranks on a network: captures analysed, tables, and the record of network, ranks and
// machine.

#pragma once

#include "trainwire/lab/conduct.h"
#include "trainwire/record/run.h"
#include "trainwire/record/run_folder.h"
#include "trainwire/summarise/capture.h"
#include "trainwire/transport/tcp/address.h"

#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace tw::lab {

/// The captures of a run, analysed; empty when there are none. Flows from and to `sinks` are cross
/// traffic.
summarise::CaptureResult analysed(const ConductOutcome& outcome, const network::NetPlan& plan,
                                  const std::optional<imports::StepLog>& log,
                                  std::span<const transport::tcp::Endpoint> sinks = {});

/// Tables of captures, links, samples and load.
void write_tables(const summarise::CaptureResult& result, const ConductOutcome& outcome,
                  const network::NetPlan& plan, record::RunFolder& folder);

/// What captures show, and how network, ranks and machine were.
record::Run described(std::string_view command, const summarise::CaptureResult& result,
                      const ConductOutcome& outcome, const ConductRequest& request);

/// Asked for and measured.
record::Network described(const network::NetPlan& plan,
                          const std::vector<testbed::PathCheck>& checks);

/// From the counters that were sampled meanwhile: the fullest direction of a link.
std::optional<record::Utilisation> busiest_link(const ConductOutcome& outcome,
                                                const network::NetPlan& plan, std::int64_t begin_ns,
                                                std::int64_t end_ns);

/// Why the run is not whole; "" when it is.
std::string partial_of(const ConductOutcome& outcome);

void remove_captures(const ConductOutcome& outcome);

}  // namespace tw::lab
