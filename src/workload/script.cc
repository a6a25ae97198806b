// SPDX-License-Identifier: Apache-2.0
#include "trainwire/workload/script.h"

#include <fmt/format.h>

namespace tw::workload {
namespace {

bool serves_each_for_itself(const Training& training, int rank) {
  return training.asynchronous() && training.is_server(rank);
}

std::vector<Act> drawing_script() { return {{.what = What::Backward}, {.what = What::Pull}}; }

/// Bucket by bucket, in the order of layers.
void append_forward(const Training& training, std::vector<Act>& script) {
  if (!training.forward_overlap || training.buckets.empty()) {
    script.push_back({What::Forward, kWholePayload, Phase::Forward});
    return;
  }
  for (int b = static_cast<int>(training.buckets.size()) - 1; b >= 0; --b) {
    script.push_back({What::Need, b, Phase::Forward});
    script.push_back({What::Forward, b, Phase::Forward});
  }
}

/// Backward, and the exchange of what it fills.
void append_exchange(const Training& training, bool computes, std::vector<Act>& script) {
  const int buckets = static_cast<int>(training.buckets.size());
  const Phase while_computing = computes ? Phase::Backward : Phase::Wait;
  for (int b = 0; b < buckets; ++b) {
    if (computes) script.push_back({What::Backward, b, Phase::Backward});
    if (training.overlap) script.push_back({What::Begin, b, while_computing});
  }
  if (computes && buckets == 0) script.push_back({What::Backward, kWholePayload, Phase::Backward});
  for (int i = 0; !training.overlap && i < buckets; ++i) {
    // What forward needs first goes first.
    const int b = training.forward_overlap ? buckets - 1 - i : i;
    script.push_back({What::Begin, b, Phase::Wait});
    if (!training.forward_overlap) script.push_back({What::Await, b, Phase::Wait});
  }
  const bool awaits = training.forward_overlap ? !computes : training.overlap;
  if (awaits) script.push_back({What::Await, kWholePayload, Phase::Wait});
}

std::string of_bucket(int bucket, std::string_view whole) {
  return bucket == kWholePayload ? std::string(whole) : fmt::format("bucket {}", bucket);
}

}  // namespace

std::vector<Act> step_script(const Training& training, int rank) {
  if (training.row().draws_peers) return drawing_script();
  if (serves_each_for_itself(training, rank)) return {{.what = What::Serve}};
  const bool computes = !training.is_server(rank);
  std::vector<Act> script;
  if (computes) append_forward(training, script);
  if (!training.asynchronous()) script.push_back({.what = What::Agree});
  append_exchange(training, computes, script);
  if (computes) script.push_back({What::Update, kWholePayload, Phase::Update});
  return script;
}

std::int64_t script_repeats(const Training& training, int rank) {
  return serves_each_for_itself(training, rank) ? 1 : training.warmup + training.steps;
}

std::vector<int> side_peers(const Training& training, int rank) {
  std::vector<int> peers;
  const int ranks = training.ranks();
  if (ranks < 2) return peers;
  const auto add = [&](int peer) {
    peers.insert(peers.end(), static_cast<std::size_t>(training.side_connections), peer);
  };
  if (rank > 0) add(0);
  for (int other = 1; rank == 0 && other < ranks; ++other) add(other);
  // The first rank's own, with the second.
  if (rank == 0) add(1);
  if (rank == 1) add(0);
  return peers;
}

std::string text_of(const Act& act) {
  switch (act.what) {
    case What::Forward:
      return fmt::format(
          "compute until forward's end{}",
          act.bucket == kWholePayload ? "" : fmt::format(" of bucket {}", act.bucket));
    case What::Need:
      return fmt::format("await bucket {} of the step before", act.bucket);
    case What::Backward:
      return fmt::format("compute until {}", act.bucket == kWholePayload
                                                 ? "backward's end"
                                                 : fmt::format("bucket {} is filled", act.bucket));
    case What::Agree:
      return "agree";
    case What::Begin:
      return "begin " + of_bucket(act.bucket, "everything");
    case What::Await:
      return "await " + of_bucket(act.bucket, "all that was begun");
    case What::Update:
      return "update";
    case What::Pull:
      return "pull from a peer and average";
    case What::Serve:
      return "serve every worker";
  }
  return {};
}

}  // namespace tw::workload
