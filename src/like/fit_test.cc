// SPDX-License-Identifier: Apache-2.0
#include "trainwire/base/error.h"
#include "trainwire/like/like.h"
#include "trainwire/like/test_records.h"
#include "trainwire/result/test_folder.h"

#include <gmock/gmock.h>

#include <cmath>
#include <functional>

namespace tw::like {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

std::string why_not(const std::function<void()>& attempt) {
  try {
    attempt();
  } catch (const DataError& error) {
    return error.what();
  }
  return "";
}

/// As if the exchange had taken that many times as long as it was simulated.
record::Run slower(record::Run run, double factor, double compute_s) {
  for (double* s :
       {&run.jobs[0].step->median_s, &run.jobs[0].step->ci_low_s, &run.jobs[0].step->ci_high_s}) {
    *s = compute_s + factor * (*s - compute_s);
  }
  run.command = "run";
  return run;
}

TEST(Fit, of_a_simulation_is_the_experiment_itself) {
  const spec::Experiment experiment = parsed(ring_text());
  const Fitted fitted = fit(simulated_record(experiment), "");
  EXPECT_EQ(fitted.experiment, experiment);
  ASSERT_EQ(fitted.jobs.size(), 1U);
  EXPECT_NEAR(fitted.jobs[0].factor, 1, 1e-9);
  EXPECT_NEAR(fitted.jobs[0].compute_s, 0.050, 1e-9);
  EXPECT_THAT(fitted.hosts, ElementsAre("host0", "host1", "host2", "host3"));
}

TEST(Fit, finds_what_the_model_is_off) {
  const Fitted fitted = fit(slower(simulated_record(parsed(ring_text())), 1.2, 0.050), "");
  EXPECT_NEAR(fitted.jobs[0].factor, 1.2, 1e-6);
  EXPECT_NEAR(steps_s(fitted, fitted.experiment).at(0), fitted.jobs[0].step_s, 1e-9);
}

TEST(Fit, tells_that_the_model_is_far_off) {
  const record::Run run = simulated_record(parsed(ring_text()));
  EXPECT_THAT(fit(slower(run, 2.5, 0.050), "").cannot,
              Contains(HasSubstr("takes 2.5 times what is simulated")));
  EXPECT_THAT(fit(slower(run, 1.1, 0.050), "").cannot,
              testing::Each(testing::Not(HasSubstr("what is simulated"))));
}

// A quarter of the rate: far from what was measured, where two thirds of the factor are left.
TEST(Fit, keeps_most_of_what_the_model_is_off_at_another_rate) {
  const Fitted fitted = fit(slower(simulated_record(parsed(ring_text())), 1.2, 0.050), "");
  spec::Experiment changed = fitted.experiment;
  changed.network.link.rate.value = BitRate(25e6);
  const double simulated = simulated_record(changed).jobs[0].step->median_s;
  EXPECT_NEAR(steps_s(fitted, changed).at(0), 0.050 + std::pow(1.2, 2.0 / 3) * (simulated - 0.050),
              1e-6);
}

TEST(Fit, gains_from_a_small_change_what_the_model_says) {
  const JobFit fit{.simulated_s = 0.300, .compute_s = 0.100, .factor = 1.2, .carried = 2.0 / 3};
  // 1 % of an exchange of 200 ms, times 1.2.
  EXPECT_NEAR(step_s(fit, {.step_s = 0.302, .compute_s = 0.100}) -
                  step_s(fit, {.step_s = 0.300, .compute_s = 0.100}),
              0.0024, 0.0001);
}

TEST(Fit, computing_is_not_stretched) {
  const JobFit fit{.simulated_s = 0.300, .compute_s = 0.100, .factor = 1.2, .carried = 1};
  EXPECT_NEAR(step_s(fit, {.step_s = 0.700, .compute_s = 0.500}), 0.500 + 0.240, 1e-9);
  EXPECT_NEAR(step_s(fit, {.step_s = 0.500, .compute_s = 0.500}), 0.500, 1e-9);
}

TEST(Fit, puts_in_what_ranks_computed) {
  const spec::Experiment experiment = parsed(ring_text());
  const result::TestFolder folder;
  folder.file("steps.csv", steps_table({55, 55, 90, 55}, 6));
  const Fitted fitted = fit(simulated_record(experiment), folder / "");
  EXPECT_EQ(**fitted.experiment.jobs[0].straggler, "host2");
  EXPECT_NEAR(fitted.jobs[0].compute_s, 0.090, 1e-6);
}

// A step of 60 s in slow motion by 100 is one of 0.6 s.
TEST(Fit, speaks_of_the_cluster_not_of_its_slow_motion) {
  const spec::Experiment experiment = parsed(ring_text());
  record::Run run = simulated_record(experiment);
  const double usual = run.jobs[0].step->median_s;
  run.jobs[0].step->median_s *= 100;
  run.jobs[0].step->ci_low_s *= 100;
  run.jobs[0].step->ci_high_s *= 100;
  run.experiment =
      record::value_from(spec::to_json(parsed(ring_text() + "[run]\nslow_motion = 100\n")));
  const Fitted fitted = fit(run, "");
  EXPECT_NEAR(fitted.jobs[0].step_s, usual, 1e-9);
  EXPECT_NEAR(fitted.jobs[0].factor, 1, 1e-9);
  EXPECT_EQ(*fitted.experiment.run.slow_motion, 1);
}

TEST(Fit, of_a_step_that_only_computes_has_no_factor) {
  const spec::Experiment experiment = parsed(
      "[network]\nhosts = 2\nrate = \"10Gbit\"\n[[job]]\nparameters = \"4kB\"\n"
      "compute_time = \"1s\"\nsteps = 3\n");
  EXPECT_EQ(fit(slower(simulated_record(experiment), 1.7, 1), "").jobs[0].factor, 1);
}

TEST(Fit, of_a_sweep_asks_for_a_point) {
  record::Run run;
  run.points = std::vector<record::Point>{{.folder = "point-000"}, {.folder = "point-001"}};
  EXPECT_THAT(why_not([&] { fit(run, ""); }),
              HasSubstr("a sweep of 2 points is many runs, and a fit is of one: name the folder of "
                        "a point, such as point-000"));
}

TEST(Fit, of_a_run_whose_checks_failed_is_refused_unless_it_is_wanted) {
  record::Run run = simulated_record(parsed(ring_text()));
  run.checks.push_back({.name = "machine", .ok = false, .text = "it was busy"});
  EXPECT_THAT(why_not([&] { fit(run, ""); }),
              HasSubstr("check \"machine\" of the run failed (it was busy)"));
  const Fitted fitted = fit(run, "", {.in_spite_of_checks = true});
  EXPECT_THAT(fitted.cannot, Contains(HasSubstr("holds for that machine alone")));
}

TEST(Fit, of_a_run_without_a_network_is_refused) {
  record::Run run = simulated_record(parsed(ring_text()));
  run.engine = "loopback";
  EXPECT_THAT(why_not([&] { fit(run, ""); }), HasSubstr("loopback has no network"));
}

TEST(Fit, of_steps_that_nobody_finished_is_refused) {
  record::Run run = simulated_record(parsed(ring_text()));
  run.jobs[0].step.reset();
  EXPECT_THAT(why_not([&] { fit(run, ""); }), HasSubstr("job0 has no finished steps"));
  EXPECT_THAT(why_not([&] { fit(record::Run{}, ""); }),
              HasSubstr("neither steps of a job nor packets"));
}

TEST(Fit, tells_full_links_and_what_was_sent_again) {
  const result::TestFolder folder;
  // 1,250,000 bytes in each 100 ms with a queue: 100 Mbit/s.
  std::string samples =
      "time_ns,host,sent_bytes,received_bytes,queue_bytes,dropped_packets,receiving_queue_bytes,"
      "receiving_dropped_packets\n";
  for (std::int64_t i = 0; i < 20; ++i) {
    samples += std::to_string(1'000'000'000 + 100'000'000 * i) + ",host0," +
               std::to_string(1'250'000 * i) + ",0,3000,0,0,0\n";
  }
  folder.file("samples.csv", samples);
  folder.file("sockets.csv",
              "time_ns,job,rank,peer,lane,rtt_ns,rtt_deviation_ns,window_bytes,"
              "retransmitted_packets,queued_bytes\n"
              "1000,job0,0,1,0,500000,0,0,3,100\n2000,job0,0,1,0,700000,0,0,5,100\n");
  const Fitted fitted = fit(simulated_record(parsed(ring_text())), folder / "");
  const auto value = [&](std::string_view name) {
    for (const Constant& one : fitted.constants) {
      if (one.name == name) return one.value;
    }
    return -1.0;
  };
  EXPECT_NEAR(value("rate of host0 from_host"), 100e6, 1);
  EXPECT_EQ(value("rate of host0 to_host"), -1);
  EXPECT_NEAR(value("round trip, loaded"), 600e-6, 1e-9);
  // 7 steps of 6 MB, and a first model to three, in packets of 1,448 bytes.
  EXPECT_NEAR(value("share sent again"), 5 / (45e6 / 1448), 1e-6);
}

}  // namespace
}  // namespace tw::like
