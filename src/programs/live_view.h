// SPDX-License-Identifier: Apache-2.0
// What is seen of somebody's programs while they run: the lines that each job's first rank prints,
// with clock and rate, and record/live.h's file for the local page. Steps are what ranks mark.

#pragma once

#include "trainwire/lab/conduct.h"
#include "trainwire/programs/tail.h"
#include "trainwire/record/live.h"
#include "trainwire/spec/experiment.h"

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace tw::programs {

/// A line as it is shown: "  12.4 s  1.88 Gbit/s  | loss 2.31"; with the job's name where there
/// are several.
std::string shown_line(double elapsed_s, double busiest_bps, const std::string& job,
                       const std::string& line);

class LiveView {
 public:
  /// `line` is called for each line and may be empty. The request's launches know their folder.
  /// Throws SystemError when the file cannot be made.
  LiveView(const spec::Experiment& experiment, const lab::ConductRequest& request,
           std::function<void(const std::string&)> line);

  /// The clock counts from here; before, from when this was made.
  void begin();
  void set_rates(std::span<const double> ports_bps);
  /// Often: shows new lines, and writes a sample when it is due.
  void look();
  /// A sample now, and no more.
  void end(const std::string& why);

  double elapsed_s() const;
  double busiest_bps() const { return busiest_bps_; }

 private:
  struct Job {
    std::string name;  ///< "" for one alone
    Tail output;
    Tail marks;
    std::uint64_t steps = 0;
  };
  void show_lines();
  void sample();

  const network::NetPlan& plan_;
  std::function<void(const std::string&)> line_;
  std::vector<Job> jobs_;
  record::LiveWriter file_;
  record::LiveSample counted_;
  double busiest_bps_ = 0;
  std::int64_t began_ns_;
  std::int64_t looked_ns_ = 0;
  std::int64_t due_ns_;
};

}  // namespace tw::programs
