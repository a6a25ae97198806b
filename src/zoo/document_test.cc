// SPDX-License-Identifier: Apache-2.0
// docs/models.md repeats what the code says; these tests keep the two equal.
#include "trainwire/zoo/device.h"
#include "trainwire/zoo/zoo.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

namespace tw::zoo {
namespace {

using ::testing::HasSubstr;

std::string document() {
  std::ifstream file(TW_SOURCE_DIR "/docs/models.md");
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

TEST(ModelsDocument, HasARowForEveryModel) {
  const std::string text = document();
  for (const Entry& entry : entries()) {
    const Model model = entry.build();
    EXPECT_THAT(text, HasSubstr(fmt::format("| `{}` | {} | {} | {} | {} | {:.4g} |", model.name,
                                            model.source, grouped(model.parameters()),
                                            grouped(model.trainable()), model.input,
                                            model.forward_flops() / 1e9)));
  }
}

TEST(ModelsDocument, HasARowForEveryDevice) {
  const std::string text = document();
  for (const Device& device : devices()) {
    EXPECT_THAT(text, HasSubstr(fmt::format("| `{}` | {} | {} | {} |", device.name, device.summary,
                                            device.peak_flops / 1e12, device.source)));
  }
}

TEST(ModelsDocument, HasARowForEveryCalibration) {
  const std::string text = document();
  for (const Calibration& row : calibrations()) {
    EXPECT_THAT(text, HasSubstr(fmt::format("| `{}` | `{}` | {} | {} | {:.2f} | {} |", row.model,
                                            row.device, row.batch, seconds(row.iteration),
                                            efficiency(row), row.source)));
  }
}

}  // namespace
}  // namespace tw::zoo
