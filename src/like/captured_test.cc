// SPDX-License-Identifier: Apache-2.0
#include "trainwire/like/captured.h"

#include "trainwire/base/error.h"
#include "trainwire/like/test_records.h"
#include "trainwire/result/test_folder.h"

#include <gmock/gmock.h>

#include <fstream>

namespace tw::like {
namespace {

using testing::AnyOf;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// Three hosts in a ring, 1.2 MB a step: 16 ms at 800 kB each on 400 Mbit/s, after 84 ms of silence.
record::Run captured_ring() {
  record::Run run{.command = "analyze"};
  run.capture = record::Capture{.packets = 1000};
  run.quality.level = "good";
  run.traffic.busiest.peak_bps = 400e6;
  for (const char* name : {"10.0.0.3", "10.0.0.1", "10.0.0.2"}) {
    run.hosts.push_back({.name = name, .role = "worker"});
  }
  run.iterations = record::Iterations{.count = 30,
                                      .median_s = 0.120,
                                      .ci_low_s = 0.118,
                                      .ci_high_s = 0.122,
                                      .compute_gap_s = 0.084,
                                      .times_s = {0.119, 0.120, 0.121}};
  run.collectives.push_back({.operation = "all_reduce",
                             .strategy = "ring",
                             .order = {"10.0.0.2", "10.0.0.3", "10.0.0.1"},
                             .bytes_per_iteration = 1'200'002});
  return run;
}

TEST(Captured, ring_becomes_hosts_in_its_order) {
  const Fitted fitted = fit(captured_ring(), "");
  const spec::Experiment& experiment = fitted.experiment;
  EXPECT_THAT(fitted.hosts, ElementsAre("10.0.0.2", "10.0.0.3", "10.0.0.1"));
  EXPECT_EQ(*experiment.network.hosts, 3);
  EXPECT_NE(experiment.jobs[0].hosts.origin, spec::Origin::File);  // so that there may be more
  EXPECT_EQ(*experiment.network.link.rate, BitRate(400e6));
  EXPECT_EQ(*experiment.jobs[0].strategy, "ring");
  EXPECT_EQ(**experiment.jobs[0].parameters, Bytes(1'200'004));  // whole elements
  EXPECT_EQ(**experiment.jobs[0].compute_time, std::chrono::milliseconds(84));
  // 33 ms of exchange are simulated, 36 were seen.
  EXPECT_NEAR(fitted.jobs[0].factor, 36.0 / 33, 0.05);
  EXPECT_NEAR(steps_s(fitted, experiment).at(0), 0.120, 1e-9);
  EXPECT_THAT(fitted.cannot, Contains(HasSubstr("no link was seen to be the limit")));
}

TEST(Captured, slow_link_and_straggler_are_put_where_they_were_found) {
  record::Run run = captured_ring();
  run.bottleneck = record::Bottleneck{.from = "10.0.0.2",
                                      .to = "10.0.0.3",
                                      .rate_bps = 100e6,
                                      .evidence = "it is receiving 95 % of the exchange"};
  run.straggler = record::Straggler{.host = "10.0.0.1", .delay_s = 0.042};
  const Fitted fitted = fit(run, "");
  ASSERT_EQ(fitted.experiment.network.overrides.size(), 1U);
  const spec::LinkOverride& slow = fitted.experiment.network.overrides[0];
  EXPECT_EQ(*slow.at, "host1");
  EXPECT_EQ(*slow.direction, spec::Direction::ToHost);
  EXPECT_EQ(**slow.rate, BitRate(100e6));
  EXPECT_EQ(**fitted.experiment.jobs[0].straggler, "host2");
  EXPECT_NEAR(*fitted.experiment.jobs[0].straggler_factor, 1.5, 1e-6);
  EXPECT_THAT(fitted.cannot, Each(Not(HasSubstr("no link was seen"))));
}

// Traces beside packets know ranks.
TEST(Captured, late_rank_is_put_on_a_host) {
  record::Run run = captured_ring();
  run.straggler = record::Straggler{.host = "rank 1", .delay_s = 0.042, .rank = 1};
  const Fitted fitted = fit(run, "");
  EXPECT_EQ(**fitted.experiment.jobs[0].straggler, "host1");
  EXPECT_NEAR(*fitted.experiment.jobs[0].straggler_factor, 1.5, 1e-6);
  EXPECT_THAT(fitted.cannot, Contains(HasSubstr("which host rank 1 is on is not told")));
  run.straggler->rank = 7;
  EXPECT_FALSE(fit(run, "").experiment.jobs[0].straggler.value);
}

TEST(Captured, servers_are_the_last_ranks) {
  record::Run run = captured_ring();
  run.collectives[0].strategy = "ps";
  run.collectives[0].order = {"10.0.0.3", "10.0.0.1", "10.0.0.2"};
  run.hosts[0].role = "server";  // 10.0.0.3
  const Fitted fitted = fit(run, "");
  EXPECT_THAT(fitted.hosts, ElementsAre("10.0.0.1", "10.0.0.2", "10.0.0.3"));
  EXPECT_EQ(*fitted.experiment.jobs[0].servers, 1);
  EXPECT_EQ(*fitted.experiment.jobs[0].workers, 2);
}

TEST(Captured, rates_and_delays_are_in_its_tables) {
  const result::TestFolder folder;
  // 10 ms with 625 kB are 500 Mbit/s; acknowledgements and thin spans do not count.
  folder.file("windows.csv",
              "scope,from,to,flow,start_ns,width_ns,wire_bytes\n"
              "pair,10.0.0.2,10.0.0.3,,1000000000,1000000,625000\n"
              "pair,10.0.0.2,10.0.0.3,,1010000000,1000000,625000\n"
              "pair,10.0.0.2,10.0.0.3,,1020000000,1000000,1000\n"
              "pair,10.0.0.3,10.0.0.2,,1020000000,1000000,1000\n");
  folder.file("flows.csv", "class,rtt_min_ns\ngradient,400000\ntiny,1000\n");
  const Fitted fitted = fit(captured_ring(), folder / "");
  EXPECT_EQ(*fitted.experiment.network.link.rate, BitRate(500e6));
  EXPECT_EQ(*fitted.experiment.network.link.delay, std::chrono::microseconds(100));
}

/// windows.csv in which hosts of the ring send so many kB in each of 20 spans of 10 ms, or twice that
/// in every second.
std::string windows(int steady_kb, int bursts_kb) {
  std::string text = "scope,from,to,flow,start_ns,width_ns,wire_bytes\n";
  for (std::int64_t i = 0; i < 20; ++i) {
    const std::string at = std::to_string(1'000'000'000 + 10'000'000 * i);
    text += "pair,10.0.0.2,10.0.0.3,," + at + ",1000000," + std::to_string(steady_kb) + "000\n";
    if (i % 2 == 0) continue;
    text += "pair,10.0.0.3,10.0.0.1,," + at + ",1000000," + std::to_string(2 * bursts_kb) + "000\n";
  }
  return text;
}

// 100 kB in 10 ms are 80 Mbit/s, without rest; others send the same at 160, and rest.
TEST(Captured, host_that_never_rests_has_a_slow_link) {
  const result::TestFolder folder;
  folder.file("windows.csv", windows(100, 100));
  const Fitted fitted = fit(captured_ring(), folder / "");
  EXPECT_EQ(*fitted.experiment.network.link.rate, BitRate(160e6));
  ASSERT_EQ(fitted.experiment.network.overrides.size(), 1U);
  EXPECT_EQ(*fitted.experiment.network.overrides[0].at, "host0");
  EXPECT_EQ(**fitted.experiment.network.overrides[0].rate, BitRate(80e6));
}

TEST(Captured, host_that_never_rests_at_the_rate_of_all_has_none) {
  const result::TestFolder folder;
  folder.file("windows.csv", windows(100, 50));
  EXPECT_TRUE(fit(captured_ring(), folder / "").experiment.network.overrides.empty());
}

// 10.0.0.1 is silent for 90 ms between two steps, 10.0.0.2 for 100, although somebody always sends.
TEST(Captured, computing_is_the_silence_of_a_host) {
  const result::TestFolder folder;
  folder.file("iteration_pairs.csv",
              "iteration,from,to,gradient_bytes,first_ns,last_ns\n"
              "0,10.0.0.1,10.0.0.2,800000,1000000000,1030000000\n"
              "0,10.0.0.2,10.0.0.1,800000,1000000000,1040000000\n"
              "0,10.0.0.1,10.0.0.3,10,1000000000,1129000000\n"
              "1,10.0.0.1,10.0.0.2,800000,1130000000,1160000000\n"
              "1,10.0.0.2,10.0.0.1,800000,1130000000,1170000000\n");
  record::Run run = captured_ring();
  run.iterations->compute_gap_s = 0.001;
  const Fitted fitted = fit(run, folder / "");
  EXPECT_EQ(**fitted.experiment.jobs[0].compute_time, std::chrono::milliseconds(90));
}

TEST(Captured, exec_knows_its_network) {
  record::Run run = captured_ring();
  for (record::Host& host : run.hosts) host.name = "host" + host.name.substr(7);
  run.collectives[0].order = {"host1", "host2", "host3"};
  run.experiment = record::value_from(
      spec::to_json(parsed("[network]\nhosts = 5\nrate = \"300Mbit\"\ndelay = \"2ms\"\n")));
  const Fitted fitted = fit(run, "");
  EXPECT_EQ(*fitted.experiment.network.hosts, 5);
  EXPECT_EQ(*fitted.experiment.network.link.rate, BitRate(300e6));
  EXPECT_THAT(*fitted.experiment.jobs[0].hosts, ElementsAre("host1", "host2", "host3"));
}

TEST(Captured, what_was_not_recognised_is_no_job) {
  record::Run run = captured_ring();
  run.collectives[0].strategy = "unknown";
  try {
    fit(run, "");
    FAIL();
  } catch (const DataError& error) {
    EXPECT_THAT(error.what(), HasSubstr("no collective was recognised"));
  }
  run.iterations.reset();
  EXPECT_THROW(fit(run, ""), DataError);
}

TEST(Captured, silence_that_never_comes_is_told) {
  record::Run run = captured_ring();
  run.iterations->compute_gap_s.reset();
  EXPECT_THAT(fit(run, "").cannot, Contains(HasSubstr("give job.compute_time")));
}

// Open MPI's ring on an unshaped network, one rank 120 ms late: as it was analysed.
TEST(Captured, real_straggler_behaves_as_it_did) {
  std::ifstream file(TW_SOURCE_DIR "/src/record/documents/analyze.json");
  const record::Run run = record::run_from(nlohmann::ordered_json::parse(file));
  const Fitted fitted = fit(run, "");
  EXPECT_EQ(**fitted.experiment.jobs[0].straggler, "host1");
  EXPECT_NEAR(steps_s(fitted, fitted.experiment).at(0), 0.2248, 1e-3);
  // Were it as fast as the others, a step would take what is left without its 120 ms.
  spec::Experiment changed = fitted.experiment;
  changed.jobs[0].straggler.value.reset();
  EXPECT_NEAR(steps_s(fitted, changed).at(0), 0.2248 - 0.1199, 3e-3);
}

}  // namespace
}  // namespace tw::like
