// SPDX-License-Identifier: Apache-2.0
#include "trainwire/sim/closed_form.h"

#include "trainwire/base/error.h"
#include "trainwire/base/random.h"
#include "trainwire/base/test_sizes.h"
#include "trainwire/collective/strategies.h"
#include "trainwire/sim/describe.h"
#include "trainwire/spec/parse.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <map>
#include <string_view>
#include <utility>

namespace tw::sim {
namespace {

spec::Experiment parsed(const std::string& text) {
  spec::Vocabulary words{.models = {}, .strategies = {}, .devices = {"a100"}, .served = {"ps"}};
  for (const collective::Strategy& strategy : collective::catalogue()) {
    words.strategies.push_back(strategy.name);
  }
  return spec::parse(text, "x.toml", words, {});
}

/// What a rank did in a step: begin and end of it and of its exchange; both 0 without one.
using Lived = std::map<std::pair<int, std::int64_t>, std::array<std::int64_t, 4>>;

Lived lived(const SimulatedJob& job) {
  Lived all;
  for (const play::Step& step : job.steps) {
    const auto exchange = job.exchanges.find({step.rank, step.step});
    const bool exchanged = exchange != job.exchanges.end();
    all[{step.rank, step.step}] = {step.begin.count(), step.end.count(),
                                   exchanged ? exchange->second.begin.count() : 0,
                                   exchanged ? exchange->second.end.count() : 0};
  }
  for (const regular::RingStep& step : job.rounds) {
    const regular::StepTimes& times = *step.times;
    for (std::size_t i = 0; i < times.begin.size(); ++i) {
      const bool exchanged = times.exchange_begin[i] <= times.exchange_end[i];
      const auto shifted = [&](Duration time) { return (time + step.shift).count(); };
      all[{static_cast<int>(i), step.step}] = {shifted(times.begin[i]), shifted(times.end[i]),
                                               exchanged ? shifted(times.exchange_begin[i]) : 0,
                                               exchanged ? shifted(times.exchange_end[i]) : 0};
    }
  }
  return all;
}

/// The largest difference, in nanoseconds; of other ranks and steps as well: a day.
std::int64_t difference_ns(const Lived& some, const Lived& others) {
  std::int64_t most = 0;
  if (some.size() != others.size()) return 86'400'000'000'000;
  for (const auto& [key, times] : some) {
    const auto found = others.find(key);
    if (found == others.end()) return 86'400'000'000'000;
    for (std::size_t i = 0; i < times.size(); ++i) {
      most = std::max(most, std::abs(times[i] - found->second[i]));
    }
  }
  return most;
}

/// Every time within so many nanoseconds, every byte.
void expect_same(const std::string& text, const ClosedForm& answer, std::int64_t within_ns) {
  const spec::Experiment made = parsed(text);
  ASSERT_TRUE(answer.found) << answer.reason << '\n' << text;
  const Simulated& closed = *answer.found;
  const Simulated all = simulate_explicitly(made, Level::Flow, {.at_once = true});
  EXPECT_LE(std::abs((closed.end - all.end).count()), within_ns) << text;
  EXPECT_EQ(closed.messages, all.messages) << text;
  for (std::size_t i = 0; i < all.jobs.size(); ++i) {
    ASSERT_LE(difference_ns(lived(closed.jobs[i]), lived(all.jobs[i])), within_ns) << text;
    std::vector<std::int64_t> sent(closed.jobs[i].sent.size());
    for (const auto& [pair, bytes] : all.jobs[i].bytes) {
      sent[static_cast<std::size_t>(pair.first)] += bytes;
    }
    EXPECT_EQ(closed.jobs[i].sent, sent) << text;
  }
  for (std::size_t port = 0; port < all.ports.size(); ++port) {
    EXPECT_NEAR(closed.ports[port].payload_bytes, all.ports[port].payload_bytes, 1) << text;
  }
}

/// Every time to the nanosecond, every byte.
void expect_same(const std::string& text) {
  const ClosedForm answer = in_closed_form(parsed(text));
  ASSERT_TRUE(answer.found) << answer.reason << '\n' << text;
  ASSERT_STREQ(answer.found->mode, kClosedForm) << text;
  expect_same(text, answer, 0);
}

/// Times that fall between two nanoseconds may be either's, and a rate that changes a nanosecond
/// later does so for what shares a link with it.
constexpr std::int64_t kRounding_ns = 20;

void expect_same_at_once(const std::string& text) {
  const ClosedForm answer = found_at_once(parsed(text));
  ASSERT_TRUE(answer.found) << answer.reason << '\n' << text;
  ASSERT_STREQ(answer.found->mode, kAtOnce) << text;
  expect_same(text, answer, kRounding_ns);
}

/// An experiment in which something of everything may be.
class Drawing {
 public:
  /// Of one strategy, or of those that go around.
  explicit Drawing(std::uint64_t seed, std::string_view strategy = "")
      : random_(seed, "closed form"), strategy_(strategy) {}

  std::string experiment() {
    const int hosts = (strategy_ == "ps" ? 3 : 2) + below(14);
    std::string text = fmt::format("[network]\nhosts = {}\nrate = \"{}Gbit\"\ndelay = \"{}us\"\n{}",
                                   hosts, 1 + below(10), below(3) * 40, topology(hosts));
    if (is(2)) text += "core_rate = \"97Gbit\"\n";
    for (int host = below(hosts); host < hosts; host += 1 + below(hosts)) text += slow_link(host);
    return text + job(hosts);
  }

 private:
  int below(int bound) {
    return static_cast<int>(random_.below(static_cast<std::uint64_t>(bound)));
  }
  bool is(int one_in) { return below(one_in) == 0; }

  std::string topology(int hosts) {
    const int which = below(3);
    if (which == 0) return "topology = \"fattree\"\n";
    if (which == 1 && hosts >= 4) return "topology = \"leafspine\"\nleaves = 2\nspines = 2\n";
    return "";
  }

  std::string slow_link(int host) {
    const std::string at = fmt::format("[[network.link]]\nat = \"host{}\"\n", host);
    if (is(3)) return at + fmt::format("delay = \"{}us\"\n", below(500));
    return at + fmt::format("rate = \"{}Mbit\"\n", 100 + below(3000));
  }

  std::string strategy() {
    if (strategy_.empty()) return is(3) ? "hierarchical" : "ring";
    return std::string(strategy_);
  }

  std::string job(int hosts) {
    const bool several = is(3);
    const int ranks = several ? hosts + below(2 * hosts) : hosts;
    std::string text = fmt::format(
        "[[job]]\nbroadcast = false\nstrategy = \"{}\"\nranks = {}\nparameters = {}\nsteps = {}\n"
        "warmup = {}\nstart = \"{}us\"\n",
        strategy(), ranks, 4 * (is(6) ? 1 + below(40) : 1 + below(200000)), 1 + below(4), below(2),
        below(2) * 77);
    if (is(2)) text += fmt::format("bucket = {}\n", 1000 + 4 * below(100000));
    if (is(2)) text += "overlap = true\n";
    if (is(3)) return text + "compute = \"none\"\n";
    text += fmt::format("compute_time = \"{}us\"\n", 1 + below(3000));
    if (is(3)) text += "compute_jitter = 0.2\n";
    if (is(3)) text += fmt::format("straggler = \"host{}\"\n", below(hosts));
    return text;
  }

  Random random_;
  std::string_view strategy_;
};

TEST(ClosedForm, IsWhatMessageByMessageGives) {
  int closed = 0;
  for (std::uint64_t seed = 0; seed < all_or_quarter(300U); ++seed) {
    const std::string text = Drawing(seed).experiment();
    if (!in_closed_form(parsed(text)).found) continue;
    ++closed;
    expect_same(text);
    if (testing::Test::HasFatalFailure()) return;
  }
  EXPECT_GE(closed, all_or_quarter(140));
}

// Of every strategy that passes on whole transfers, where links are shared as they come.
TEST(AtOnce, IsWhatMessageByMessageGives) {
  int found = 0;
  for (const collective::Strategy& strategy : collective::catalogue()) {
    for (std::uint64_t seed = 0; seed < all_or_quarter(25U); ++seed) {
      const std::string text = Drawing(seed, strategy.name).experiment();
      if (!found_at_once(parsed(text)).found) continue;
      ++found;
      expect_same_at_once(text);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
  EXPECT_GE(found, all_or_quarter(180));
}

TEST(AtOnce, IsNotForWhatNeedsPlayersOrStreams) {
  const auto refuses = [](const std::string& text) {
    const ClosedForm made = found_at_once(parsed(text));
    return !made.found && !made.reason.empty();
  };
  const std::string job =
      "[[job]]\nbroadcast = false\ncompute = \"none\"\nparameters = 400000\nsteps = 2\n";
  EXPECT_FALSE(refuses("[network]\nhosts = 4\n" + job + "strategy = \"double_tree\"\n"));
  EXPECT_TRUE(refuses("[network]\nhosts = 4\n" + job)) << "a ring passes on what comes";
  EXPECT_TRUE(refuses("[network]\nhosts = 4\nloss = 0.01\n" + job + "strategy = \"tree\"\n"));
  EXPECT_TRUE(refuses("[network]\nhosts = 4\n" + job + "strategy = \"tree\"\npriority = 1\n" + job +
                      "strategy = \"tree\"\n"));
  EXPECT_TRUE(refuses("[network]\nhosts = 4\n" + job + "strategy = \"pair_averaging\"\n"));
  EXPECT_TRUE(refuses("[network]\nhosts = 4\n[[job]]\nstrategy = \"tree\"\nparameters = 400\n"))
      << "some train while others still get their first model";
}

// bench/sim_modes has it do so with more ranks than a test has time for.
TEST(AtOnce, HoldsAcrossPods) {
  const char* asked = std::getenv("TW_RANKS");
  const int ranks = asked == nullptr ? 61 : std::atoi(asked);
  for (const char* strategy : {"\"halving_doubling\"", "\"double_tree\"\npieces = 4"}) {
    expect_same_at_once(
        fmt::format("[network]\ntopology = \"fattree\"\nhosts = {}\nrate = \"10Gbit\"\n[[job]]\n"
                    "broadcast = false\ncompute = \"none\"\nparameters = 10000004\nsteps = 1\n"
                    "strategy = {}\n",
                    ranks, strategy));
  }
}

// Servers in step with their workers: parts of what is drawn has more to it.
TEST(Servers, GiveWhatMessageByMessageGives) {
  int found = 0;
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    const std::string text =
        Drawing(seed, "ps").experiment() + fmt::format("servers = {}\n", 1 + seed % 2);
    const ClosedForm answer = in_closed_form(parsed(text));
    if (!answer.found) continue;
    ++found;
    ASSERT_STREQ(answer.found->mode, kClosedForm) << text;
    expect_same(text, answer, kRounding_ns);
    if (testing::Test::HasFatalFailure()) return;
  }
  EXPECT_GE(found, 40);
}

// Workers near the servers are done sooner and begin the next step sooner.
TEST(Servers, HoldAcrossPods) {
  const char* asked = std::getenv("TW_RANKS");
  const int ranks = asked == nullptr ? 61 : std::atoi(asked);
  const std::string text = fmt::format(
      "[network]\ntopology = \"fattree\"\nhosts = {}\nrate = \"10Gbit\"\n[[job]]\n"
      "strategy = \"ps\"\nservers = 3\nbroadcast = false\ncompute = \"none\"\n"
      "parameters = 1000004\nsteps = {}\n",
      ranks, ranks > 100 ? 1 : 3);
  const ClosedForm answer = in_closed_form(parsed(text));
  ASSERT_TRUE(answer.found) << answer.reason;
  expect_same(text, answer, kRounding_ns);
}

// By hand: all of 1,000 bytes from each of 29,990 workers into 10 ports of 10 Gbit/s, and back.
TEST(Servers, AnswerForThirtyThousandRanks) {
  const Simulated found =
      simulate(parsed("[network]\nhosts = 30000\nrate = \"10Gbit\"\ndelay = 0\n[[job]]\n"
                      "strategy = \"ps\"\nservers = 10\nbroadcast = false\ncompute = \"none\"\n"
                      "parameters = 1000\nsteps = 2\n"));
  EXPECT_STREQ(found.mode, kClosedForm);
  EXPECT_EQ(found.messages, 2LL * 2 * 29990 * 10);
  const double way_s = 29990 * 100.0 * 8 / 10e9 * 1514 / 1448;
  EXPECT_NEAR(seconds(found.end), 2 * 2 * way_s, 1e-5);
}

constexpr const char* kRing =
    "[[job]]\nbroadcast = false\ncompute = \"none\"\nparameters = 400000\nsteps = 2\n";

TEST(ClosedForm, HoldsForTwoJobsThatMeetNowhere) {
  expect_same(
      fmt::format("[network]\nhosts = 8\n{0}hosts = [\"host0\", \"host1\", \"host2\"]\n{0}"
                  "hosts = [\"host3\", \"host4\"]\n",
                  kRing));
}

TEST(ClosedForm, OneRankSendsNothingAndOneElementGoesAround) {
  expect_same(fmt::format("[network]\nhosts = 1\n{}", kRing));
  expect_same(
      "[network]\nhosts = 3\n[[job]]\nbroadcast = false\nparameters = 4\nsteps = 2\n"
      "compute_time = \"1ms\"\n");
}

// On a fat tree whose links are all alike, and with slow ones. bench/sim_modes has it do so with
// more ranks than a test has time for.
TEST(ClosedForm, HoldsAcrossPods) {
  const char* asked = std::getenv("TW_RANKS");
  const int ranks = asked == nullptr ? 97 : std::atoi(asked);
  const std::string network =
      fmt::format("[network]\ntopology = \"fattree\"\nhosts = {}\nrate = \"10Gbit\"\n", ranks);
  const std::string job =
      fmt::format("[[job]]\nbroadcast = false\ncompute = \"none\"\nparameters = {}\nsteps = 1\n",
                  4 * (2000 * ranks + ranks / 3));
  expect_same(network + job);
  std::string slow;
  for (int host = 3; host < ranks; host += 40) {
    slow +=
        fmt::format("[[network.link]]\nat = \"host{}\"\nrate = \"{}Mbit\"\n", host, 3000 + host);
  }
  expect_same(network + slow + job);
}

TEST(ClosedForm, IsNotForWhatMayBeInEachOthersWay) {
  const auto refuses = [](const std::string& text) {
    const ClosedForm closed = in_closed_form(parsed(text));
    return !closed.found && !closed.reason.empty();
  };
  // Four hosts over a core of the hosts' rate, two hops each way: they share it.
  EXPECT_TRUE(
      refuses(fmt::format("[network]\ntopology = \"dumbbell\"\nhosts = 4\nleft = 2\n{}placement = "
                          "[\"host0\", \"host2\", "
                          "\"host1\", \"host3\"]\n",
                          kRing)));
  EXPECT_TRUE(refuses(fmt::format("[network]\nhosts = 4\nloss = 0.01\n{}", kRing)));
  EXPECT_TRUE(refuses(fmt::format("[network]\nhosts = 4\n{}strategy = \"tree\"\n", kRing)));
  EXPECT_TRUE(refuses(fmt::format("[network]\nhosts = 4\n{}connections = 2\n", kRing)));
  EXPECT_TRUE(refuses(fmt::format("[network]\nhosts = 4\n{0}{0}", kRing)));
  EXPECT_TRUE(refuses("[network]\nhosts = 4\n[[job]]\ncompute = \"none\"\nparameters = 400000\n"))
      << "some train while others still get their first model";
}

// Four ranks send 24 messages a step: 2,400 are simulated, 300,024 are not.
TEST(ClosedForm, IsForManyMessages) {
  const auto mode = [](int steps) {
    return std::string(
        simulate(parsed(fmt::format("[network]\nhosts = 4\n[[job]]\nbroadcast = false\ncompute = "
                                    "\"none\"\nparameters = 16\nsteps = {}\n",
                                    steps)))
            .mode);
  };
  EXPECT_EQ(mode(100), kExplicit);
  EXPECT_EQ(mode(12501), kClosedForm);
}

// Of 3,000 ranks every third has rows: 1,000 of them, with two of each of two steps.
TEST(ClosedForm, RecordsOfManyRanksStaySmall) {
  const spec::Experiment made = parsed(
      "[network]\nhosts = 3000\n[[job]]\nbroadcast = false\ncompute = \"none\"\n"
      "parameters = 12000000\nsteps = 2\n");
  const Simulated found = simulate(made);
  const record::Run run = described(made, found);
  EXPECT_EQ(phases_of(found.jobs[0]).size(), 4000U);
  EXPECT_EQ(phases_of(found.jobs[0], Telling::Full).size(), 12'000U);
  EXPECT_EQ(run.network.links.size(), 512U) << "of 6,000";
  EXPECT_EQ(described(made, found, Telling::Full).network.links.size(), 6000U);
  EXPECT_EQ(run.jobs[0].step->count, 2U) << "of all ranks";
  EXPECT_EQ(run.checks.at(0).found, kClosedForm);
  EXPECT_TRUE(record::all_ok(run.checks));
}

TEST(ClosedForm, WhatNeitherGivesIsRefusedWithItsReason) {
  try {
    simulate(
        parsed("[network]\nhosts = 100000\n[[job]]\ncompute = \"none\"\nparameters = 4000000\n"));
    FAIL();
  } catch (const SpecError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("broadcast = false"));
  }
}

// 2 * 10^8 messages would be simulated, and held by their ranks.
TEST(ClosedForm, AFaultOnALargeRingIsRefusedWithItsReason) {
  try {
    simulate(
        parsed("[network]\nhosts = 10000\n[[job]]\nbroadcast = false\ncompute = \"none\"\n"
               "parameters = 4000000\n[[fault]]\nkind = \"link-down\"\nlink = \"host1\"\n"
               "at = \"1ms\"\nfor = \"1s\"\n"));
    FAIL();
  } catch (const SpecError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("there are faults"));
    EXPECT_THAT(error.what(), testing::HasSubstr("memory"));
  }
}

// By hand: R rounds of a chunk of 4,000 bytes, which is passed on as it comes before the line is
// free again, so that lines are busy all the time.
TEST(ClosedForm, AnswersForThirtyThousandRanks) {
  const Simulated found = simulate(
      parsed("[network]\nhosts = 30000\nrate = \"10Gbit\"\ndelay = 0\n[[job]]\n"
             "broadcast = false\ncompute = \"none\"\nparameters = 120000000\nsteps = 2\n"));
  const double chunk_s = std::ceil(4000 * 8 / 10.0 * 1514 / 1448) * 1e-9;
  EXPECT_NEAR(seconds(all_steps(found.jobs[0])[7].end), 2 * 29999 * chunk_s, 1e-5);
  EXPECT_EQ(found.messages, 2LL * 2 * 30000 * 29999);
}

}  // namespace
}  // namespace tw::sim
