// SPDX-License-Identifier: Apache-2.0
#include "trainwire/zoo/profile.h"

#include "trainwire/base/error.h"
#include "trainwire/zoo/zoo.h"

#include <gtest/gtest.h>

namespace tw::zoo {
namespace {

using namespace std::chrono_literals;

TEST(Profile, IsWhatWasMeasured) {
  const auto profile = find_profile("resnet50-torchvision", "h200", 64);
  ASSERT_TRUE(profile);
  EXPECT_EQ(profile->forward, 10'893us);
  EXPECT_EQ(profile->backward, 25'684us);
  EXPECT_EQ(profile->gradients.size(), 161u);
  EXPECT_EQ(profile->elements(), find("resnet50-torchvision")->trainable());
  EXPECT_EQ(profile->gradients.back().ready, profile->backward);
}

TEST(Profile, LiesBetweenTheBatchesMeasured) {
  const Duration at_96 = find_profile("resnet50-torchvision", "h200", 96)->backward;
  EXPECT_NEAR(seconds(at_96), (25.684e-3 + 39.843e-3) / 2, 1e-6);
  // One batch was measured of GPT-2: in proportion.
  EXPECT_NEAR(seconds(find_profile("gpt2", "h200", 4)->forward), 30.544e-3 / 2, 1e-6);
  EXPECT_GT(find_profile("mobilenetv2-torchvision", "h200", 1)->forward, 4ms);
}

TEST(Profile, IsThereForKnownModelsAndDevicesOnly) {
  EXPECT_FALSE(find_profile("resnet50-keras", "h200", 64));
  EXPECT_FALSE(find_profile("resnet50-torchvision", "a100", 64));
  EXPECT_TRUE(find_profile("vgg16-torchvision", "h200-bf16", 64));
}

TEST(Profile, HasTiedEmbeddingsLast) {
  EXPECT_EQ(find_profile("gpt2", "h200", 8)->gradients.back().elements, 50257 * 768);
}

TEST(ParseGradients, TakesTheRowsOfTheModelAndTheNextBatch) {
  const std::string table =
      "model,batch,elements,ready_ms\nvgg16,8,1,1\nResNet_50,8,2,1\nresnet50,64,3,1\n";
  EXPECT_EQ(parse_gradients(table, "t.csv", "resnet50-torchvision", 60),
            (std::vector<Gradient>{{3, 1ms}}));
  EXPECT_THROW(parse_gradients(table, "t.csv", "gpt2", 8), DataError);
}

TEST(ParseGradients, RefusesWhatIsNoTable) {
  for (const char* text : {"", "# nothing\n", "elements\n3\n", "ready_ms\n3\n",
                           "elements,ready_ms\n3\n", "elements,ready_ms\n-3,1\n",
                           "elements,ready_ms\n3,nan\n", "elements,ready_ms\n1e300,1\n"}) {
    EXPECT_THROW(parse_gradients(text, "t.csv", "m", 1), DataError) << text;
  }
}

}  // namespace
}  // namespace tw::zoo
