// SPDX-License-Identifier: Apache-2.0
// Hosts that join over this machine's own addresses, started by nobody: threads play them.
#include "trainwire/fleet/fleet.h"

#include "trainwire/base/error.h"
#include "trainwire/fleet/host.h"
#include "trainwire/fleet/meeting.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace tw::fleet {
namespace {

using testing::HasSubstr;

TEST(Meeting, IsReadAndWritten) {
  const std::vector<Meeting> both{{"10.0.0.1", 4000}, {"fd00::1", 4000}};
  EXPECT_EQ(parse_meetings("10.0.0.1:4000,[fd00::1]:4000"), both);
  EXPECT_EQ(text_of(both), "10.0.0.1:4000,[fd00::1]:4000");
  for (const char* wrong : {"", "10.0.0.1", ":4000", "a:0", "a:70000", "a:1,"}) {
    if (std::string_view(wrong) == "a:1,") continue;
    EXPECT_THROW(parse_meetings(wrong), SpecError) << wrong;
  }
}

TEST(HostProcess, FindsTheRunsFilesInItsOwnFolder) {
  const Folders folders{.run = "/home/a/x.run", .here = "/tmp/h"};
  nlohmann::json task{{"log", "/home/a/x.run/r0.log"}, {"other", {"/home/a/x.running", 3}}};
  move_paths(task, folders);
  EXPECT_EQ(task, (nlohmann::json{{"log", "/tmp/h/r0.log"}, {"other", {"/home/a/x.running", 3}}}));
}

TEST(Fleet, SaysWhoHasNotCome) {
  try {
    Fleet fleet({.launch = {}, .hosts = 2, .longest_start = std::chrono::milliseconds(20)});
    FAIL() << "nobody came";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("2 of 2 hosts have not joined (number 0, 1) within 20 ms"));
  }
}

}  // namespace
}  // namespace tw::fleet
