// SPDX-License-Identifier: Apache-2.0
#include "trainwire/spec/framework.h"

#include "trainwire/spec/test_experiments.h"

#include <gtest/gtest.h>

namespace tw::spec {
namespace {

Job job_of(const std::string& framework, const std::string& more = "") {
  return parsed("[job]\nmodel = \"resnet50\"\nframework = \"" + framework + "\"\n" + more).jobs[0];
}

TEST(Framework, SetsWhatNobodySet) {
  const Job job = job_of("horovod");
  EXPECT_EQ(job.strategy, (Setting<std::string>{"ring", Origin::Preset}));
  EXPECT_EQ(job.transport, (Setting<std::string>{"mpi", Origin::Preset}));
  EXPECT_EQ(job.bucket, (Setting<Bytes>{64_MiB, Origin::Preset}));
  EXPECT_EQ(job.overlap, (Setting<bool>{true, Origin::Preset}));
  // Horovod says nothing about pieces.
  EXPECT_EQ(job.pieces, (Setting<int>{1, Origin::Default}));
}

TEST(Framework, YieldsToExplicitKeys) {
  const Job job = job_of("horovod", "transport = \"tcp\"\nbucket = 0\n");
  EXPECT_EQ(job.transport, (Setting<std::string>{"tcp", Origin::File}));
  EXPECT_EQ(job.bucket, (Setting<Bytes>{Bytes(0), Origin::File}));
}

TEST(Framework, HasTheBucketsOfItsSource) {
  EXPECT_EQ(*job_of("pytorch").bucket, 25_MiB);
  EXPECT_EQ(*job_of("pytorch").transport, "gloo");
  EXPECT_EQ(*job_of("tensorflow").bucket, Bytes(0));
  EXPECT_FALSE(*job_of("tensorflow").overlap);
}

// The study counted 24 flows between 4 workers for the two rings and 12 for KungFu's tree.
TEST(Framework, HasAsManyFlowsAsWereMeasured) {
  const auto flows = [](const Job& job, int edges) {
    return 2 * (edges * *job.connections + *job.ranks * *job.side_connections);
  };
  EXPECT_EQ(flows(job_of("tensorflow"), 4), 24);
  EXPECT_EQ(flows(job_of("horovod"), 4), 24);
  EXPECT_EQ(flows(job_of("kungfu"), 3), 12);
  EXPECT_EQ(*job_of("kungfu").strategy, "binary_tree_star");
}

TEST(Framework, TriesTooEarlyUnderACliqueAndKeepsMoreWithTheFirstUnderPairAveraging) {
  const auto beside = [](const char* framework, const char* strategy) {
    Job job = job_of(framework);
    job.strategy = {strategy, Origin::File};
    return beside_connections(job, 4);
  };
  // 24 + 2 x 11 = 46 flows, and 24 + 3 x 2 x 2 = 36.
  EXPECT_EQ(beside("kungfu", "clique"), (BesideConnections{.refused = 11}));
  EXPECT_EQ(beside("kungfu", "pair_averaging"), (BesideConnections{.idle = 2}));
  EXPECT_EQ(beside("kungfu", "star"), BesideConnections());
  Job clique = job_of("kungfu");
  clique.strategy = {"pair_averaging", Origin::File};
  clique.clique_topology = {true, Origin::File};
  // 36 + 2 x 14 = 64.
  EXPECT_EQ(beside_connections(clique, 4), (BesideConnections{.idle = 2, .refused = 14}));
  EXPECT_EQ(beside("horovod", "clique"), BesideConnections());
}

TEST(Framework, IsNamedOnceEach) {
  EXPECT_EQ(framework_names().size(), frameworks().size());
  EXPECT_EQ(framework_names()[0], "tensorflow");
}

}  // namespace
}  // namespace tw::spec
