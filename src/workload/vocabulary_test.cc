// SPDX-License-Identifier: Apache-2.0
#include "trainwire/workload/vocabulary.h"

#include <gmock/gmock.h>

namespace tw::workload {
namespace {

using testing::Contains;
using testing::ElementsAre;

TEST(Vocabulary, HasTheNamesOfEveryModule) {
  const spec::Vocabulary words = vocabulary();
  EXPECT_THAT(words.models, Contains("resnet50"));
  EXPECT_THAT(words.strategies, Contains("ring"));
  EXPECT_THAT(words.devices, Contains("a100"));
}

TEST(Vocabulary, SaysWhichStrategiesHaveServers) {
  EXPECT_THAT(vocabulary().served, ElementsAre("ps"));
}

}  // namespace
}  // namespace tw::workload
