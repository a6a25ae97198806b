// SPDX-License-Identifier: Apache-2.0
#include "trainwire/os/last_words.h"

#include <gmock/gmock.h>

#include <new>
#include <stdexcept>
#include <system_error>
#include <thread>

namespace tw::os {
namespace {

/// Ends the process as a thread does that throws.
template <class Exception>
void throw_in_a_thread(const Exception& exception) {
  install_last_words(3, 70);
  std::thread([&] { throw exception; }).join();
}

TEST(LastWordsDeathTest, SayWhatIsMissingAndExit) {
  EXPECT_EXIT(throw_in_a_thread(std::bad_alloc()), testing::ExitedWithCode(3),
              "^trainwire: out of memory; ask for less.*\n$");
  const auto refused = std::make_error_code(std::errc::resource_unavailable_try_again);
  EXPECT_EXIT(throw_in_a_thread(std::system_error(refused, "starting a thread")),
              testing::ExitedWithCode(3), "^trainwire: starting a thread: Resource.*\n$");
  EXPECT_EXIT(throw_in_a_thread(std::logic_error("one is two")), testing::ExitedWithCode(70),
              "^trainwire: internal error: one is two; please report it\n$");
}

TEST(LastWords, AreTheMessageOfAnErrorToo) {
  EXPECT_THAT(out_of_memory(), testing::StartsWith("out of memory; "));
  EXPECT_THAT(out_of_memory(), testing::Not(testing::HasSubstr("\n")));
}

}  // namespace
}  // namespace tw::os
