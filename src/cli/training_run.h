// SPDX-License-Identifier: Apache-2.0
// Our own ranks on a network: what run and bench have in common.

#pragma once

#include "trainwire/cli/command.h"
#include "trainwire/lab/conduct.h"
#include "trainwire/lab/live_log.h"
#include "trainwire/lab/rank_talk.h"
#include "trainwire/lab/traffic_talk.h"
#include "trainwire/lab/training.h"
#include "trainwire/spec/experiment.h"

#include <optional>
#include <string>
#include <vector>

namespace tw::cli {

/// Where ranks run, and how much is asked of that place.
struct TrainingPlace {
  std::string on = "emulated";
  bool no_check = false;
  bool accept_network = false;
  bool quiet = false;
  bool loopback() const { return on == "loopback"; }
};
void add_training_place(CommandLine& app, TrainingPlace& place);

class TrainingRun {
 public:
  /// REQUIRES: what is passed outlives it. Throws SpecError for what cannot be run.
  TrainingRun(const TrainingPlace& place, const spec::Experiment& experiment, Streams streams);

  /// Sweeps what killed runs left, becomes able to make networks, chooses the engine. To be called
  /// before this process has threads.
  void prepare();
  /// The tasks of all ranks, sources and sinks; their files go to `folder`.
  void make_jobs(const std::string& folder);
  /// Builds the network, runs the ranks amid the cross traffic and shows how far they are, in
  /// `live` too. Throws Error.
  lab::ConductOutcome conduct(lab::RankTalk& talk, lab::LiveLog* live = nullptr);
  /// The first line of a live log.
  record::LiveHeader live_header() const;

  lab::ConductRequest& request() { return request_; }
  const lab::ConductRequest& request() const { return request_; }
  std::vector<lab::TrainingJob>& jobs() { return jobs_; }
  const std::vector<lab::TrainingJob>& jobs() const { return jobs_; }
  const std::vector<lab::CrossTraffic>& traffic() const { return traffic_; }
  /// By entry of traffic(); nothing before conduct(), of silent ones, or when it was cut off.
  const std::vector<std::optional<traffic::Outcome>>& traffic_outcomes() const {
    return traffic_outcomes_;
  }
  /// Where the cross traffic went.
  const std::vector<transport::tcp::Endpoint>& sinks() const { return sinks_; }
  /// "engine nfqueue", or what loopback means.
  std::string place_text() const;

 private:
  std::vector<lab::HostAddress> hosts() const;

  const TrainingPlace& place_;
  spec::Experiment experiment_;  ///< as it is run: scaled
  Streams streams_;
  lab::ConductRequest request_;
  std::vector<lab::TrainingJob> jobs_;
  std::vector<lab::CrossTraffic> traffic_;
  std::vector<std::optional<traffic::Outcome>> traffic_outcomes_;
  std::vector<transport::tcp::Endpoint> sinks_;
};

}  // namespace tw::cli
