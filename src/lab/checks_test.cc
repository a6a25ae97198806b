// SPDX-License-Identifier: Apache-2.0
#include "trainwire/lab/checks.h"

#include "trainwire/lab/test_jobs.h"
#include "trainwire/record/check_kinds.h"

#include <gmock/gmock.h>

namespace tw::lab {
namespace {

using testing::HasSubstr;

ConductRequest two_hosts() {
  ConductRequest request;
  request.plan.hosts = {{.name = "host0", .address = "10.77.0.1"},
                        {.name = "host1", .address = "10.77.0.2"}};
  return request;
}

/// Both hosts exchanged 700 bytes, and every count agrees.
ConductOutcome sound() {
  ConductOutcome outcome;
  outcome.ranks = {{.label = "rank 0 on host0", .output = "", .ending = {}},
                   {.label = "rank 1 on host1", .output = "", .ending = {}}};
  outcome.captures = {{.file = "host0.pcap", .packets = 2, .bytes = 700},
                      {.file = "host1.pcap", .packets = 2, .bytes = 700}};
  outcome.counters = {{.received_bytes = 200, .sent_bytes = 500},
                      {.received_bytes = 500, .sent_bytes = 200}};
  return outcome;
}

const record::Check& named(const std::vector<record::Check>& checks, std::string_view name) {
  for (const record::Check& check : checks) {
    if (check.name == name) return check;
  }
  throw std::logic_error("no such check");
}

TEST(ConductChecks, PassWhenAllCountsAgree) {
  const auto checks = conduct_checks(sound(), two_hosts(), {});
  EXPECT_TRUE(record::all_ok(checks));
  EXPECT_EQ(checks[0].name, "ranks");
  for (const record::Check& check : checks) {
    EXPECT_NE(record::find_check_kind(check.name), nullptr) << check.name << " is not explained";
  }
}

TEST(ConductChecks, ASingleByteIsADifference) {
  ConductOutcome outcome = sound();
  outcome.counters[1].sent_bytes += 1;
  const auto checks = conduct_checks(outcome, two_hosts(), {});
  EXPECT_FALSE(named(checks, "bytes").ok);
  EXPECT_EQ(named(checks, "bytes").text, "captures and device counters differ by -1 bytes");
  EXPECT_FALSE(all_ok(checks));
}

TEST(ConductChecks, AClockThatWasSetIsTold) {
  ConductOutcome outcome = sound();
  outcome.started = {.real_ns = 7'000'000'000'000, .monotonic_ns = 1'000'000'000};
  outcome.ended = {.real_ns = 3'402'000'900'000, .monotonic_ns = 3'000'000'000};
  const auto checks = conduct_checks(outcome, two_hosts(), {});
  EXPECT_FALSE(named(checks, "clock").ok);
  EXPECT_THAT(named(checks, "clock").text, testing::HasSubstr("was set by -3599.999 s"));
  outcome.ended = {.real_ns = 7'002'000'900'000, .monotonic_ns = 3'000'000'000};
  EXPECT_TRUE(named(conduct_checks(outcome, two_hosts(), {}), "clock").ok);
}

TEST(ConductChecks, DropsFailuresAndMachinesAreTold) {
  ConductOutcome outcome = sound();
  outcome.captures[0].dropped = 3;
  outcome.failure = "rank 1 on host1 exited with code 7";
  outcome.verdict = {.level = watch::WatchLevel::CpuBound, .reasons = {"a rank waited 40 %"}};
  const auto checks = conduct_checks(outcome, two_hosts(), {});
  EXPECT_EQ(named(checks, "capture").found, "3 dropped");
  EXPECT_FALSE(named(checks, "capture").ok);
  EXPECT_EQ(named(checks, "ranks").text, "rank 1 on host1 exited with code 7");
  EXPECT_FALSE(named(checks, "machine").ok);
  EXPECT_EQ(named(checks, "machine").text, "a rank waited 40 %");
}

TEST(ConductChecks, ANetworkThatIsOffIsNamed) {
  ConductOutcome outcome = sound();
  testbed::PathCheck path;
  path.path = {.from = 1, .to = 0};
  path.problems = {"the rate is 1 Mbit/s instead of 2 Mbit/s"};
  path.fitness = testbed::Fitness::Warned;
  outcome.network = {path};
  const auto warned = named(conduct_checks(outcome, two_hosts(), {}), "network");
  EXPECT_EQ(warned.text, "host1 > host0: the rate is 1 Mbit/s instead of 2 Mbit/s");
  EXPECT_TRUE(warned.ok);
  EXPECT_EQ(warned.caution, true);
  outcome.network[0].fitness = testbed::Fitness::Refused;
  EXPECT_FALSE(named(conduct_checks(outcome, two_hosts(), {}), "network").ok);
  // What was not measured is not judged.
  ConductRequest unmeasured = two_hosts();
  unmeasured.checks_network = false;
  EXPECT_THROW(named(conduct_checks(sound(), unmeasured, {}), "network"), std::logic_error);
}

std::vector<RankState> counted(std::int64_t first, std::int64_t second) {
  std::vector<RankState> ranks(2);
  for (std::size_t i = 0; i < 2; ++i) {
    ranks[i].rank = i;
    ranks[i].label = "rank " + std::to_string(i);
    ranks[i].told_counts = true;
    ranks[i].counts.sent = {0, 0};
    ranks[i].counts.framing = {0, 0};
    ranks[i].counts.checked = 10;
  }
  ranks[0].counts.sent[1] = first;
  ranks[1].counts.sent[0] = second;
  return ranks;
}

TEST(TrainingChecks, CompareSchedulesWithWhatRanksSent) {
  // A ring of two sends 2(2-1)/2 of 4000 bytes, twice.
  const std::vector<TrainingJob> jobs{job_of_two()};
  const auto right = training_checks(jobs, counted(8000, 8000), {});
  EXPECT_TRUE(record::all_ok(right));
  for (const record::Check& check : right) {
    EXPECT_NE(record::find_check_kind(check.name), nullptr) << check.name << " is not explained";
  }
  const auto wrong = training_checks(jobs, counted(8000, 7996), {});
  EXPECT_FALSE(record::all_ok(wrong));
  EXPECT_THAT(wrong[0].text, HasSubstr("rank 1 sent 7996 bytes to rank 0, its schedule says 8000"));
}

TEST(TrainingChecks, TellWrongSumsAndRanksThatSaidNothing) {
  const std::vector<TrainingJob> jobs{job_of_two()};
  auto ranks = counted(8000, 8000);
  ranks[0].counts.wrong = 3;
  EXPECT_THAT(training_checks(jobs, ranks, {})[1].text, HasSubstr("3 of 20 elements are wrong"));
  ranks = counted(8000, 8000);
  ranks[1].told_counts = false;
  EXPECT_FALSE(training_checks(jobs, ranks, {})[0].ok);
}

}  // namespace
}  // namespace tw::lab
