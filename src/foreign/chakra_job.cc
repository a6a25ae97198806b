// SPDX-License-Identifier: Apache-2.0
#include "trainwire/foreign/chakra_job.h"

#include "trainwire/base/error.h"
#include "trainwire/base/printable.h"
#include "trainwire/result/whole_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <numeric>
#include <system_error>

namespace tw::foreign {
namespace {

using chakra::Node;
using chakra::NodeType;

std::uint64_t micros(Duration time) {
  return static_cast<std::uint64_t>(
      std::chrono::round<std::chrono::microseconds>(std::max(Duration{}, time)).count());
}

/// Of the format, and what ASTRA-sim's systems call the way in which a strategy does it.
struct Named {
  chakra::CollectiveType type;
  std::string_view implementation;
};

Named named(const workload::Training& training) {
  const collective::Strategy& row = training.row();
  if (row.operation == collective::Operation::AllToAll)
    return {chakra::CollectiveType::AllToAll, "direct"};
  if (row.operation == collective::Operation::Broadcast)
    return {chakra::CollectiveType::Broadcast, "ring"};
  const bool sums = row.operation == collective::Operation::AllReduce && !row.has_servers;
  if (!sums) {
    throw SpecError(fmt::format(
        "job {}: Chakra has no collective for strategy {}; take one that sums, all_to_all or "
        "broadcast",
        printable(training.name), training.strategy));
  }
  std::string_view implementation = "halvingDoubling";
  if (row.shape == collective::Shape::Ring) implementation = "ring";
  if (row.shape == collective::Shape::Tree) implementation = "doubleBinaryTree";
  if (row.is_dense) implementation = "direct";
  return {chakra::CollectiveType::AllReduce, implementation};
}

class Trace {
 public:
  std::uint64_t add(Node node) {
    node.id = next_++;
    node.on_host = false;
    nodes_.push_back(std::move(node));
    return nodes_.back().id;
  }
  std::vector<Node> take() { return std::move(nodes_); }

 private:
  std::uint64_t next_ = 1;
  std::vector<Node> nodes_;
};

std::string network_of(const spec::Experiment& experiment, int ranks) {
  const auto& link = experiment.network.link;
  const double share =
      static_cast<double>(*experiment.network.hosts) / std::max(1, ranks);  // of a host's link
  return fmt::format(
      "topology: [ Switch ]\nnpus_count: [ {} ]\nbandwidth: [ {:.6g} ]  # GB/s\nlatency: [ {} ]  # "
      "ns\n",
      ranks, link.rate->bits_per_second() / 8e9 * std::min(1.0, share), link.delay->count());
}

std::string system_of(std::string_view implementation) {
  std::string text = "{\n  \"scheduling-policy\": \"LIFO\",\n  \"endpoint-delay\": 0,\n";
  text +=
      "  \"active-chunks-per-dimension\": 1,\n  \"preferred-dataset-splits\": 1,\n  "
      "\"collective-optimization\": \"baseline\",\n";
  for (const std::string_view op : {"all-reduce", "all-gather", "reduce-scatter", "all-to-all"}) {
    text += fmt::format("  \"{}-implementation\": [\"{}\"],\n", op,
                        op == "all-to-all" ? "direct" : implementation);
  }
  return text +
         "  \"local-mem-bw\": 1600,\n  \"boost-mode\": 0,\n  \"roofline-enabled\": 0,\n  "
         "\"peak-perf\": 900\n}\n";
}

void make_folder(const std::string& folder) {
  std::error_code error;
  if (!std::filesystem::create_directory(folder, error)) {
    throw SystemError(fmt::format("making {}: {}; name a folder that is not there yet",
                                  printable(folder),
                                  error ? error.message() : std::string("it is there already")));
  }
}

}  // namespace

std::vector<Node> nodes_of(const workload::Training& training, int rank, int steps) {
  const Named what = named(training);
  const double factor = training.factor(rank);
  const auto scaled = [&](Duration time) {
    return Duration(static_cast<Duration::rep>(factor * static_cast<double>(time.count())));
  };
  Trace trace;
  std::vector<std::uint64_t> before;  // what a step waits for
  for (int step = 0; step < steps; ++step) {
    std::uint64_t last = trace.add({.name = fmt::format("step{}.forward", step),
                                    .type = NodeType::Compute,
                                    .waits_for = before,
                                    .duration_us = micros(scaled(training.compute.forward))});
    std::vector<std::uint64_t> filled;
    Duration done = {};
    for (std::size_t i = 0; i < training.buckets.size(); ++i) {
      const Duration ready = std::max(done, training.buckets[i].ready);
      last = trace.add({.name = fmt::format("step{}.backward{}", step, i),
                        .type = NodeType::Compute,
                        .waits_for = {last},
                        .duration_us = micros(scaled(ready)) - micros(scaled(done))});
      done = ready;
      filled.push_back(last);
    }
    before.clear();
    for (std::size_t i = 0; i < training.buckets.size(); ++i) {
      before.push_back(trace.add({.name = fmt::format("step{}.exchange{}", step, i),
                                  .type = NodeType::Collective,
                                  .waits_for = {training.overlap ? filled[i] : last},
                                  .collective = static_cast<std::int64_t>(what.type),
                                  .bytes = zoo::kElementBytes * training.buckets[i].elements}));
    }
  }
  return trace.take();
}

std::string write_chakra(const spec::Experiment& experiment, const std::string& folder, int steps) {
  std::vector<workload::Training> trainings;
  for (const spec::Job& job : experiment.jobs) {
    trainings.push_back(workload::training_of(experiment, job));
    named(trainings.back());
    if (trainings.back().ranks() > kMostTraces) {
      throw SpecError(fmt::format("job {}: {} ranks would be as many files; at most {} are written",
                                  printable(trainings.back().name), trainings.back().ranks(),
                                  kMostTraces));
    }
  }
  make_folder(folder);
  std::string text;
  for (const workload::Training& training : trainings) {
    const std::string stem = folder + "/" + training.name;
    for (int rank = 0; rank < training.ranks(); ++rank) {
      result::write_whole(fmt::format("{}.{}.et", stem, rank),
                          chakra::et_bytes(nodes_of(training, rank, steps)));
    }
    result::write_whole(stem + ".network.yml", network_of(experiment, training.ranks()));
    result::write_whole(stem + ".system.json", system_of(named(training).implementation));
    text += fmt::format(
        "{}: {} traces of {} steps, each of {} collectives, {} bytes; {}.network.yml and "
        ".system.json\n",
        printable(training.name), training.ranks(), steps, training.buckets.size(),
        training.bytes().count(), printable(stem));
  }
  return text;
}

}  // namespace tw::foreign
