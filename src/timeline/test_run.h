// SPDX-License-Identifier: Apache-2.0
// Run folders made by hand in tests.

#pragma once

#include "trainwire/result/test_folder.h"

#include <filesystem>
#include <string>
#include <string_view>

namespace tw::timeline {

inline std::string run_document(std::string_view summary = "{}", std::string_view rows = "{}") {
  return R"({"schema": 1, "program": "trainwire", "command": "run", "complete": true, "rows": )" +
         std::string(rows) + R"(, "provenance": {}, "summary": )" + std::string(summary) + "}";
}

/// A folder NAME with a run.json in it.
inline std::string make_run(const result::TestFolder& folder, const std::string& name,
                            const std::string& document = run_document()) {
  std::filesystem::create_directories(folder / name);
  folder.file(name + "/run.json", document);
  return folder / name;
}

/// Two points, each with one step of one rank.
inline std::string make_sweep(const result::TestFolder& folder) {
  const std::string sweep =
      make_run(folder, "sweep.run", run_document(R"({"sweep": {"points": 2}, "points": [
        {"folder": "point-000", "settings": ["job.model=\"a\"", "traffic.0.load=0"]},
        {"folder": "point-001", "settings": ["job.model=\"a\"", "traffic.0.load=0.5"]}]})"));
  folder.file("sweep.run/points.csv",
              "folder,settings,step_mean_s,step_p99_s,scale,traffic_achieved_bps\n"
              "point-000,traffic.0.load=0,0.5,0.6,10,0\n"
              "point-001,traffic.0.load=0.5,0.7,0.9,10,100000000\n");
  for (const std::string point : {"point-000", "point-001"}) {
    make_run(folder, "sweep.run/" + point);
    folder.file("sweep.run/" + point + "/steps.csv",
                "rank,step,phase,start_ns,end_ns,job\n0,0,step,1000,2000,job0\n");
  }
  return sweep;
}

}  // namespace tw::timeline
