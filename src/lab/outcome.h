// SPDX-License-Identifier: Apache-2.0
// What came of ranks on a network: captures analysed, tables, and the record of network, ranks and
// machine.

#pragma once

#include "trainwire/lab/conduct.h"
#include "trainwire/record/run.h"
#include "trainwire/record/run_folder.h"
#include "trainwire/summarise/capture.h"
#include "trainwire/summarise/jobs.h"
#include "trainwire/transport/tcp/address.h"
#include "trainwire/usage/links.h"
#include "trainwire/usage/shares.h"

#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace tw::lab {

/// Whose flows are whose: those from and to `sinks` are cross traffic, those from and to where the
/// ranks of a job listen are its own.
struct Endpoints {
  std::vector<transport::tcp::Endpoint> sinks = {};
  std::vector<std::vector<transport::tcp::Endpoint>> ranks = {};  ///< by job
  /// On machines others speak too: what is no rank's is nobody's of the run.
  bool among_others = false;
  bool own_clocks = false;  ///< every host has its own
};

/// The captures of a run, analysed; empty when there are none. Several jobs are told apart.
summarise::CaptureResult analysed(const ConductOutcome& outcome, const network::NetPlan& plan,
                                  std::span<const summarise::KnownJob> jobs,
                                  const Endpoints& endpoints = {});

/// What jobs and cross traffic sent, as the captures show it.
std::vector<usage::Sent> sent_by(const summarise::CaptureResult& result,
                                 const network::NetPlan& plan);

/// Tables of captures, links, samples and load.
void write_tables(const summarise::CaptureResult& result, const ConductOutcome& outcome,
                  const network::NetPlan& plan, record::RunFolder& folder);

/// What captures show, and how network, ranks and machine were.
record::Run described(std::string_view command, const summarise::CaptureResult& result,
                      const ConductOutcome& outcome, const ConductRequest& request);

/// Asked for, measured, counted; rates are those of the counted time.
record::Network network_of(const ConductOutcome& outcome, const network::NetPlan& plan,
                           usage::TimeSpan counted);

/// Why the run is not whole; "" when it is.
std::string partial_of(const ConductOutcome& outcome);

void remove_captures(const ConductOutcome& outcome);

}  // namespace tw::lab
