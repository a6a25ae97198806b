// SPDX-License-Identifier: Apache-2.0
#include "trainwire/spec/experiment.h"

#include "trainwire/base/error.h"
#include "trainwire/spec/parse.h"
#include "trainwire/spec/print.h"
#include "trainwire/spec/scale.h"
#include "trainwire/spec/test_experiments.h"

#include <gmock/gmock.h>

#include <chrono>

namespace tw::spec {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

Network network(const std::string& text) { return parsed("[network]\n" + text).network; }

TEST(HostNumber, IsTheInverseOfTheName) {
  const Network four = network("hosts = 4");
  for (int host = 0; host < 4; ++host) EXPECT_EQ(host_number(four, host_name(host)), host);
  for (const char* none :
       {"host4", "host", "host-1", "host01", "host+1", "Host1", "host1 ", "", "core"}) {
    EXPECT_EQ(host_number(four, none), std::nullopt) << none;
  }
}

TEST(Placement, FillsHostsInOrderEvenly) {
  const auto places = [](const std::string& job) {
    const Experiment e = parsed("[network]\nhosts = 4\n[job]\nmodel = \"vgg16\"\n" + job);
    return placement(e.network, e.jobs[0]);
  };
  EXPECT_EQ(places(""), (std::vector{0, 1, 2, 3}));
  EXPECT_EQ(places("ranks = 8"), (std::vector{0, 0, 1, 1, 2, 2, 3, 3}));
  EXPECT_EQ(places("ranks = 2"), (std::vector{0, 1}));
  // floor(rank * 4 / 6).
  EXPECT_EQ(places("ranks = 6"), (std::vector{0, 0, 1, 2, 2, 3}));
  EXPECT_EQ(places("hosts = [\"host3\", \"host1\"]\nranks = 4"), (std::vector{3, 3, 1, 1}));
  EXPECT_EQ(places("placement = [\"host2\", \"host2\", \"host0\"]"), (std::vector{2, 2, 0}));
}

const Vocabulary& fault_words() {
  static const Vocabulary words{
      .models = {}, .strategies = {"ring"}, .devices = {"a100"}, .served = {}};
  return words;
}

std::string file_with(const std::string& keys) {
  return "[network]\nhosts = 3\n[[job]]\nname = \"a\"\nparameters = 8\nsteps = 20\n[[job]]\n"
         "name = \"b\"\nparameters = 8\nranks = 2\nsteps = 5\n[[fault]]\n" +
         keys;
}

Experiment with_fault(const std::string& keys) {
  return parse(file_with(keys), "x.toml", fault_words(), {});
}

std::string fault_problem(const std::string& keys) {
  try {
    with_fault(keys);
  } catch (const SpecError& error) {
    return error.what();
  }
  return {};
}

TEST(Fault, IsReadAndPrintedBack) {
  const Experiment read = with_fault(
      "kind = \"slow\"\nstep = 12\nlink = \"host1\"\ndirection = \"to_host\"\nfor = \"2s\"\n"
      "factor = 0.1\n");
  ASSERT_EQ(read.faults.size(), 1U);
  const Fault& fault = read.faults[0];
  EXPECT_EQ(*fault.kind, FaultKind::Slow);
  EXPECT_EQ(*fault.step, 12);
  EXPECT_EQ(*fault.at, std::nullopt);
  EXPECT_EQ(*fault.job, "a");
  EXPECT_EQ(*fault.direction, Direction::ToHost);
  EXPECT_EQ(*fault.lasting, 2s);
  EXPECT_EQ(*fault.factor, 0.1);
  const std::string printed = to_toml(read);
  EXPECT_THAT(printed, HasSubstr("[[fault]]"));
  const Fault again = parse(printed, "y.toml", fault_words(), {}).faults.at(0);
  EXPECT_EQ(*again.kind, *fault.kind);
  EXPECT_EQ(*again.step, *fault.step);
  EXPECT_EQ(*again.at, *fault.at);
  EXPECT_EQ(*again.link, *fault.link);
  EXPECT_EQ(*again.direction, *fault.direction);
  EXPECT_EQ(*again.lasting, *fault.lasting);
  EXPECT_EQ(*again.factor, *fault.factor);
}

TEST(Fault, MayBeSetAndSwept) {
  const std::vector<Override> set{{.key = "fault.at", .value = "7s"}};
  const Experiment read = parse(file_with("kind = \"link-down\"\nat = \"3s\"\nlink = \"host0\"\n"),
                                "x.toml", fault_words(), set);
  EXPECT_EQ(*read.faults[0].at, 7s);
}

TEST(Fault, IsScaledAsTheRest) {
  Experiment read = with_fault(
      "kind = \"slow\"\nat = \"3s\"\nfor = \"1s\"\nlink = \"host0\"\nrate = \"100Mbit\"\n");
  read.run.slow_motion = {10};
  const Fault fault = scaled(read).faults[0];
  EXPECT_EQ(*fault.at, 30s);
  EXPECT_EQ(*fault.lasting, 10s);
  EXPECT_DOUBLE_EQ((*fault.rate)->bits_per_second(), 1e7);
}

TEST(Fault, SaysWhatIsWrong) {
  EXPECT_THAT(fault_problem("at = \"3s\"\nlink = \"host0\"\n"),
              HasSubstr("needs kind = \"link-down\""));
  EXPECT_THAT(fault_problem("kind = \"link-dwn\"\nat = 0\n"), HasSubstr("link-down"));
  EXPECT_THAT(fault_problem("kind = \"link-down\"\nlink = \"host0\"\n"),
              HasSubstr("needs at = \"3s\" or step = 12"));
  EXPECT_THAT(fault_problem("kind = \"link-down\"\nlink = \"host0\"\nat = 0\nstep = 3\n"),
              HasSubstr("keep one of them"));
  EXPECT_THAT(fault_problem("kind = \"link-down\"\nat = 0\n"), HasSubstr("write link = \"host0\""));
  EXPECT_THAT(fault_problem("kind = \"link-down\"\nat = 0\nlink = \"host3\"\n"),
              HasSubstr("unknown link \"host3\"; there are host0 to host2"));
  EXPECT_THAT(fault_problem("kind = \"link-down\"\nat = 0\nlink = \"host0\"\nloss = 0.1\n"),
              HasSubstr("is of kind loss; leave it out"));
  EXPECT_THAT(fault_problem("kind = \"slow\"\nat = 0\nlink = \"host0\"\n"),
              HasSubstr("needs one of rate"));
  EXPECT_THAT(fault_problem("kind = \"slow\"\nat = 0\nlink = \"host0\"\nrate = \"0bit\"\n"),
              HasSubstr("fault"));
  EXPECT_THAT(fault_problem("kind = \"loss\"\nat = 0\nlink = \"host0\"\n"),
              HasSubstr("needs loss ="));
  EXPECT_THAT(fault_problem("kind = \"stop\"\nat = 0\n"), HasSubstr("write rank = 0"));
  EXPECT_THAT(fault_problem("kind = \"stop\"\nat = 0\nrank = 2\njob = \"b\"\n"),
              HasSubstr("\"b\" has ranks 0 to 1"));
  EXPECT_THAT(fault_problem("kind = \"stop\"\nat = 0\nrank = 0\njob = \"c\"\n"),
              HasSubstr("there is no job \"c\""));
  EXPECT_THAT(fault_problem("kind = \"kill\"\nstep = 5\nrank = 0\njob = \"b\"\n"),
              HasSubstr("\"b\" has steps 0 to 4"));
  EXPECT_THAT(fault_problem("kind = \"kill\"\nat = 0\nrank = 0\nfor = \"1s\"\n"),
              HasSubstr("is of faults that pass"));
}

}  // namespace
}  // namespace tw::spec
