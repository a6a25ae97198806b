// SPDX-License-Identifier: Apache-2.0
// Our own ranks on a network, or on this machine's loopback addresses, amid the experiment's cross
// traffic.

#pragma once

#include "trainwire/fleet/fleet.h"
#include "trainwire/lab/conduct.h"
#include "trainwire/lab/fault_player.h"
#include "trainwire/lab/live_log.h"
#include "trainwire/lab/place.h"
#include "trainwire/lab/rank_talk.h"
#include "trainwire/lab/traffic_figures.h"
#include "trainwire/lab/traffic_talk.h"
#include "trainwire/lab/training.h"
#include "trainwire/spec/experiment.h"

#include <memory>
#include <string>
#include <vector>

namespace tw::lab {

class TrainingRun {
 public:
  /// Throws SpecError for what cannot be run.
  TrainingRun(const RunPlace& place, const spec::Experiment& experiment);

  /// Sweeps what killed runs left, becomes able to make networks, chooses the engine. To be called
  /// before this process has threads.
  /// On machines: starts a process on each and waits until all have joined.
  void prepare(const Observer& observer = {});
  /// The tasks of all ranks, sources and sinks; their files go to `folder`.
  void make_jobs(const std::string& folder);
  /// Builds the network, runs the ranks amid the cross traffic and tells how far they are, in
  /// `live` too. Throws Error.
  ConductOutcome conduct(RankTalk& talk, const Observer& observer, LiveLog* live = nullptr);
  /// The first line of a live log.
  record::LiveHeader live_header() const;

  bool loopback() const { return place_.loopback; }
  /// The machines; null where hosts are emulated.
  const fleet::Fleet* fleet() const { return fleet_.get(); }
  ConductRequest& request() { return request_; }
  const ConductRequest& request() const { return request_; }
  std::vector<TrainingJob>& jobs() { return jobs_; }
  const std::vector<TrainingJob>& jobs() const { return jobs_; }
  /// Outcomes: nothing before conduct(), of silent ones, or when it was cut off.
  const TrafficResult& traffic() const { return traffic_; }
  const FaultPlayer& faults() const { return faults_; }
  /// Where the cross traffic went.
  const std::vector<transport::tcp::Endpoint>& sinks() const { return sinks_; }

 private:
  std::vector<HostAddress> hosts() const;

  RunPlace place_;
  std::unique_ptr<fleet::Fleet> fleet_ = {};
  spec::Experiment experiment_;  ///< as it is run: scaled
  ConductRequest request_;
  std::vector<TrainingJob> jobs_;
  TrafficResult traffic_;
  FaultPlayer faults_;
  std::vector<transport::tcp::Endpoint> sinks_;
};

/// As the record names it: "nfqueue", "loopback", "hosts".
std::string engine_name(const TrainingRun& run);

}  // namespace tw::lab
