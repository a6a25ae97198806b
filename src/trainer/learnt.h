// SPDX-License-Identifier: Apache-2.0
// What a rank that really trained has to tell in the end.

#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace tw::trainer {

/// Random sums of its parameters that a rank tells, besides the sum of their squares.
inline constexpr std::size_t kDigestSums = 16;

/// A model that was kept after some steps, judged by the test set.
struct Look {
  std::int64_t steps = 0;    ///< done, warm-up included
  std::int64_t time_ns = 0;  ///< after the rank's first step began
  double loss = 0;
  double accuracy = 0;
  bool operator==(const Look&) const = default;
};

/// Of an asynchronous server: what others had pushed since a worker's last answer.
struct Staleness {
  std::int64_t pushes = 0;
  std::int64_t sum = 0;  ///< over all pushes
  std::int64_t most = 0;
  bool operator==(const Staleness&) const = default;
};

struct Learnt {
  std::string data = {};
  std::int64_t train_samples = 0;
  std::int64_t test_samples = 0;
  std::int64_t parameters = 0;
  std::vector<double> digest = {};  ///< of the last model
  std::vector<Look> looks = {};
  Staleness staleness = {};
  bool operator==(const Learnt&) const = default;
};

nlohmann::json to_json(const Learnt& learnt);
/// Throws what nlohmann::json throws.
Learnt learnt_from(const nlohmann::json& document);

}  // namespace tw::trainer
