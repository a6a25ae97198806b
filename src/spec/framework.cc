// SPDX-License-Identifier: Apache-2.0
#include "trainwire/spec/framework.h"

#include "trainwire/base/error.h"

#include <algorithm>
#include <array>
#include <string>

namespace tw::spec {
namespace {

// Connection counts follow the flows that the TUM measurement study counted between 4 workers, each
// connection being two directed flows:
//   ring, TensorFlow and Horovod: 4 edges x 1 x 2 + 4 ranks x 2 side connections x 2 = 24
//   KungFu's trees: 3 edges x 2 connections x 2 = 12

// What DistributedDataParallel adds to a step for each tensor that has a gradient: copies of buffers before
// forward, a hook and two copies of the gradient. Measured with one rank a process, against the same step
// without it: 9 models and batches, 1, 2 and 4 processes on an H200 (PyTorch 2.11), 10 to 46 us, median 18.
constexpr Duration kDdpTensorTime = std::chrono::microseconds(18);

constexpr std::array kFrameworks{
    // MultiWorkerMirroredStrategy: ring over gRPC, gradients packed once backward has ended.
    Framework{.name = "tensorflow",
              .strategy = "ring",
              .transport = "grpc",
              .bucket = Bytes(0),
              .overlap = false,
              .side_connections = 2},
    // Horovod's background thread looks every millisecond (HOROVOD_CYCLE_TIME) and fuses what it finds
    // ready, up to 64 MiB (HOROVOD_FUSION_THRESHOLD; 128 since 0.21).
    Framework{.name = "horovod",
              .strategy = "ring",
              .transport = "mpi",
              .bucket = 64_MiB,
              .cycle = std::chrono::milliseconds(1),
              .overlap = true,
              .side_connections = 2},
    // KungFu cuts tensors into chunks of 1 MiB that travel at the same time. Eight pieces stand for
    // them: enough for all levels of a small tree to work at once, without 100 rounds a model.
    Framework{.name = "kungfu",
              .strategy = "binary_tree_star",
              .transport = "tcp",
              .bucket = Bytes(0),
              .overlap = true,
              .pieces = 8,
              .connections = 2},
    // DistributedDataParallel: a first bucket of 1 MiB, then bucket_cap_mb of 25, sent as backward
    // fills them.
    Framework{.name = "pytorch",
              .strategy = "ring",
              .transport = "gloo",
              .bucket = 25_MiB,
              .first_bucket = 1_MiB,
              .overlap = true,
              .tensor_time = kDdpTensorTime,
              .variant = "torchvision"},
};

template <typename T>
void preset(Setting<T>& setting, const T& value) {
  if (setting.origin == Origin::Default) setting = {value, Origin::Preset};
}

template <typename T>
void preset(Setting<T>& setting, const std::optional<T>& value) {
  if (value) preset(setting, *value);
}

}  // namespace

std::span<const Framework> frameworks() { return kFrameworks; }

std::span<const std::string_view> framework_names() {
  static constexpr auto kNames = [] {
    std::array<std::string_view, kFrameworks.size()> names;
    std::transform(kFrameworks.begin(), kFrameworks.end(), names.begin(),
                   [](const Framework& framework) { return framework.name; });
    return names;
  }();
  return kNames;
}

const Framework* framework_of(const Job& job) {
  if (!*job.framework) return nullptr;
  const auto at = std::find_if(kFrameworks.begin(), kFrameworks.end(), [&](const Framework& known) {
    return known.name == **job.framework;
  });
  check(at != kFrameworks.end(), "a job's framework is one of framework_names()");
  return &*at;
}

// Between four workers the study counted 46 flows under KungFu's clique, of which 6 pairs x 2
// connections x 2 carry gradients and 22 have the sizes of a SYN (74 bytes) and of the RST that
// answers it (54): 11 attempts that came too early, one for each ordered pair but one. Under pair
// averaging the first worker has twice the connections of others: 6 x 2 x 2 + 3 x 2 x 2 = 36; with
// the clique as topology there are 28 more of those sizes, 14 attempts: each ordered pair, and two.
BesideConnections beside_connections(const Job& job, int ranks) {
  const Framework* const framework = framework_of(job);
  if (framework == nullptr || framework->name != "kungfu" || ranks < 2) return {};
  if (*job.strategy == "clique") return {.refused = ranks * (ranks - 1) - 1};
  if (has_topology(job)) {
    return {.idle = 2, .refused = *job.clique_topology ? ranks * (ranks - 1) + 2 : 0};
  }
  return {};
}

bool has_topology(const Job& job) {
  return *job.framework == "kungfu" && *job.strategy == "pair_averaging";
}

void apply_framework(Job& job) {
  const Framework* const at = framework_of(job);
  if (at == nullptr) return;
  preset(job.strategy, std::string(at->strategy));
  preset(job.transport, std::string(at->transport));
  preset(job.bucket, at->bucket);
  preset(job.first_bucket, at->first_bucket);
  preset(job.cycle, at->cycle);
  preset(job.overlap, at->overlap);
  preset(job.pieces, at->pieces);
  preset(job.connections, at->connections);
  preset(job.side_connections, at->side_connections);
}

}  // namespace tw::spec
