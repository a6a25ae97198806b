// SPDX-License-Identifier: Apache-2.0
#include "trainwire/programs/marks.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace tw::programs {

std::optional<imports::StepLog> read_marks(const lab::LaunchRequest& job) {
  std::string text = "rank,step,start,end\n";
  bool any = false;
  for (std::size_t rank = 0; rank < job.placement.size(); ++rank) {
    std::ifstream file(lab::marks_file(job, static_cast<int>(rank)));
    for (std::string line; std::getline(file, line);) {
      if (line.empty() || line.starts_with("rank")) continue;
      text += line + "\n";
      any = true;
    }
  }
  if (!any) return {};
  return imports::parse_step_log(text, job.marks_folder + "/marks");
}

void add_marked(const lab::LaunchRequest& job, const std::optional<imports::StepLog>& marks,
                record::MarkedSteps& steps) {
  if (!marks) return;
  std::map<int, std::vector<double>> times;
  for (const imports::LoggedStep& step : marks->steps) {
    times[step.rank].push_back(1e-9 * static_cast<double>(step.end_ns - step.start_ns));
  }
  for (auto& [rank, seconds] : times) {
    std::sort(seconds.begin(), seconds.end());
    record::RankSteps made{
        .rank = rank, .count = seconds.size(), .median_s = seconds[seconds.size() / 2]};
    if (!job.name.empty()) made.job = job.name;
    steps.per_rank.push_back(std::move(made));
  }
}

}  // namespace tw::programs
