// SPDX-License-Identifier: Apache-2.0
#include "trainwire/base/shipped.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace tw {
namespace {

TEST(Shipped, IsNamedByWhereItWasInstalled) {
  const std::filesystem::path prefix = std::filesystem::path(testing::TempDir()) / "shipped";
  std::filesystem::create_directories(prefix / "share/doc/trainwire/docs");
  std::ofstream(prefix / "share/doc/trainwire/docs/serve.md") << "text";
  EXPECT_EQ(shipped("docs/serve.md", prefix / "bin/trainwire"),
            prefix / "share/doc/trainwire/docs/serve.md");
  std::filesystem::remove_all(prefix);
}

TEST(Shipped, IsNamedAsInTheTreeWhenNotInstalled) {
  EXPECT_EQ(shipped("docs/serve.md", "/nowhere/build/trainwire"), "docs/serve.md");
  EXPECT_EQ(shipped("docs/serve.md"), "docs/serve.md");
}

}  // namespace
}  // namespace tw
