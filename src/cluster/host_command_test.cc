// SPDX-License-Identifier: Apache-2.0
#include "trainwire/cluster/host_command.h"

#include "trainwire/base/error.h"
#include "trainwire/command/app.h"

#include <gmock/gmock.h>

#include <array>
#include <cstdlib>
#include <sstream>

namespace tw::cluster {
namespace {

using testing::HasSubstr;

std::string refusal_of(std::vector<std::string> words) {
  static constexpr std::array kCommands{
      command::Command{"host", "a host of a run", declare_host, "trainwire host --number 1\n"}};
  words.insert(words.begin(), "host");
  command::Application application(kCommands);
  application.parse(words);
  std::ostringstream out;
  try {
    (*application.body())({.out = out, .err = out});
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

TEST(HostCommand, AsksForWhatIsMissing) {
  for (const char* name : {"TRAINWIRE_TOKEN", "TRAINWIRE_TOKEN_FILE", "SLURM_PROCID", "RANK"}) {
    ::unsetenv(name);
  }
  EXPECT_THAT(refusal_of({"--join", "10.0.0.1:1"}), HasSubstr("say --number N"));
  EXPECT_THAT(refusal_of({"--number", "1"}), HasSubstr("say --join"));
  EXPECT_THAT(refusal_of({"--number", "1", "--join", "10.0.0.1"}),
              HasSubstr("no address with a port"));
  EXPECT_THAT(refusal_of({"--number", "1", "--join", "10.0.0.1:1"}), HasSubstr("token is missing"));
  ::setenv("TRAINWIRE_TOKEN", "secret", 1);
  EXPECT_THAT(refusal_of({"--number", "1", "--join", "10.0.0.1:1"}), HasSubstr("32 hexadecimal"));
  ::unsetenv("TRAINWIRE_TOKEN");
}

}  // namespace
}  // namespace tw::cluster
