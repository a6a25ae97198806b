// SPDX-License-Identifier: Apache-2.0
#include "trainwire/cli/commands.h"
#include "trainwire/cli/test_program.h"
#include "trainwire/ledger/ledger.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace tw::cli {
namespace {

using testing::HasSubstr;

/// With a folder for ledgers of its own.
class Cleanup : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "trainwire-cleanup-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
    ::setenv("TRAINWIRE_STATE", folder_.c_str(), 1);
  }
  void TearDown() override {
    ::unsetenv("TRAINWIRE_STATE");
    std::filesystem::remove_all(folder_);
  }
  /// The ledger of a run that is dead, and the file that it left.
  void leave_a_file() {
    std::ofstream(folder_ + "/left") << "x";
    std::ofstream(folder_ + "/abcdef.json")
        << "{\"kind\":\"path\",\"path\":\"" << folder_ << "/left\"}\n";
  }
  std::string folder_;
};

TEST_F(Cleanup, FindsNothingAfterRunsThatEnded) {
  { const ledger::Ledger ledger(folder_, "ended"); }
  const Result result = trainwire({"cleanup"});
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.out, "nothing to clean up\n");
  EXPECT_EQ(result.err, "");
}

TEST_F(Cleanup, SaysWhatItRemoved) {
  leave_a_file();
  const Result result = trainwire({"cleanup"});
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.out, "run abcdef\n  removed " + folder_ + "/left\n");
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(Cleanup, RemovesNothingInADryRun) {
  leave_a_file();
  const Result result = trainwire({"cleanup", "--dry-run"});
  EXPECT_THAT(result.out, HasSubstr("would remove " + folder_ + "/left\n"));
  EXPECT_TRUE(std::filesystem::exists(folder_ + "/left"));
  EXPECT_TRUE(std::filesystem::exists(folder_ + "/abcdef.json"));
}

TEST_F(Cleanup, MentionsLivingRuns) {
  const ledger::Ledger ledger(folder_, "alive");
  EXPECT_EQ(trainwire({"cleanup"}).out, "nothing to clean up\n1 run is alive and left alone\n");
  EXPECT_EQ(trainwire({"cleanup", "--dry-run"}).out,
            "nothing to clean up\n1 run is alive and left alone\n");
}

TEST_F(Cleanup, DocumentListsRunsAndNotesGoToStandardError) {
  leave_a_file();
  std::ofstream(folder_ + "/abcdef.json", std::ios::app) << "\x1b[31mrubbish\n";
  const Result result = trainwire({"cleanup", "--json"});
  const auto document = nlohmann::json::parse(result.out);
  EXPECT_EQ(document["runs"][0]["id"], "abcdef");
  EXPECT_EQ(document["runs"][0]["removed"][0], folder_ + "/left");
  EXPECT_EQ(document["living"], 0);
  EXPECT_THAT(result.err, HasSubstr("1 line not understood"));
}

TEST_F(Cleanup, RefusesAFolderThatIsALink) {
  const std::string link = folder_ + "/link";
  std::filesystem::create_directory_symlink("/tmp", link);
  ::setenv("TRAINWIRE_STATE", link.c_str(), 1);
  const Result result = trainwire({"cleanup"});
  EXPECT_EQ(result.code, 3);
  EXPECT_THAT(result.err, HasSubstr(link));
}

}  // namespace
}  // namespace tw::cli
