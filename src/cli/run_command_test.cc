// SPDX-License-Identifier: Apache-2.0
// What run and bench refuse; tests/run_*.py have ranks do it.
#include "trainwire/cli/test_program.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace tw::cli {
namespace {

using testing::HasSubstr;

class RunCommand : public testing::Test {
 protected:
  RunCommand() {
    std::string pattern = std::filesystem::temp_directory_path() / "tw-run-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
  }
  ~RunCommand() override { std::filesystem::remove_all(folder_); }
  std::string file(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }
  std::filesystem::path folder_;
};

constexpr const char* kPair = "[network]\nhosts = 2\n[[job]]\nparameters = \"1KB\"\n";

TEST_F(RunCommand, RefusesWhatItCannotDoBeforeItMakesAnything) {
  const std::string out = folder_ / "x";
  const Result mpi =
      trainwire({"run", file("e.toml", std::string(kPair) + "transport = \"mpi\"\n"), "-o", out});
  EXPECT_EQ(mpi.code, 2);
  EXPECT_THAT(mpi.err, HasSubstr("trainwire exec"));
  const Result traffic = trainwire(
      {"run",
       file("t.toml", std::string(kPair) + "[[traffic]]\nkind = \"long\"\nfrom = \"host0\"\nto = "
                                           "\"host1\"\nload = \"1Tbit\"\n"),
       "-o", out});
  EXPECT_EQ(traffic.code, 2);
  EXPECT_THAT(traffic.err, HasSubstr("ask for less"));
  EXPECT_FALSE(std::filesystem::exists(out));
}

TEST_F(RunCommand, BenchRefusesSizesAndJobsThatItCannotTime) {
  const std::string pair = file("e.toml", kPair);
  EXPECT_THAT(trainwire({"bench", "exchange", pair, "--sizes", "1MiB,large"}).err,
              HasSubstr("\"large\" is no size"));
  EXPECT_THAT(trainwire({"bench", "exchange", pair, "--sizes", "2"}).err, HasSubstr("no size"));
  EXPECT_EQ(trainwire({"bench", "latency", pair}).code, 2);
  const std::string averaging =
      file("p.toml", std::string(kPair) + "strategy = \"pair_averaging\"\n");
  EXPECT_THAT(trainwire({"bench", "exchange", averaging}).err, HasSubstr("take `run`"));
}

}  // namespace
}  // namespace tw::cli
