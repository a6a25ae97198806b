// SPDX-License-Identifier: Apache-2.0
#include "trainwire/testbed/choose.h"

#include "trainwire/base/error.h"
#include "trainwire/network/test_plans.h"

#include <gmock/gmock.h>

namespace tw::testbed {
namespace {

using spec::Engine;
using testing::HasSubstr;

constexpr const char* kPlain = "hosts = 2\ndelay = \"5ms\"";
constexpr const char* kLossy = "hosts = 2\ndelay = \"5ms\"\nloss = \"1%\"";
constexpr const char* kMarked = "hosts = 2\necn = \"100kB\"";
constexpr const char* kUneven =
    "hosts = 2\ndelay = \"5ms\"\n[[network.link]]\nat = \"host0\"\ndelay = \"1ms\"";

Features with(bool netem, bool nfqueue, bool tap) {
  Features features;
  features.netem = {.works = netem, .reason = "no netem"};
  features.nfqueue = {.works = nfqueue, .reason = "no queue"};
  features.tap = {.works = tap, .reason = "no tun"};
  return features;
}

Engine chosen(const char* network, const Features& features) {
  return choose_engine(Engine::Auto, network::plan_of(network), features);
}

TEST(ChooseEngine, PrefersNetemWhereItWorks) {
  EXPECT_EQ(chosen(kPlain, with(true, true, true)), Engine::Netem);
  EXPECT_EQ(chosen(kPlain, with(false, true, true)), Engine::Nfqueue);
  EXPECT_EQ(chosen(kPlain, with(false, false, true)), Engine::Tap);
}

TEST(ChooseEngine, PrefersTheTapSwitchForLoss) {
  EXPECT_EQ(chosen(kLossy, with(true, true, true)), Engine::Tap);
  EXPECT_EQ(chosen(kLossy, with(true, true, false)), Engine::Nfqueue);
  EXPECT_EQ(chosen(kLossy, with(true, false, false)), Engine::Netem);
}

TEST(ChooseEngine, TakesOnlyTheTapSwitchForMarks) {
  EXPECT_EQ(chosen(kMarked, with(true, true, true)), Engine::Tap);
  EXPECT_THROW(chosen(kMarked, with(true, true, false)), SystemError);
}

TEST(ChooseEngine, KnowsWhatNetemCannotDo) {
  EXPECT_EQ(chosen(kUneven, with(true, true, true)), Engine::Nfqueue);
}

TEST(ChooseEngine, KeepsTheOneThatIsAskedFor) {
  const Features all = with(true, true, true);
  for (const Engine engine : {Engine::Netem, Engine::Nfqueue, Engine::Tap}) {
    EXPECT_EQ(choose_engine(engine, network::plan_of(kPlain), all), engine);
  }
  EXPECT_THROW(choose_engine(Engine::Nfqueue, network::plan_of(kMarked), all), SpecError);
  EXPECT_THROW(choose_engine(Engine::Netem, network::plan_of(kUneven), all), SpecError);
}

TEST(ChooseEngine, SaysWhyAndWhatToDoInstead) {
  try {
    choose_engine(Engine::Netem, network::plan_of(kPlain), with(false, true, true));
    FAIL() << "netem does not work";
  } catch (const SystemError& error) {
    EXPECT_THAT(error.what(), HasSubstr("netem: no netem"));
    EXPECT_THAT(error.what(), HasSubstr("network.engine = \"auto\""));
  }
}

TEST(ChooseEngine, NamesEveryReasonWhenNothingWorks) {
  try {
    chosen(kPlain, with(false, false, false));
    FAIL() << "nothing works";
  } catch (const SystemError& error) {
    EXPECT_THAT(error.what(), HasSubstr("no netem; nfqueue: no queue; tap: no tun"));
    EXPECT_THAT(error.what(), HasSubstr("trainwire doctor"));
  }
}

}  // namespace
}  // namespace tw::testbed
