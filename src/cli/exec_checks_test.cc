// SPDX-License-Identifier: Apache-2.0
#include "trainwire/cli/exec_checks.h"

#include <gtest/gtest.h>

namespace tw::cli {
namespace {

lab::ConductRequest two_hosts() {
  lab::ConductRequest request;
  request.plan.hosts = {{.name = "host0", .address = "10.77.0.1"},
                        {.name = "host1", .address = "10.77.0.2"}};
  return request;
}

/// Both hosts exchanged 700 bytes, and every count agrees.
lab::ConductOutcome sound() {
  lab::ConductOutcome outcome;
  outcome.ranks = {{.label = "rank 0 on host0", .output = "", .ending = {}},
                   {.label = "rank 1 on host1", .output = "", .ending = {}}};
  outcome.captures = {{.file = "host0.pcap", .packets = 2, .bytes = 700},
                      {.file = "host1.pcap", .packets = 2, .bytes = 700}};
  outcome.counters = {{.received_bytes = 200, .sent_bytes = 500},
                      {.received_bytes = 500, .sent_bytes = 200}};
  return outcome;
}

const RunCheck& named(const std::vector<RunCheck>& checks, std::string_view name) {
  for (const RunCheck& check : checks) {
    if (check.name == name) return check;
  }
  throw std::logic_error("no such check");
}

TEST(ExecChecks, PassWhenAllCountsAgree) {
  const auto checks = exec_checks(sound(), two_hosts(), {});
  EXPECT_TRUE(all_ok(checks)) << checks_text(checks);
  EXPECT_EQ(checks_document(checks)[0]["name"], "ranks");
}

TEST(ExecChecks, ASingleByteIsADifference) {
  lab::ConductOutcome outcome = sound();
  outcome.counters[1].sent_bytes += 1;
  const auto checks = exec_checks(outcome, two_hosts(), {});
  EXPECT_FALSE(named(checks, "bytes").ok);
  EXPECT_EQ(named(checks, "bytes").text, "captures and device counters differ by -1 bytes");
  EXPECT_FALSE(all_ok(checks));
}

TEST(ExecChecks, DropsFailuresAndMachinesAreTold) {
  lab::ConductOutcome outcome = sound();
  outcome.captures[0].dropped = 3;
  outcome.failure = "rank 1 on host1 exited with code 7";
  outcome.verdict = {.level = watch::WatchLevel::CpuBound, .reasons = {"a rank waited 40 %"}};
  const auto checks = exec_checks(outcome, two_hosts(), {});
  EXPECT_EQ(named(checks, "capture").found, "3 dropped");
  EXPECT_FALSE(named(checks, "capture").ok);
  EXPECT_EQ(named(checks, "ranks").text, "rank 1 on host1 exited with code 7");
  EXPECT_FALSE(named(checks, "machine").ok);
  EXPECT_EQ(named(checks, "machine").text, "a rank waited 40 %");
}

TEST(ExecChecks, ANetworkThatIsOffIsNamed) {
  lab::ConductOutcome outcome = sound();
  testbed::PathCheck path;
  path.path = {.from = 1, .to = 0};
  path.problems = {"the rate is 1 Mbit/s instead of 2 Mbit/s"};
  outcome.network = {path};
  EXPECT_EQ(named(exec_checks(outcome, two_hosts(), {}), "network").text,
            "host1 > host0: the rate is 1 Mbit/s instead of 2 Mbit/s");
  // What was not measured is not judged.
  lab::ConductRequest unmeasured = two_hosts();
  unmeasured.checks_network = false;
  EXPECT_THROW(named(exec_checks(sound(), unmeasured, {}), "network"), std::logic_error);
}

}  // namespace
}  // namespace tw::cli
