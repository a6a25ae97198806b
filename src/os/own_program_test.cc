// SPDX-License-Identifier: Apache-2.0
#include "trainwire/os/own_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace tw::os {
namespace {

using testing::Contains;
using testing::ElementsAre;

TEST(OwnProgram, IsStartedByItsPathWhateverItWasCalled) {
  EXPECT_THAT(starting_words("/usr/bin/trainwire", {"tw", "run", "x.toml"}),
              ElementsAre("/usr/bin/trainwire"));
}

TEST(OwnProgram, IsGivenToTheLoaderThatItWasGivenTo) {
  EXPECT_THAT(starting_words("/a/ld-linux-x86-64.so.2",
                             {"./ld-linux-x86-64.so.2", "--library-path", "/a/lib",
                              "--inhibit-cache", "/a/trainwire", "run", "--steps", "3"}),
              ElementsAre("/a/ld-linux-x86-64.so.2", "--library-path", "/a/lib", "--inhibit-cache",
                          "/a/trainwire"));
}

TEST(OwnProgram, ALoaderWithoutAProgramIsLeftAlone) {
  EXPECT_THAT(starting_words("/a/ld-linux-x86-64.so.2", {"ld", "--library-path"}),
              ElementsAre("/a/ld-linux-x86-64.so.2"));
}

TEST(OwnProgram, KeepsWhatItsLibrariesAreFoundBy) {
  const char* before = ::getenv("LD_LIBRARY_PATH");
  const std::string kept = before != nullptr ? before : "";
  ::setenv("LD_LIBRARY_PATH", "/somewhere/lib", 1);
  const OwnProgram own = own_program();
  EXPECT_THAT(own.environment, Contains("LD_LIBRARY_PATH=/somewhere/lib"));
  EXPECT_THAT(own.words.front(), testing::EndsWith("os_test"));
  kept.empty() ? ::unsetenv("LD_LIBRARY_PATH") : ::setenv("LD_LIBRARY_PATH", kept.c_str(), 1);
}

}  // namespace
}  // namespace tw::os
