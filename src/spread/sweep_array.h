// SPDX-License-Identifier: Apache-2.0
// The points of a sweep as tasks of a job array: each is `run` of one point on nodes of its own, into
// its folder of the sweep's, where it is then read.
//
// The sweep's folder must lie where the nodes see it. The job's number is kept in there while it is
// in Slurm's queue: a sweep whose conductor was killed goes on with the job that he has left.

#pragma once

#include "trainwire/command/command.h"
#include "trainwire/command/experiment_file.h"
#include "trainwire/lab/place.h"
#include "trainwire/sweep/sweep.h"

#include <map>
#include <string>
#include <vector>

namespace tw::spread {

/// Whether the sweep is one: by srun, and not inside a job that has its nodes already.
bool is_array(const lab::RunPlace& place);

/// What `run` was asked for, as far as its points have to know.
struct ArrayOptions {
  const command::ExperimentFile& experiment;
  std::vector<std::string> more = {};  ///< options of each point's run
  bool quiet = false;
};

class SweepArray {
 public:
  /// REQUIRES: everything outlives it.
  SweepArray(ArrayOptions options, const sweep::Request& request, std::string folder,
             const lab::Observer& looking, command::Streams streams);

  sweep::Engine engine();

 private:
  void spread(std::vector<std::size_t> points);
  void await_earlier(std::vector<std::size_t>& points);
  void run(const std::vector<std::size_t>& points);
  void wait(const std::string& job, const std::vector<std::size_t>& points);
  sweep::Attempt attempt(std::size_t point, const std::string& at);
  std::vector<std::string> words_of(std::size_t point) const;
  std::string path_of(std::size_t point) const;

  ArrayOptions options_;
  const sweep::Request& request_;
  std::string folder_;
  const lab::Observer& looking_;
  command::Streams streams_;
  std::string experiment_;                    ///< its file
  std::map<std::size_t, std::string> tasks_;  ///< what each point's has printed
  std::map<std::size_t, int> asked_;
  bool interrupted_ = false;
};

}  // namespace tw::spread
