// SPDX-License-Identifier: Apache-2.0
#include "trainwire/report/health.h"

#include "trainwire/result/test_folder.h"

#include <gtest/gtest.h>

namespace tw::report {
namespace {

using result::TestFolder;

constexpr const char* kSockets =
    "time_ns,job,rank,peer,lane,rtt_ns,window_bytes,retransmitted_packets,queued_bytes\n"
    "1000000000,job0,0,1,0,1000000,100,0,50\n"
    "2000000000,job0,0,1,0,3000000,200,4,50\n"
    "1000000000,job0,1,0,2,500000,100,1,0\n";

TEST(SocketsDocument, TellsOfEveryConnection) {
  const TestFolder folder;
  const auto document = sockets_document(folder.file("sockets.csv", kSockets), 500'000'000, {});
  EXPECT_DOUBLE_EQ(document["start_s"].get<double>(), 0.5);
  ASSERT_EQ(document["connections"].size(), 2U);
  const auto& first = document["connections"][0];
  EXPECT_EQ(first["name"], "job0 rank 0 > 1");
  EXPECT_EQ(first["retransmitted"], 4);
  EXPECT_EQ(first["rtt_mean_s"], 0.002);
  EXPECT_EQ(first["rtt_max_s"], 0.003);
  EXPECT_EQ(document["connections"][1]["name"], "job0 rank 1 > 0 lane 2");
}

TEST(SocketsDocument, KeepsTheConnectionsWithTheMostToSend) {
  const TestFolder folder;
  const auto document =
      sockets_document(folder.file("sockets.csv", kSockets), 0, {.connections = 1});
  ASSERT_EQ(document["connections"].size(), 1U);
  EXPECT_EQ(document["connections"][0]["name"], "job0 rank 0 > 1");
  EXPECT_EQ(document["left_off"], 1);
}

TEST(SocketsDocument, KeepsTheConnectionWithTheLongestRoundTrip) {
  const TestFolder folder;
  // The second has nothing queued, but the longest round trip of all.
  const auto path = folder.file("sockets.csv",
                                std::string(kSockets) + "2000000000,job0,1,0,2,66000000,100,1,0\n");
  const auto document = sockets_document(path, 0, {.connections = 1});
  EXPECT_EQ(document["connections"][0]["name"], "job0 rank 1 > 0 lane 2");
  EXPECT_EQ(document["connections"][0]["rtt_max_s"], 0.066);
}

TEST(QueuesDocument, KeepsTheFullestQueues) {
  const TestFolder folder;
  const auto path = folder.file("samples.csv", "time_ns,host,queue_bytes\n0,a,1\n0,b,70\n0,c,5\n");
  const auto document = queues_document(path, 0, {.hosts = 1});
  ASSERT_EQ(document["hosts"].size(), 1U);
  EXPECT_EQ(document["hosts"][0]["name"], "b");
  EXPECT_EQ(document["left_off"], 2);
}

TEST(QueuesDocument, KeepsTheFullestOfABucket) {
  const TestFolder folder;
  const auto path =
      folder.file("samples.csv", "time_ns,host,queue_bytes\n0,a,10\n1,a,70\n0,b,5\n1,b,0\n");
  const auto document = queues_document(path, 0, {});
  ASSERT_EQ(document["hosts"].size(), 2U);
  // Two rows of a host make one bucket.
  EXPECT_EQ(document["hosts"][0]["queue"]["n"], 1);
  EXPECT_NEAR(document["hosts"][0]["queue"]["step"].get<double>() * 65534, 70, 1e-9);
}

TEST(LoadDocument, GivesMeansOfShares) {
  const TestFolder folder;
  const auto path = folder.file(
      "load.csv", "time_ns,busy_share,steal_share,wait_share\n0,0.5,0,0.1\n10,1,0,0.3\n");
  const auto document = load_document(path, 0, {});
  EXPECT_NEAR(document["busy"]["step"].get<double>() * 65534, 0.75, 1e-9);
}

TEST(HealthDocuments, AreNullWithoutATable) {
  EXPECT_TRUE(sockets_document("/nonexistent/sockets.csv", 0, {}).is_null());
  EXPECT_TRUE(queues_document("/nonexistent/samples.csv", 0, {}).is_null());
  EXPECT_TRUE(load_document("/nonexistent/load.csv", 0, {}).is_null());
}

}  // namespace
}  // namespace tw::report
