// SPDX-License-Identifier: Apache-2.0
// Where the time of a step goes, and the verdict on it: of a job, and of the run as a whole.
//
// Parts add up to the step. Names of parts and causes are these words:
//
//   compute        forward and backward of a rank that is not late
//   bandwidth      transfer at the rate of links that are all alike
//   latency        delay of links, and round trips in which windows grow
//   late_rank      waiting for a host that computes longer than the others
//   slow_link      waiting behind a link that is slower than its peers, or a core that is too narrow
//   loss           repair of lost packets
//   cross_traffic  sharing links with cross traffic
//   other_job      sharing links with other jobs
//   window         windows held below what the path could carry, by a socket's buffer
//   idle_restart   slow start after a pause, in every step
//   missing_rank   a rank that never came to an exchange in which others wait; only a cause
//   unexplained    measured, but not by any of these; only a part
//   unknown, none  only causes: what there is says too little; there is nothing to blame
//
// Limits: an accounting is of the median step; what happens in few steps is not in it. Causes that
// act together are told in a fixed order, so that a part is what its cause costs when those before
// it in that order are gone (account/causes.h).

#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace tw::record {

struct AccountPart {
  std::string name = {};
  double seconds = 0;
  double low_s = 0;  ///< its interval
  double high_s = 0;
  bool operator==(const AccountPart&) const = default;
};

struct Accounting {
  std::string job = {};     ///< empty where there is one
  std::string method = {};  ///< in words: by what it was found
  double step_s = 0;        ///< median, as measured or simulated
  std::vector<AccountPart> parts = {};
  double overlap_s = 0;                       ///< exchange that computing hid: not in the parts
  std::vector<std::string> not_visible = {};  ///< sentences
  bool operator==(const Accounting&) const = default;
};

/// Seconds of a part; 0 where there is none of that name.
double part_s(const Accounting& accounting, std::string_view name);

struct Verdict {
  std::string job = {};    ///< empty where there is one
  std::string cause = {};  ///< one of the words above
  std::string where = {};  ///< "host1 to_host", "host2", "core"; empty: everywhere, or nowhere
  double cost_s = 0;       ///< of a step
  double share = 0;        ///< of the step
  double gain_s = 0;       ///< what a step would be shorter by, as the text says
  std::array<double, 2> gain_ci = {};  ///< its interval
  double confidence = 0;               ///< 0 to 1
  std::string text = {};               ///< one or two sentences
  bool operator==(const Verdict&) const = default;
};

}  // namespace tw::record
