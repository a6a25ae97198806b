// SPDX-License-Identifier: Apache-2.0
#include "trainwire/text/capture_text.h"

#include "trainwire/base/printable.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <sstream>

namespace tw::text {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

gather::FileSummary file_named(const std::string& path) {
  gather::FileSummary file{};
  file.path = path;
  return file;
}

/// More of everything than fits.
summarise::CaptureResult too_much() {
  summarise::CaptureResult result;
  result.interrupted = true;
  result.traffic.files.push_back(file_named(std::string(300, 'x') + ".pcap"));
  result.traffic.totals.packets = 1'000'000;
  result.traffic.totals.last_ns = 1'000'000'000;
  diagnose::Analysis& analysis = result.analysis;
  for (int i = 0; i < 300; ++i) {
    analysis.iterations.steps.push_back({.start_ns = i,
                                         .end_ns = 2 * i + 1,
                                         .exchange_start_ns = i,
                                         .exchange_end_ns = i + 1,
                                         .bytes = 1,
                                         .packets = 1});
  }
  const std::vector<std::string> order(200, "a-host-with-a-long-name");
  for (int i = 0; i < 9; ++i) {
    analysis.collectives.push_back({.operation = "all_reduce",
                                    .strategy = "ring",
                                    .order = order,
                                    .bytes_per_iteration = 1'000'000'000'000,
                                    .confidence = 1,
                                    .evidence = ""});
  }
  for (int i = 0; i < 7; ++i) {
    std::string text = fmt::format("finding {}", i + 1);
    for (int word = 0; word < 60; ++word) text += " many words";
    analysis.findings.push_back({.text = text, .severity = diagnose::Severity::Notice});
  }
  analysis.quality = {.level = diagnose::Level::Poor,
                      .reasons = std::vector<std::string>(20, "a long reason")};
  return result;
}

TEST(CaptureText, HasFewLinesWhateverWasFound) {
  const std::vector<std::string> lines = lines_of(capture_text(too_much(), std::string(300, 'y')));
  EXPECT_LE(lines.size(), kMostLines);
  EXPECT_THAT(lines.back(), StartsWith("next: "));
}

TEST(CaptureText, ShowsEveryFindingWhole) {
  const std::string text = capture_text(too_much(), "x.run");
  EXPECT_THAT(text, Not(HasSubstr("…")));
  for (int i = 1; i <= 7; ++i)
    EXPECT_THAT(text, HasSubstr(fmt::format("\n  {}  finding {} ", i, i)));
}

TEST(CaptureText, SaysThatNothingWasFound) {
  summarise::CaptureResult result;
  result.traffic.files.push_back(file_named("web.pcap"));
  result.traffic.totals.packets = 10;
  result.analysis.iterations.evidence = "no period stands out";
  result.analysis.findings = {
      {.text = "no training traffic", .severity = diagnose::Severity::Info}};
  const std::string text = capture_text(result, "");
  EXPECT_THAT(text,
              AllOf(HasSubstr("none found: no period stands out"), HasSubstr("none recognised"),
                    HasSubstr("no training traffic"), Not(HasSubstr("tables"))));
}

TEST(CaptureText, NamesTheRunnerUp) {
  summarise::CaptureResult result;
  result.analysis.collectives.push_back(
      {.operation = "all_reduce",
       .strategy = "ring",
       .order = {"a", "b", "c"},
       .bytes_per_iteration = 3'000'000,
       .confidence = 0.9,
       .evidence = "",
       .runner_up = diagnose::RunnerUp{.operation = "all_reduce",
                                       .strategy = "ring",
                                       .ranks_on_each = 2,
                                       .bytes_per_iteration = 2'400'000,
                                       .probability = 0.08}});
  EXPECT_THAT(capture_text(result, ""),
              HasSubstr("    or ring with 2 ranks on each host of 2400 kB (probability 0.08)\n"));
  result.analysis.collectives.front().runner_up->probability = 0.001;
  EXPECT_THAT(capture_text(result, ""), Not(HasSubstr(" or ring")));
}

TEST(CaptureText, GivesTheTerminalNothingToObey) {
  summarise::CaptureResult result;
  result.traffic.files.push_back(file_named("a\x1b[2J.pcap"));
  result.analysis.findings = {
      {.text = "host \x1b[31m is slow", .severity = diagnose::Severity::Info}};
  EXPECT_THAT(capture_text(result, "b\x1b.run"), Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace tw::text
