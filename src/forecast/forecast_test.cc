// SPDX-License-Identifier: Apache-2.0
#include "trainwire/forecast/forecast.h"

#include "trainwire/base/error.h"
#include "trainwire/forecast/errors.h"
#include "trainwire/forecast/range.h"
#include "trainwire/forecast/scale.h"
#include "trainwire/forecast/test_experiments.h"
#include "trainwire/forecast/what_if.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

namespace tw::forecast {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string kRing =
    "[network]\nhosts = 4\nrate = \"1Gbit\"\ndelay = \"50us\"\n[[job]]\nparameters = \"10MB\"\n"
    "compute_time = \"20ms\"\nsteps = 6\nwarmup = 1\nbatch = 32\n";

Variants variants_of(const std::string& text) {
  return [text](const std::vector<std::string>& sets) { return parsed(text, sets); };
}

double sum_of(const std::vector<Part>& parts) {
  return std::accumulate(parts.begin(), parts.end(), 0.0,
                         [](double sum, const Part& part) { return sum + part.seconds; });
}

double seconds_of(const std::vector<Part>& parts, std::string_view name) {
  for (const Part& part : parts) {
    if (part.name == name) return part.seconds;
  }
  return -1;
}

std::string problem_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const SpecError& error) {
    return error.what();
  }
  return "";
}

TEST(Forecast, PartsAddUpToTheStep) {
  for (const std::string& more :
       {std::string(), std::string("straggler = \"host1\"\n"),
        std::string("[[network.link]]\nat = \"host2\"\nrate = \"200Mbit\"\n"),
        std::string(
            "[[traffic]]\nkind = \"long\"\nfrom = \"host0\"\nto = \"host1\"\nload = 1\n")}) {
    const std::string text = kRing + more;
    for (const JobForecast& job : forecasts(parsed(text), variants_of(text))) {
      EXPECT_NEAR(sum_of(job.parts), job.step.median_s, 1e-9) << more;
      EXPECT_LT(job.interval.low_s, job.step.median_s);
      EXPECT_GT(job.interval.high_s, job.step.median_s);
    }
  }
}

TEST(Forecast, NamesWhatBinds) {
  const JobForecast plain = forecasts(parsed(kRing), variants_of(kRing)).front();
  EXPECT_EQ(plain.binding.resource, "bandwidth");
  EXPECT_EQ(plain.binding.next, "compute");
  EXPECT_NEAR(*plain.binding.headroom, 125.5 / 20, 0.1);
  const std::string slow = kRing + "[[network.link]]\nat = \"host2\"\nrate = \"100Mbit\"\n";
  const JobForecast behind = forecasts(parsed(slow), variants_of(slow)).front();
  EXPECT_EQ(behind.binding.resource, "slow_link");
  EXPECT_THAT(behind.binding.where, HasSubstr("host2"));
  // Nine tenths of 1.255 s on that link are its slowness.
  EXPECT_NEAR(seconds_of(behind.parts, "slow_link"), 1.13, 0.02);
}

TEST(Forecast, ASmallSocketBufferIsAPart) {
  // 64 kB under way over 4 ms are some 95 Mbit/s of a line of 1 Gbit/s.
  const std::string text = kRing;
  const std::vector<std::string> small{"network.socket_buffer=64KB", "network.delay=1ms"};
  const auto variants = [&](const std::vector<std::string>& sets) {
    std::vector<std::string> all = small;
    all.insert(all.end(), sets.begin(), sets.end());
    return parsed(text, all);
  };
  const JobForecast job = forecasts(parsed(text, small), variants).front();
  EXPECT_EQ(job.binding.resource, "window");
  EXPECT_GT(seconds_of(job.parts, "window"), 0.8 * job.step.median_s);
}

TEST(Forecast, ALateRankIsNotTheNetwork) {
  const std::string text = kRing + "straggler = \"host1\"\nstraggler_factor = 20\n";
  const JobForecast job = forecasts(parsed(text), variants_of(text)).front();
  EXPECT_EQ(job.binding.resource, "late_rank");
  EXPECT_NEAR(seconds_of(job.parts, "late_rank"), 0.380, 0.01);
  EXPECT_EQ(job.step.regime, Regime::Late);
}

TEST(Forecast, ElasticitiesAreSlopes) {
  const JobForecast job = forecasts(parsed(kRing), variants_of(kRing)).front();
  ASSERT_GE(job.elasticities.size(), 4u);
  EXPECT_EQ(job.elasticities[0].of, "bandwidth");
  EXPECT_NEAR(job.elasticities[0].percent, -125.5 / 145.6, 0.01);
  EXPECT_EQ(job.elasticities[2].of, "compute");
  EXPECT_NEAR(job.elasticities[2].percent, 20 / 145.6, 0.01);
  // (1 - 1/5) / (1 - 1/4) of the line for five ranks.
  EXPECT_NEAR(job.elasticities[3].percent, std::log((20 + 133.9) / 145.6) / std::log(1.25), 0.01);
}

// Five send to one at a time: what full queues drop changes with a little more of anything.
const std::string kServer =
    "[network]\nhosts = 6\nrate = \"1Gbit\"\ndelay = \"200us\"\n[[job]]\nstrategy = \"ps\"\n"
    "parameters = \"200kB\"\ncompute_time = \"10ms\"\nsteps = 3\nwarmup = 1\n";

TEST(Forecast, SlopesOfPacketsHaveErrors) {
  const Asking asking{.most_packets = 2e7};
  const JobForecast smooth = forecasts(parsed(kRing), variants_of(kRing), asking).front();
  for (const Elasticity& each : smooth.elasticities) EXPECT_EQ(each.error, 0) << each.of;
  const JobForecast rough = forecasts(parsed(kServer), variants_of(kServer), asking).front();
  ASSERT_EQ(rough.step.method, Method::Packet);
  for (const Elasticity& each : rough.elasticities) EXPECT_GT(each.error, 0) << each.of;
}

TEST(Forecast, PartsOfPacketsAddUpWhateverTheyAreFoundBy) {
  const spec::Experiment experiment = parsed(kServer);
  const StepTime step = step_times(experiment, {.most_packets = 2e7}).front();
  ASSERT_EQ(step.method, Method::Packet);
  const std::vector<Part> flows = parts_of(experiment, 0, step, {.alike = Method::Flow});
  EXPECT_NEAR(sum_of(flows), step.median_s, 1e-9);
  EXPECT_NEAR(seconds_of(flows, "loss"), 0, 1e-6);  // flows drop nothing
  const std::vector<Part> packets =
      parts_of(experiment, 0, step, {.most_packets = 2e7, .alike = Method::Packet});
  EXPECT_NEAR(sum_of(packets), step.median_s, 1e-9);
  const spec::Experiment deep = parsed(kServer, {"network.queue=4MiB"});
  const double without_s = step_times(deep, {.most_packets = 2e7}).front().median_s;
  EXPECT_NEAR(seconds_of(packets, "loss"), std::max(0.0, step.median_s - without_s),
              0.02 * step.median_s);
}

TEST(Forecast, PacketsTellWhatMarksCost) {
  const std::vector<std::string> marked{"network.ecn=10kB", "network.congestion_control=dctcp",
                                        "job.strategy=clique"};
  const spec::Experiment experiment = parsed(kRing, marked);
  const StepTime packets = step_times(experiment, {.most_packets = 2e7}).front();
  EXPECT_EQ(packets.method, Method::Packet);
  EXPECT_EQ(packets.marks, 0);
  // Without packets it is told that flows know nothing of marks, of which they are on the short side.
  const StepTime flows = step_times(experiment).front();
  EXPECT_EQ(flows.method, Method::Flow);
  EXPECT_EQ(flows.regime, Regime::Queue);
  EXPECT_NEAR(flows.marks, std::log(25e3 / 10e3), 0.2);  // of 200 us and two frames at 1 Gbit/s
  const Interval interval = interval_of(experiment, flows);
  EXPECT_GT(interval.high_s, packets.median_s);
  StepTime unmarked = flows;
  unmarked.marks = 0;
  EXPECT_NEAR(interval.low_s, interval_of(experiment, unmarked).low_s, 1e-12);
}

TEST(Forecast, StreamsThatMeetAreLeftToPacketsAlsoWhereThereIsNoFormula) {
  const std::string text =
      "[network]\nhosts = 4\nrate = \"1Gbit\"\ndelay = \"50us\"\n[[job]]\nstrategy = \"clique\"\n"
      "parameters = \"1MB\"\ncompute_time = \"5ms\"\nsteps = 3\nwarmup = 1\n";
  const auto method = [&](const std::vector<std::string>& sets) {
    return step_times(parsed(text, sets), {.most_packets = 2e7}).front().method;
  };
  EXPECT_EQ(method({}), Method::Packet);
  EXPECT_EQ(method({"network.topology=dumbbell"}), Method::Packet);
  EXPECT_EQ(method({"job.side_connections=1"}), Method::Packet);
  EXPECT_EQ(method({"network.topology=dumbbell", "job.strategy=ring"}), Method::Flow);
}

TEST(Forecast, AnIntervalHasAllOfAnExchangeThatComputingHides) {
  // Of 100 ms of an exchange 90 are hidden, and all of it follows the bucket that is full after 20 ms: a tenth more is 10 ms more.
  StepTime step{.median_s = 0.120, .compute_s = 0.110, .alone_s = 0.110, .exchange_s = 0.1};
  const double width = std::exp(interval_of(parsed(kRing), step).sources.all()) - 1;
  const double before_s = interval_of(parsed(kRing), step).high_s;
  EXPECT_NEAR(before_s, 0.120 + width * (0.010 + 0.05 * 0.110), 1e-9);
  step.tails = {{.from_s = 0.020, .exchange_s = 0.1}, {.from_s = 0.080, .exchange_s = 0.02}};
  EXPECT_NEAR(interval_of(parsed(kRing), step).high_s, 0.120 + width * 0.1, 1e-9);
  EXPECT_NEAR(interval_of(parsed(kRing), step).low_s, 0.110, 1e-9);  // its compute
  // What waits for its last bucket alone is known as well as before.
  step.tails = {{.from_s = 0.020, .exchange_s = 0.02}, {.from_s = 0.110, .exchange_s = 0.01}};
  EXPECT_NEAR(interval_of(parsed(kRing), step).high_s, before_s, 1e-9);
}

TEST(Forecast, TimeoutsAreAsLongAtAnyRate) {
  // Fifteen senders at once into 1 MB: what a timeout costs is no share of 12 ms.
  const std::string text =
      "[network]\nhosts = 16\nrate = \"10Gbit\"\ndelay = \"5us\"\nqueue = \"1MB\"\n[[job]]\n"
      "strategy = \"star\"\nparameters = \"1MB\"\ncompute_time = \"5ms\"\nsteps = 3\nwarmup = 1\n";
  const StepTime fast = step_times(parsed(text)).front();
  ASSERT_EQ(fast.overflowing, 1);
  EXPECT_NEAR(interval_of(parsed(text), fast).high_s, fast.median_s + 0.2, 1e-9);
  const spec::Experiment measured = parsed(text, {"network.rate=1Gbit"});
  const StepTime slow = step_times(measured).front();
  const double width = interval_of(measured, slow).sources.all();
  EXPECT_NEAR(interval_of(measured, slow).high_s,
              slow.median_s + error_scale(slow) * (std::exp(width) - 1), 1e-9);
}

TEST(Forecast, WhoExchangesNothingIsNotWrongAboutTheNetwork) {
  const spec::Experiment alone = parsed(kRing, {"network.hosts=1"});
  const StepTime step = step_times(alone).front();
  EXPECT_EQ(interval_of(alone, step).low_s, step.median_s);
  EXPECT_EQ(interval_of(alone, step).high_s, step.median_s);
}

TEST(Forecast, NamesNothingNextThatHardlyCounts) {
  const std::string text = kRing + "[[network.link]]\nat = \"host2\"\nrate = \"10Mbit\"\n";
  const std::vector<Part> parts{{"slow_link", 1}, {"compute", 1e-5}};
  EXPECT_FALSE(binding_of(parsed(text), 0, parts).headroom);
}

TEST(Forecast, ChanceHasSeveralSeedsAndNoise) {
  const std::string text = kRing + "compute_jitter = 0.3\n";
  const StepTime step = step_times(parsed(text)).front();
  EXPECT_EQ(step.seeds, 5);
  EXPECT_GT(step.noise, 0);
  EXPECT_EQ(step.method, Method::Flow);
  EXPECT_GT(interval_of(parsed(text), step).sources.noise, 0);
}

TEST(WhatIf, IsAGridRelativeToTheBase) {
  const std::vector<Question> questions{parse_question("network.rate=1Gbit,2Gbit"),
                                        parse_question("job.strategy=ring,clique")};
  const std::vector<WhatIf> found = what_ifs(parsed(kRing), questions, variants_of(kRing));
  ASSERT_EQ(found.size(), 4u);
  EXPECT_THAT(found[1].settings,
              ElementsAre(std::pair("network.rate", "1Gbit"), std::pair("job.strategy", "clique")));
  EXPECT_NEAR(found[0].steps.front().median_s, 0.1456, 1e-4);
  EXPECT_NEAR(found[2].steps.front().median_s, 0.020 + 0.1255 / 2, 2e-4);
}

TEST(WhatIf, HostsFollowRanks) {
  const std::vector<Question> questions{parse_question("job.ranks=8")};
  const std::vector<WhatIf> found = what_ifs(parsed(kRing), questions, variants_of(kRing));
  EXPECT_THAT(found.front().with, ElementsAre("network.hosts=8"));
  const std::vector<Question> both{parse_question("job.ranks=8"),
                                   parse_question("network.hosts=4")};
  EXPECT_TRUE(what_ifs(parsed(kRing), both, variants_of(kRing)).front().with.empty());
}

// Beyond 1 Gbit/s the formula would answer, and 0.1 % more bandwidth would seem to take longer.
TEST(WhatIf, IsFoundAsWhatItIsComparedWith) {
  const std::vector<Question> questions{parse_question("network.rate=1Gbit,1001Mbit")};
  const Asking asking{.most_packets = 2e7, .alike = Method::Packet};
  for (const WhatIf& each : what_ifs(parsed(kServer), questions, variants_of(kServer), asking)) {
    EXPECT_EQ(each.steps.front().method, Method::Packet);
  }
}

TEST(WhatIf, SaysWhyNothingChanges) {
  const std::vector<Question> questions{parse_question("job.batch=32,64"),
                                        parse_question("network.rate=1Gbit,2Gbit")};
  for (const WhatIf& each : what_ifs(parsed(kRing), questions, variants_of(kRing))) {
    EXPECT_EQ(each.remark, "job.batch changes nothing: job.compute_time is given");
  }
  const std::vector<Question> both{parse_question("job.batch=64"),
                                   parse_question("job.device=v100")};
  EXPECT_EQ(what_ifs(parsed(kRing), both, variants_of(kRing)).front().remark,
            "job.batch and job.device change nothing: job.compute_time is given");
  const std::string timed = "[network]\nhosts = 4\n[[job]]\nmodel = \"resnet50\"\nsteps = 6\n";
  const std::vector<Question> batch{parse_question("job.batch=64")};
  EXPECT_EQ(what_ifs(parsed(timed), batch, variants_of(timed)).front().remark, "");
}

TEST(WhatIf, SaysWhereRanksAreThatTheFileHasPlaced) {
  const std::string text = kRing + "hosts = [\"host0\", \"host1\"]\n";
  const std::vector<Question> questions{parse_question("job.ranks=2,4")};
  const std::vector<WhatIf> found = what_ifs(parsed(text), questions, variants_of(text));
  EXPECT_EQ(found[0].remark, "");  // as it is
  EXPECT_EQ(found[1].remark, "on the hosts that the file names");
}

TEST(WhatIf, HostsFollowTheRanksOfTheOnlyJobByItsNumberToo) {
  const std::vector<Question> questions{parse_question("job.0.ranks=8")};
  EXPECT_THAT(what_ifs(parsed(kRing), questions, variants_of(kRing)).front().with,
              ElementsAre("network.hosts=8"));
}

TEST(WhatIf, ContradictionsAreToldInASentence) {
  const auto said = [](const std::vector<std::string>& texts) {
    return problem_of([&] {
      std::vector<Question> questions;
      for (const std::string& text : texts) questions.push_back(parse_question(text));
      require_consistent(questions);
    });
  };
  EXPECT_EQ(
      said({"network.rate=1Gbit", "network.rate=2Gbit"}),
      "--what-if network.rate is there twice; write all values in one: network.rate=2Gbit,...");
  EXPECT_EQ(said({"job.ranks=8", "job.0.ranks=4"}),
            "--what-if job.ranks and job.0.ranks set the same; leave one of them out");
  EXPECT_EQ(said({"job.0.ranks=8", "job.1.ranks=4"}), "");
  EXPECT_THAT(said({"network.rate"}), HasSubstr("a key and its values are needed"));
  EXPECT_THAT(said({"network.rate=1Gbit,,2Gbit"}), HasSubstr("a value is empty"));
  // A value that cannot be is that row's problem.
  const std::vector<Question> questions{parse_question("job.strategy=ps"),
                                        parse_question("job.servers=1,9")};
  const std::vector<WhatIf> found = what_ifs(parsed(kRing), questions, variants_of(kRing));
  EXPECT_TRUE(found[0].problem.empty());
  EXPECT_THAT(found[1].problem, HasSubstr("servers"));
}

TEST(WhatIf, CommasInListsPartNothing) {
  EXPECT_THAT(parse_question("job.hosts=[\"host0\",\"host1\"],[\"host2\",\"host3\"]").values,
              ElementsAre("[\"host0\",\"host1\"]", "[\"host2\",\"host3\"]"));
}

TEST(Scale, RanksKeepTheirKindOfHost) {
  const Scaling found = scaling(parsed(kRing, {"job.ranks=8"}), {.first = 2, .last = 32},
                                [](const std::vector<std::string>& sets) {
                                  std::vector<std::string> all{"job.ranks=8"};
                                  all.insert(all.end(), sets.begin(), sets.end());
                                  return parsed(kRing, all);
                                });
  ASSERT_EQ(found.points.size(), 5u);
  EXPECT_EQ(found.points[0].ranks, 2);
  EXPECT_NEAR(found.points[0].efficiency, 1, 1e-6);  // on one host
  EXPECT_EQ(found.points[4].ranks, 32);
  EXPECT_LT(found.points[4].efficiency, 0.2);
}

TEST(Scale, TellsBreakEvenAndWhereItTurns) {
  // Two ranks: 20 + 83.8 ms for twice the samples of 20 ms: slower than one, as 64 are not.
  const Scaling ring = scaling(parsed(kRing), {.first = 2, .last = 64}, variants_of(kRing));
  EXPECT_EQ(ring.break_even.value, 16);  // 8 ranks: 20 + 146.6 ms, 8.3 times one rank's step
  EXPECT_FALSE(ring.turns.value);
  EXPECT_LE(*ring.break_even.low, 16);
  EXPECT_GE(*ring.break_even.high, 16);
  // One server's link carries what all workers send: throughput rises to a limit, never above one rank's.
  const std::string server = kRing + "strategy = \"ps\"\n";
  EXPECT_FALSE(
      scaling(parsed(server), {.first = 2, .last = 64}, variants_of(server)).break_even.value);
}

TEST(Scale, AHundredThousandRanksTakeMoments) {
  const Scaling found = scaling(parsed(kRing), {.first = 2, .last = 100'000}, variants_of(kRing));
  EXPECT_EQ(found.points.back().ranks, 100'000);
  EXPECT_EQ(found.points.back().step.method, Method::Formula);
  EXPECT_TRUE(found.points.back().problem.empty());
}

TEST(Scale, NeedsComputeTime) {
  const std::string text =
      "[network]\nhosts = 2\n[[job]]\nparameters = \"1MB\"\ncompute_time = \"0ms\"\n";
  EXPECT_THAT(
      problem_of([&] { scaling(parsed(text), {.first = 2, .last = 4}, variants_of(text)); }),
      HasSubstr("it has no compute time"));
}

TEST(Scale, RangesAreReadOrRefused) {
  EXPECT_THAT(sizes_of(parse_sizes("2..20")), ElementsAre(2, 4, 8, 16, 20));
  EXPECT_THAT(sizes_of(parse_sizes("5,3,5")), ElementsAre(3, 5));
  for (const char* wrong : {"0..4", "4..2", "2..", "a", "2,,4", ""}) {
    EXPECT_NE(problem_of([&] { parse_sizes(wrong); }), "") << wrong;
  }
}

TEST(Range, BeyondItThereIsASentence) {
  EXPECT_EQ(beyond_range(parsed(kRing)), "");
  EXPECT_THAT(beyond_range(parsed(kRing, {"network.rate=5Tbit"})), HasSubstr("outside"));
  EXPECT_THAT(beyond_range(parsed(kRing, {"network.loss=20%"})), HasSubstr("loss"));
  EXPECT_EQ(extrapolation_of(parsed(kRing)), 0);
  const double far = extrapolation_of(parsed(kRing, {"network.rate=100Gbit"}));
  EXPECT_GT(far, 0);
  EXPECT_GT(extrapolation_of(parsed(kRing, {"network.rate=100Gbit", "network.hosts=64"})), far);
}

TEST(Errors, TableIsReadAndEveryRegimeHasARow) {
  for (const Regime regime : kRegimes) {
    EXPECT_GT(errors().runs_of(Method::Flow, regime), 0) << name_of(regime);
    EXPECT_GT(errors().of(Method::Formula, regime), 0);
    EXPECT_LT(errors().of(Method::Formula, regime), 2);
  }
  EXPECT_THROW(errors_in("level,regime,runs,error\nflow,loss,9\n"), DataError);
  EXPECT_THROW(errors_in("level,regime,runs,error\nflow,loss,nine,0.1\n"), DataError);
  EXPECT_THROW(errors_in("level,regime,runs,error\nflow,weather,9,0.1\n"), DataError);
  const Errors read = errors_in("level,regime,runs,error\n# comment\nflow,covered,60,54\n");
  EXPECT_NEAR(read.coverage(Method::Flow).share(), 0.9, 1e-12);
}

}  // namespace
}  // namespace tw::forecast
