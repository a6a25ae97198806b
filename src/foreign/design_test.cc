// SPDX-License-Identifier: Apache-2.0
#include "trainwire/foreign/design.h"

#include "trainwire/base/error.h"
#include "trainwire/foreign/chakra_job.h"
#include "trainwire/spec/parse.h"
#include "trainwire/workload/vocabulary.h"

#include <gmock/gmock.h>

#include <numeric>

namespace tw::foreign {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Pair;
using testing::SizeIs;

Design design_of(std::string_view text) {
  Design made;
  add_design(text, "x", made);
  settle(made);
  return made;
}

TEST(Design, ANetworkOfAstraSimIsAStarOfItsLastDimension) {
  const Design ring = design_of(
      "topology: [ Ring ]\nnpus_count: [ 4 ]\nbandwidth: [ 50.0 ]  # GB/s\nlatency: [ 500.0 ]  # "
      "ns\n");
  EXPECT_THAT(ring.flags.values, Contains(Pair("--hosts", "4")));
  EXPECT_THAT(ring.flags.values, Contains(Pair("--rate", "400Gbit")));
  EXPECT_THAT(ring.flags.values, Contains(Pair("--delay", "250ns")));  // two links make the 500
  EXPECT_THAT(ring.remarks, SizeIs(1));
  // Two hosts of eight, each of which has 50 GB/s to the outside.
  const Design two = design_of(
      "topology: [ FullyConnected, Switch ]\nnpus_count: [ 8, 2 ]\nbandwidth: [ 400, 50 "
      "]\nlatency: "
      "[ 936.25, 1000 ]\n");
  EXPECT_THAT(two.flags.values, Contains(Pair("--ranks", "16")));
  EXPECT_THAT(two.flags.values, Contains(Pair("--rate", "3200Gbit")));
  EXPECT_THAT(two.flags.values, Contains(Pair("--delay", "1000ns")));
  EXPECT_THROW(design_of("topology: [ Ring ]\nnpus_count: [ x ]\nbandwidth: [1]\n"), DataError);
  EXPECT_THROW(design_of("npus_count: [ 4, 2 ]\nbandwidth: [1]\nlatency: [1]\n"), DataError);
}

TEST(Design, ASystemOfAstraSimNamesTheStrategy) {
  EXPECT_THAT(
      design_of(R"({"all-reduce-implementation": ["ring", "halvingDoubling"]})").flags.values,
      Contains(Pair("--strategy", "halving_doubling")));
  EXPECT_THROW(design_of(R"({"all-reduce-implementation": 7})"), DataError);
}

TEST(Design, AWorkloadOfSimAiIsItsGradientsAndComputeTime) {
  // 16 GPUs in tensor-parallel groups of two: eight exchange gradients of 4,000 + 2,000 bytes.
  const Design found = design_of(
      "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 1 pp: 1 all_gpus: 16\n2\n"
      "a -1 1000 ALLREDUCE 64 2000 NONE 0 3000 ALLREDUCE 4000 100\n"
      "b -1 1000 NONE 0 2000 ALLREDUCE 64 3000 REDUCESCATTER 2000 100\n");
  EXPECT_THAT(found.flags.values, Contains(Pair("--parameters", "6000")));
  EXPECT_THAT(found.flags.values, Contains(Pair("--ranks", "8")));
  EXPECT_THAT(found.flags.values, Contains(Pair("--compute-time", "12200ns")));
  EXPECT_THAT(found.remarks,
              Contains(HasSubstr("128 B a step of tensor- and expert-parallel traffic")));
  const Design inner = design_of(
      "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 8 all_gpus: 8\n1\n"
      "e -1 556000 ALLREDUCE 16777216 1 NONE 0 1 NONE 0 1\n");
  EXPECT_THAT(inner.flags.values, Contains(Pair("--parameters", "16777216")));
  EXPECT_THAT(inner.flags.values, Contains(Pair("--ranks", "8")));
  EXPECT_THROW(design_of("HYBRID_TRANSFORMER_FWD_IN_BCKWD pp: 1\n3\n"), DataError);
}

TEST(Design, AWorkloadOfAicbIsItsDataParallelPart) {
  const Design found = design_of(
      "[rank0 ~ rank127]\n"
      "comm_type,comm_group,comm_group_size,msg_size,stage,dst,src,additional,_elapsed_time,algbw,"
      "busbw,count\n"
      "CommType.all_reduce,CommGroup.dp_group,64,800,init.model_setup,None,None,,None,None,None,1\n"
      "CommType.all_reduce,CommGroup.tp_group,2,100,forward.x,None,None,,None,None,None,1\n"
      "CommType.reduce_scatter,CommGroup.dp_group,64,4000,backward.x,None,None,,None,None,None,1\n"
      "CommType.all_gather,CommGroup.dp_group,64,4000,step.x,None,None,,None,None,None,1\n"
      "CommType.epoch_end,,,,,,,,,,,1\n");
  EXPECT_THAT(found.flags.values, Contains(Pair("--parameters", "4000")));
  EXPECT_THAT(found.flags.values, Contains(Pair("--ranks", "64")));
  EXPECT_THAT(found.remarks, Contains(HasSubstr("100 B a step in CommGroup.tp_group")));
}

constexpr std::string_view kHostsOfEight =
    "topology: [ Switch, Switch ]\nnpus_count: [ 8, 2 ]\nbandwidth: [ 400, 50 ]\nlatency: [ 1, "
    "1000 ]\n";

std::string workload(int tensor, int gpus) {
  return "MICRO model_parallel_NPU_group: " + std::to_string(tensor) +
         " all_gpus: " + std::to_string(gpus) + "\n1\na -1 1 NONE 0 1 NONE 0 1 ALLREDUCE 400 1\n";
}

TEST(Design, FilesGoTogetherInAnyOrderAndOthersAreRefused) {
  for (const bool is_network_first : {false, true}) {
    Design made;
    add_design(is_network_first ? kHostsOfEight : workload(8, 16), "a", made);
    add_design(is_network_first ? workload(8, 16) : kHostsOfEight, "b", made);
    settle(made);
    EXPECT_THAT(made.flags.values, Contains(Pair("--hosts", "2")));
    EXPECT_THAT(made.flags.values, Contains(Pair("--ranks", "2")));
    EXPECT_THAT(made.flags.values, Contains(Pair("--parameters", "400")));
    // Eight GPUs of a host exchange 400 bytes each over 50 GB/s each; the rank is one of them.
    EXPECT_THAT(made.flags.values, Contains(Pair("--rate", "400Gbit")));
  }
  EXPECT_THROW(design_of("hello"), DataError);
}

TEST(Design, AHostHoldsARankOfEachOfItsGroups) {
  Design made;
  add_design(kHostsOfEight, "n", made);
  add_design(workload(2, 32), "w", made);
  settle(made);
  EXPECT_THAT(made.flags.values, Contains(Pair("--ranks", "16")));
  EXPECT_THAT(made.flags.values, Contains(Pair("--rate", "1600Gbit")));  // four groups of two
  EXPECT_THAT(made.remarks, Contains(HasSubstr("for 32 GPUs, the network has 16 NPUs")));
}

TEST(Design, NetworksMayBeWrittenAsJson) {
  const Design found = design_of(
      "{\n  \"topology\": [\n    \"Switch\"\n  ],\n  \"npus_count\": [\n    8\n  ],\n"
      "  \"bandwidth\": [ 50 ],\n  \"latency\": [\n    1000\n  ]\n}\n");
  EXPECT_THAT(found.flags.values, Contains(Pair("--hosts", "8")));
  EXPECT_THAT(found.flags.values, Contains(Pair("--rate", "400Gbit")));
}

TEST(Design, NetworksOfTheFirstAstraSimTellBandwidthByLink) {
  const std::string text =
      "{\n  \"topology-name\": \"Hierarchical\",\n  \"topologies-per-dim\": [\"Ring\", "
      "\"FullyConnected\"],\n  \"dimensions-count\": 2,\n  \"units-count\": [2, 4],\n"
      "  \"links-count\": [2, 3],\n  \"link-latency\": [100, 500],\n"
      "  \"link-bandwidth\": [200, 10]\n}\n";
  const Design found = design_of(text);
  EXPECT_THAT(found.flags.values, Contains(Pair("--hosts", "4")));
  EXPECT_THAT(found.flags.values, Contains(Pair("--ranks", "8")));
  // Three links of 10 GB/s, 240 Gbit/s for each of two NPUs of a host.
  EXPECT_THAT(found.flags.values, Contains(Pair("--rate", "480Gbit")));
  EXPECT_THAT(found.flags.values, Contains(Pair("--delay", "250ns")));
  std::string cut = text;
  cut.replace(cut.find("[2, 4]"), 6, "[2]");
  EXPECT_THROW(design_of(cut), DataError);
}

TEST(Design, MicroTestsOfAicbDoNotTellTheirGroups) {
  const Design found = design_of(
      "comm_type,comm_group,msg_size,stage,dst,src,additional,_elapsed_time,algbw,busbw,count\n"
      "CommType.all_reduce,CommGroup.dp_group,800,warmup,None,None,,None,None,None,1\n"
      "CommType.all_reduce,CommGroup.dp_group,400,test_step,None,None,,None,None,None,1\n");
  EXPECT_THAT(found.flags.values, Contains(Pair("--parameters", "400")));
  EXPECT_THAT(found.remarks, Contains(HasSubstr("give --ranks")));
}

TEST(Design, WorkloadsOfTheFirstAstraSimAreRead) {
  const Design found = design_of(
      "HYBRID_DATA_MODEL\t\t\n1\t\t\na\t-1\t10\tALLGATHER\t64\t10\tALLREDUCE\t64\t10\tALLREDUCE\t"
      "400\t1\n");
  EXPECT_THAT(found.flags.values, Contains(Pair("--parameters", "400")));
  EXPECT_THAT(found.remarks,
              Contains("128 B a step of tensor- and expert-parallel traffic were left out"));
}

TEST(Design, AWorkloadThatLacksLayersSaysSo) {
  const std::string row = "a\t-1\t10\tNONE\t0\t10\tNONE\t0\t10\tALLREDUCE\t400\t1\n";
  EXPECT_THAT(design_of("DATA\n54\n" + row + row).remarks,
              Contains(HasSubstr("it says that it has 54 layers, and 2 are in it")));
  EXPECT_THAT(design_of("DATA\n2\n" + row + row).remarks, Not(Contains(HasSubstr("layers"))));
}

TEST(ChakraJob, AStepIsComputingAndACollectiveForEachBucket) {
  const spec::Experiment experiment =
      spec::parse("[network]\nhosts = 4\n[[job]]\nmodel = \"resnet50\"\nbucket = \"25MB\"\n",
                  "x.toml", workload::vocabulary(), {});
  const workload::Training training = workload::training_of(experiment, experiment.jobs[0]);
  const auto nodes = nodes_of(training, 0, 2);
  // Forward, and for each bucket its piece of backward and its exchange.
  ASSERT_EQ(nodes.size(), 2 * (1 + 2 * training.buckets.size()));
  std::int64_t bytes = 0;
  std::uint64_t compute_us = 0;
  for (const chakra::Node& node : nodes) {
    bytes += node.bytes.value_or(0);
    if (node.type == chakra::NodeType::Compute) compute_us += node.duration_us;
    for (const std::uint64_t id : node.waits_for) EXPECT_LT(id, node.id);
  }
  EXPECT_EQ(bytes, 2 * training.bytes().count());
  EXPECT_NEAR(static_cast<double>(compute_us),
              2e-3 * static_cast<double>(training.compute.total().count()),
              20.0 * static_cast<double>(training.buckets.size()));
  EXPECT_EQ(chakra::parse_et(chakra::et_bytes(nodes), "x").nodes, nodes);
}

}  // namespace
}  // namespace tw::foreign
