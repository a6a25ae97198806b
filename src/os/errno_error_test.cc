// SPDX-License-Identifier: Apache-2.0
#include "trainwire/os/errno_error.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace tw::os {
namespace {

TEST(ErrnoError, SaysAttemptReasonAndRemedy) {
  EXPECT_STREQ(errno_error("opening x", ENOENT).what(), "opening x: No such file or directory");
  EXPECT_STREQ(errno_error("opening x", EACCES, "run it as root").what(),
               "opening x: Permission denied; run it as root");
}

}  // namespace
}  // namespace tw::os
