// SPDX-License-Identifier: Apache-2.0
#include "trainwire/os/last_words.h"

#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <new>
#include <system_error>

namespace tw::os {
namespace {

constexpr std::string_view kRemedy =
    "; ask for less (fewer ranks, fewer or shorter captures), or allow the process more\n";

int environment_code = 3;
int internal_code = 70;

void say(std::string_view words) {
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, words.data(), words.size());
}

/// Nothing here may allocate. Lines may come in pieces: there is no room to put them together.
int tell(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const std::bad_alloc&) {
    say(kOutOfMemory);
    say(kRemedy);
    return environment_code;
  } catch (const std::system_error& error) {
    say(error.what());
    say("\n");
    return environment_code;
  } catch (const std::exception& error) {
    say("internal error: ");
    say(error.what());
    say("; please report it\n");
  } catch (...) {
    say("internal error; please report it\n");
  }
  return internal_code;
}

[[noreturn]] void end_with_words() {
  say("trainwire: ");
  const std::exception_ptr thrown = std::current_exception();
  if (thrown) ::_exit(tell(thrown));
  say("internal error; please report it\n");
  ::_exit(internal_code);
}

}  // namespace

std::string out_of_memory() {
  std::string message(kOutOfMemory);
  return message.append(kRemedy.substr(0, kRemedy.size() - 1));
}

void install_last_words(int environment, int internal) {
  environment_code = environment;
  internal_code = internal;
  std::set_terminate(end_with_words);
}

}  // namespace tw::os
