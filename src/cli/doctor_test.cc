// SPDX-License-Identifier: Apache-2.0
#include "trainwire/base/printable.h"
#include "trainwire/cli/commands.h"
#include "trainwire/text/doctor_text.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <sstream>

namespace tw::cli {
namespace {

using testbed::Feature;
using testbed::Features;
using testbed::Privilege;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

Features everything() {
  const Feature ok{.works = true};
  return {
      .privilege = Privilege::Root,
      .root_networks = ok,
      .user_namespaces = ok,
      .links = ok,
      .shaping = ok,
      .segment_limit = ok,
      .netem = ok,
      .nfqueue = ok,
      .tap = ok,
      .pid_namespaces = ok,
      .capture = ok,
      .run_queue = ok,
      .congestion_controls = {"bbr", "cubic", "reno"},
      .processors = 2,
      .timer = {.median = std::chrono::microseconds(70), .p99 = std::chrono::microseconds(900)}};
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// 2 processors at 2 Gbit/s each.
TEST(Doctor, SaysWhatWorksAndWhatItMeans) {
  const std::string text = text::doctor_text(everything());
  EXPECT_THAT(text, StartsWith("Networks can be emulated here, as root."));
  EXPECT_THAT(text, Not(HasSubstr("missing")));
  EXPECT_THAT(text, HasSubstr("engine   netem: the kernel's own"));
  EXPECT_THAT(text, HasSubstr("tap where packets are lost or marked"));
  EXPECT_THAT(text, HasSubstr("up to 4 Gbit/s over all busy links at once, with 2 processors\n"));
  EXPECT_THAT(text, HasSubstr("bbr, cubic, reno"));
  EXPECT_THAT(text, HasSubstr("from 200 us up; timers are 70 us late (median), 900 us at p99"));
}

TEST(Doctor, SaysWhatIsMissingAndHowToGetIt) {
  Features features = everything();
  features.privilege = Privilege::UserNamespace;
  features.root_networks = features.netem = features.tap = {};
  const std::string text = text::doctor_text(features);
  EXPECT_THAT(text, StartsWith("Networks can be emulated here, without being root."));
  EXPECT_THAT(text, HasSubstr("missing  netem"));
  EXPECT_THAT(text, HasSubstr("get it: modprobe sch_netem"));
  EXPECT_THAT(text, HasSubstr("engine   nfqueue: the fastest that works here"));
  EXPECT_THAT(text, HasSubstr("no ECN marks"));
  // 1 Gbit/s a processor without super-packets.
  EXPECT_THAT(text, HasSubstr("; 2 Gbit/s with loss"));
}

TEST(Doctor, WarnsOfLateTimersAndOfSteal) {
  Features features = everything();
  features.timer = {
      .median = std::chrono::microseconds(70), .p99 = std::chrono::milliseconds(2), .steal = 0.05};
  EXPECT_THAT(text::doctor_text(features), AllOf(HasSubstr("late timers"), HasSubstr("steal 5.0 %"),
                                                 HasSubstr("void above 2 %")));
}

TEST(Doctor, FitsOnAScreenWhateverIsMissing) {
  Features worst = everything();
  worst.timer = {.p99 = std::chrono::milliseconds(2), .steal = 0.05};
  worst.user_namespaces = worst.netem = worst.tap = worst.capture = worst.run_queue = {};
  worst.pid_namespaces = {};
  for (const Features& features : {everything(), worst, Features{}}) {
    const std::vector<std::string> lines = lines_of(text::doctor_text(features));
    EXPECT_LE(lines.size(), 30U);
    for (const std::string& line : lines) EXPECT_LE(width_of(line), 110U) << line;
  }
}

TEST(Doctor, SaysWhyNothingWorks) {
  Features features;
  features.user_namespaces = {.reason = "making networks without root: Operation not permitted"};
  EXPECT_FALSE(text::can_emulate(features));
  const std::string text = text::doctor_text(features);
  EXPECT_THAT(text, StartsWith("Networks cannot be emulated here: making networks without root"));
  EXPECT_THAT(text, HasSubstr("run as root"));
  EXPECT_EQ(text::doctor_document(features)["engine"]["usual"], nullptr);
  EXPECT_EQ(text::doctor_document(features)["works"], false);
}

TEST(Doctor, NamespacesWithoutAnEngineAreNotEnough) {
  Features features = everything();
  features.netem = features.nfqueue = features.tap = {.reason = "no module"};
  EXPECT_FALSE(text::can_emulate(features));
  EXPECT_THAT(text::doctor_text(features),
              StartsWith("Networks cannot be emulated here: no module"));
}

TEST(Doctor, DocumentNamesTheEngines) {
  Features features = everything();
  features.netem = {.reason = "no such file"};
  const auto document = text::doctor_document(features);
  EXPECT_EQ(document["privilege"], "root");
  EXPECT_EQ(document["engine"]["usual"], "nfqueue");
  EXPECT_EQ(document["engine"]["loss"], "tap");
  EXPECT_EQ(document["network_bound_bps"], 4e9);
  EXPECT_EQ(document["features"][5]["name"], "netem");
  EXPECT_EQ(document["features"][5]["reason"], "no such file");
  EXPECT_EQ(document["features"][5]["remedy"], "modprobe sch_netem");
  EXPECT_EQ(document["features"][6]["remedy"], nullptr);
}

TEST(Doctor, RunsAsACommand) {
  std::ostringstream out;
  std::ostringstream err;
  const std::vector<std::string> words = {"doctor", "--json"};
  const int code = run(words, {.out = out, .err = err});
  const auto document = nlohmann::json::parse(out.str());
  EXPECT_EQ(code, document["works"] == true ? 0 : 3);
  EXPECT_EQ(err.str(), "");
  if (::geteuid() == 0) {
    EXPECT_EQ(document["privilege"], "root");
  }
}

}  // namespace
}  // namespace tw::cli
