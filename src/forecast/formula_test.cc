// SPDX-License-Identifier: Apache-2.0
#include "trainwire/forecast/formula.h"

#include "trainwire/collective/strategies.h"
#include "trainwire/forecast/step.h"
#include "trainwire/forecast/test_experiments.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tw::forecast {
namespace {

struct Where {
  std::string rate;
  std::string delay;
  std::string size;
};
const std::vector<Where> kPlaces{
    {"1Gbit", "50us", "10MB"}, {"200Mbit", "500us", "4MB"}, {"10Gbit", "20us", "400kB"}};

std::string text_of(std::string_view strategy, int hosts, const Where& where,
                    const std::string& more = "") {
  return fmt::format(
      "[network]\nhosts = {}\nrate = \"{}\"\ndelay = \"{}\"\n[[job]]\nstrategy = \"{}\"\n"
      "parameters = \"{}\"\ncompute_time = \"20ms\"\nsteps = 4\nwarmup = 2\n{}\n",
      hosts, where.rate, where.delay, strategy, where.size, more);
}

double relative_error(const spec::Experiment& experiment) {
  const double formula = step_times(experiment).front().median_s;
  const double flow = step_times(experiment, {.level = sim::Level::Flow}).front().median_s;
  return formula / flow - 1;
}

TEST(Formula, AgreesWithTheFlowLevelWhereItHolds) {
  int held = 0;
  for (const collective::Strategy& strategy : collective::catalogue()) {
    for (const int hosts : {2, 3, 5, 8, 16}) {
      for (const Where& where : kPlaces) {
        const spec::Experiment experiment = parsed(text_of(strategy.name, hosts, where));
        if (!no_formula(experiment).empty()) continue;
        ++held;
        EXPECT_NEAR(relative_error(experiment), 0, 0.01)
            << strategy.name << " " << hosts << " " << where.rate;
      }
    }
  }
  EXPECT_GT(held, 90);
}

TEST(Formula, AgreesForManyRanks) {
  for (const char* size : {"100MB", "1MB"}) {
    const spec::Experiment ring = parsed(text_of("ring", 64, {"10Gbit", "10us", size}));
    EXPECT_NEAR(relative_error(ring), 0, 0.01) << size;
  }
  const spec::Experiment servers =
      parsed(text_of("ps", 64, {"10Gbit", "10us", "1MB"}, "servers = 2"));
  EXPECT_NEAR(relative_error(servers), 0, 0.01);
}

TEST(Formula, AgreesWithBucketsOverlapAndSeveralRanksAHost) {
  const Where where{"1Gbit", "50us", "10MB"};
  EXPECT_NEAR(relative_error(parsed(text_of("ring", 4, where, "bucket = \"2MB\"\n"))), 0, 0.01);
  EXPECT_NEAR(relative_error(parsed(text_of("ring", 4, where, "bucket = \"2MB\"\noverlap = true"))),
              0, 0.01);
  // At flow level the first steps are up to 0.8 % shorter than later ones; packet by packet all are.
  EXPECT_NEAR(relative_error(parsed(text_of("ring", 4, where, "ranks = 64"))), 0, 0.0125);
  EXPECT_NEAR(relative_error(parsed(text_of("hierarchical", 4, where, "ranks = 16"))), 0, 0.01);
}

TEST(Formula, AgreesForSeveralRanksOnAHostOverLongWays) {
  // Of 62 hops of a chunk every second, or eighth, takes the 4 ms of a way: 10 kB are 0.09 ms on the line.
  const Where where{"1Gbit", "2ms", "1MB"};
  for (const int ranks : {32, 128}) {
    const auto more = fmt::format("ranks = {}\nbroadcast = false", ranks);
    const spec::Experiment ring = parsed(text_of("ring", 16, where, more));
    EXPECT_EQ(no_formula(ring), "");
    EXPECT_NEAR(relative_error(ring), 0, 0.01) << ranks;
  }
}

TEST(Formula, LeavesToSimulationWhatClosedWindowsMayTake) {
  // 300 ms of compute close windows of 20 ms round trips; of 0.2 ms there are five doublings, less than 1 ms of 300.
  const auto reason = [](const char* delay) {
    return no_formula(parsed(fmt::format(
        "[network]\nhosts = 3\nrate = \"200Mbit\"\ndelay = \"{}\"\n[[job]]\nparameters = \"4MB\"\n"
        "compute_time = \"300ms\"\nsteps = 4\nwarmup = 2\n",
        delay)));
  };
  EXPECT_EQ(reason("5ms"), "windows close while ranks compute");
  EXPECT_EQ(reason("50us"), "");
}

TEST(Formula, ShortMessagesNeedNoWindowThatIsOpen) {
  // 1.3 kB a hop are in any window: 1 s of compute closes none that matters.
  const spec::Experiment tiny = parsed(
      "[network]\nhosts = 3\nrate = \"1Gbit\"\ndelay = \"10ms\"\n[[job]]\nparameters = \"4kB\"\n"
      "compute_time = \"1s\"\nsteps = 4\nwarmup = 2\n");
  EXPECT_EQ(no_formula(tiny), "");
  EXPECT_NEAR(relative_error(tiny), 0, 1e-3);
  EXPECT_NEAR(step_times(tiny).front().median_s, 1 + 4 * 0.020, 1e-3);
}

TEST(Formula, CountsRoundsOfOthersAsPauses) {
  // 47 senders of 106 kB each at 300 Mbit/s: 133 ms, after which, with 190 ms of compute, what went there has to begin anew.
  const auto reason = [](const char* compute) {
    return no_formula(parsed(fmt::format(
        "[network]\nhosts = 12\nrate = \"300Mbit\"\ndelay = \"20ms\"\nqueue = "
        "\"100MB\"\n[[job]]\nstrategy = \"star\"\n"
        "ranks = 48\nparameters = \"106kB\"\ncompute_time = \"{}\"\nsteps = 4\nwarmup = 2\n",
        compute)));
  };
  EXPECT_EQ(reason("190ms"), "windows close while ranks compute");
  EXPECT_EQ(reason("10ms"), "");
}

TEST(Formula, LeavesToSimulationStreamsThatMeetInQueuesOfTheirPath) {
  // 10 Gbit/s and 0.2 ms hold 250 kB; three streams of 4.7 MB each meet in a queue of about that.
  const std::string clique = text_of("clique", 4, {"10Gbit", "50us", "18750kB"});
  EXPECT_EQ(no_formula(parsed(clique)), "streams meet in queues that may overflow");
  EXPECT_EQ(no_formula(parsed(clique, {"network.queue=4MB"})), "");
  EXPECT_EQ(no_formula(parsed(clique, {"job.parameters=300kB"})), "");  // all of it is in the queue
  EXPECT_EQ(no_formula(parsed(clique, {"job.strategy=ring"})), "");     // one stream a port
  EXPECT_EQ(no_formula(parsed(clique, {"job.strategy=opposite_rings"})),
            "streams meet in queues that may overflow");
}

TEST(Formula, IsAsUncertainAsQueuesWhereTooManyMeetToSimulate) {
  const StepTime step =
      step_times(parsed(text_of("clique", 64, {"10Gbit", "50us", "100MB"}))).front();
  EXPECT_EQ(step.method, Method::Formula);
  EXPECT_EQ(step.regime, Regime::Queue);
}

TEST(Formula, QueuesHoldWhatSlowStartSendsBeforeItEnds) {
  // Seven streams begin with 14.5 kB each and have at most 0.25 MB under way when HyStart ends slow start, 1.75 MB together; a
  // path of 4 us holds nothing.
  const auto reason = [](const char* rate, const char* queue) {
    return no_formula(parsed(text_of("clique", 8, {rate, "1us", "20MB"}),
                             {fmt::format("network.queue={}", queue)}));
  };
  EXPECT_EQ(reason("100Gbit", "1500KB"), "streams meet in queues that may overflow");
  EXPECT_EQ(reason("100Gbit", "2MB"), "");
  EXPECT_EQ(reason("1Gbit", "256KiB"), "");  // 125 kB in the millisecond that slow start lasts
  // Of two ranks a host 28 streams meet: 400 kB.
  EXPECT_EQ(no_formula(parsed(text_of("all_to_all", 8, {"10Mbit", "50us", "265kB"}, "ranks = 16"),
                              {"network.queue=100KB"})),
            "streams meet in queues that may overflow");
}

TEST(Formula, LeavesToPacketsWhatMeetsWhateverTheRate) {
  // Packet by packet timeouts make such a step several times as long as the line does.
  const spec::Experiment fast = parsed(text_of("clique", 6, {"10Gbit", "1us", "6MB"}, "ranks = 12"),
                                       {"network.queue=256KiB", "job.steps=3", "job.warmup=1"});
  EXPECT_EQ(step_times(fast).front().regime, Regime::Queue);
  const spec::Experiment server = parsed(text_of("ps", 8, {"100Gbit", "5us", "100MB"}));
  EXPECT_EQ(step_times(server).front().method, Method::Flow);
  EXPECT_EQ(step_times(server).front().regime, Regime::Queue);
  const StepTime step = step_times(fast, {.most_packets = 2e7}).front();
  EXPECT_EQ(step.method, Method::Packet);
  EXPECT_GT(step.median_s, 0.2);
}

TEST(Formula, LeavesShortMessagesOfBbrToSimulation) {
  const std::vector<std::string> bbr{"network.congestion_control=bbr"};
  const auto reason = [&](const char* size) {
    return no_formula(parsed(text_of("ring", 4, {"200Mbit", "5ms", size}), bbr));
  };
  EXPECT_EQ(reason("100kB"), "messages are too short for BBR to reach the line's rate");
  EXPECT_EQ(reason("20MB"), "");  // 30 MB in a row, 60 times what the path holds
}

TEST(Formula, LeavesToPacketsWhatMeetsInOnePort) {
  const spec::Experiment servers = parsed(text_of("ps", 4, {"1Gbit", "50us", "1MB"}));
  EXPECT_EQ(step_times(servers).front().method, Method::Formula);
  const StepTime step = step_times(servers, {.most_packets = 1e6}).front();
  EXPECT_EQ(step.method, Method::Packet);
  EXPECT_EQ(step.because, "several hosts send to one at a time");
}

TEST(Formula, LeavesToPacketsWhereWhoIsLateMakesOthersLate) {
  const spec::Experiment halving = parsed(text_of("halving_doubling", 4, {"1Gbit", "50us", "1MB"}));
  const StepTime step = step_times(halving, {.most_packets = 1e6}).front();
  EXPECT_EQ(step.method, Method::Packet);
  EXPECT_EQ(step.because, "the strategy loads links unevenly");
  EXPECT_EQ(step_times(halving).front().method, Method::Flow);
  const auto method = [](const char* strategy, int hosts) {
    const spec::Experiment asked = parsed(text_of(strategy, hosts, {"1Gbit", "50us", "100kB"}));
    return step_times(asked, {.most_packets = 1e6}).front().method;
  };
  EXPECT_EQ(method("halving_doubling", 8), Method::Flow);  // in every round all do the same
  EXPECT_EQ(method("halving_doubling", 6), Method::Packet);
  EXPECT_EQ(method("double_tree", 8), Method::Packet);
}

TEST(Formula, LeavesToSimulationWhatSwitchesMark) {
  const auto reason = [](const std::vector<std::string>& sets) {
    std::vector<std::string> all{"network.queue=20MB"};
    all.insert(all.end(), sets.begin(), sets.end());
    return no_formula(parsed(text_of("clique", 4, {"10Gbit", "50us", "10MB"}), all));
  };
  // 200 us at 10 Gbit/s are 250 kB; three times that is what streams need.
  EXPECT_EQ(reason({"network.ecn=100kB"}), "switches mark packets before streams find their rate");
  EXPECT_EQ(reason({"network.ecn=2MB"}), "");
  EXPECT_EQ(reason({"network.ecn=100kB", "job.strategy=ring"}), "");  // waits in its host
  EXPECT_EQ(reason({"network.ecn=100kB", "network.congestion_control=bbr"}), "");
  EXPECT_EQ(
      reason({"network.ecn=100kB", "network.congestion_control=bbr", "network.ecn_action=drop"}),
      "switches mark packets before streams find their rate");
}

TEST(Formula, TwoRoundsWithOtherPartnersAreNotTwoRoundsOfAll) {
  const Where where = kPlaces.front();
  EXPECT_EQ(no_formula(parsed(text_of("recursive_doubling", 4, where))),
            "the strategy loads links unevenly");
  EXPECT_EQ(no_formula(parsed(text_of("recursive_doubling", 2, where))), "");
  EXPECT_EQ(no_formula(parsed(text_of("clique", 4, where), {"network.queue=20MB"})), "");
}

TEST(Formula, IsTheRingsOwnWhereNothingWaits) {
  // 2 (4-1)/4 of 10 MB at 1 Gbit/s less headers (1448 of 1514 bytes), and one way of 2 x 50 us and a frame.
  const spec::Experiment experiment = parsed(text_of("ring", 4, {"1Gbit", "50us", "10MB"}));
  const double line = 1.5 * 10e6 * 8 / (1e9 * 1448 / 1514);
  EXPECT_NEAR(step_times(experiment).front().median_s, 0.020 + line + 100e-6 + 1514 * 8e-9, 1e-6);
}

TEST(Formula, SaysWhatItDoesNotHave) {
  const Where where = kPlaces.front();
  const auto reason = [&](const std::string& more, const std::vector<std::string>& sets = {}) {
    return no_formula(parsed(text_of("ring", 4, where, more), sets));
  };
  EXPECT_EQ(reason(""), "");
  EXPECT_EQ(reason("", {"network.loss=0.1%"}), "links lose packets");
  EXPECT_EQ(reason("", {"network.queue=30kB"}), "queues are shallow");
  EXPECT_EQ(reason("ranks = 8"), "ranks of one host are ahead of one another");
  EXPECT_EQ(reason("compute_jitter = 0.1"), "compute times vary");
  EXPECT_EQ(reason("straggler = \"host1\""), "a rank is late");
  EXPECT_EQ(reason("[[network.link]]\nat = \"host0\"\nrate = \"500Mbit\""), "links differ");
  EXPECT_EQ(reason("[[traffic]]\nkind = \"long\"\nfrom = \"host0\"\nto = \"host1\"\nload = 1"),
            "there is cross traffic");
  EXPECT_EQ(reason("", {"job.strategy=double_tree"}), "the strategy loads links unevenly");
}

}  // namespace
}  // namespace tw::forecast
