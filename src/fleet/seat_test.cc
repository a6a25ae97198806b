// SPDX-License-Identifier: Apache-2.0
#include "trainwire/fleet/seat.h"

#include "trainwire/base/error.h"
#include "trainwire/fleet/token.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <map>

namespace tw::fleet {
namespace {

Variables from(std::map<std::string, std::string, std::less<>> values) {
  return [values = std::move(values)](std::string_view name) -> std::optional<std::string> {
    const auto found = values.find(name);
    return found == values.end() ? std::nullopt : std::optional(found->second);
  };
}

TEST(Seat, IsFoundFromEveryLauncher) {
  EXPECT_EQ(seat_from(from({{"SLURM_PROCID", "2"}, {"SLURM_NTASKS", "4"}})),
            (Seat{.number = 2, .count = 4, .by = "SLURM_PROCID"}));
  EXPECT_EQ(seat_from(from({{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "2"}})),
            (Seat{.number = 0, .count = 2, .by = "OMPI_COMM_WORLD_RANK"}));
  EXPECT_EQ(seat_from(from({{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}})),
            (Seat{.number = 1, .count = 2, .by = "PMI_RANK"}));
  EXPECT_EQ(seat_from(from({{"RANK", "3"},
                            {"WORLD_SIZE", "8"},
                            {"MASTER_ADDR", "10.0.0.1"},
                            {"MASTER_PORT", "29500"}})),
            (Seat{.number = 3, .count = 8, .by = "RANK", .meeting = "10.0.0.1:29500"}));
  EXPECT_EQ(seat_from(from({{"JOB_COMPLETION_INDEX", "5"}})),
            (Seat{.number = 5, .by = "JOB_COMPLETION_INDEX"}));
}

TEST(Seat, IsNobodysWithoutACompleteSet) {
  EXPECT_EQ(seat_from(from({})), std::nullopt);
  EXPECT_EQ(seat_from(from({{"SLURM_PROCID", "2"}})), std::nullopt);
}

TEST(Seat, IsMpirunsInsideASlurmJob) {
  const auto seat = seat_from(from({{"SLURM_PROCID", "0"},
                                    {"SLURM_NTASKS", "1"},
                                    {"OMPI_COMM_WORLD_RANK", "3"},
                                    {"OMPI_COMM_WORLD_SIZE", "4"}}));
  ASSERT_TRUE(seat);
  EXPECT_EQ(seat->number, 3);
}

TEST(Seat, RefusesWhatIsNoNumber) {
  EXPECT_THROW(seat_from(from({{"RANK", "one"}, {"WORLD_SIZE", "2"}})), SpecError);
  EXPECT_THROW(seat_from(from({{"RANK", "2"}, {"WORLD_SIZE", "2"}})), SpecError);
}

constexpr const char* kToken = "00112233445566778899aabbccddeeff";

std::string refusal_of(std::map<std::string, std::string, std::less<>> values) {
  try {
    token_from(from(std::move(values)));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Token, ComesFromAVariableOrAFile) {
  namespace fs = std::filesystem;
  const std::string file = testing::TempDir() + "token_file";
  std::ofstream(file) << kToken << '\n';
  fs::permissions(file, fs::perms::owner_read);
  EXPECT_EQ(transport::tcp::text_of(token_from(from({{"TRAINWIRE_TOKEN", kToken}}))), kToken);
  EXPECT_EQ(transport::tcp::text_of(token_from(from({{"TRAINWIRE_TOKEN_FILE", file}}))), kToken);
  fs::permissions(file, fs::perms::group_read, fs::perm_options::add);
  EXPECT_THAT(refusal_of({{"TRAINWIRE_TOKEN_FILE", file}}), testing::HasSubstr("chmod 600"));
  fs::remove(file);
  EXPECT_THAT(refusal_of({{"TRAINWIRE_TOKEN_FILE", file}}), testing::HasSubstr("cannot be read"));
  EXPECT_THAT(refusal_of({{"TRAINWIRE_TOKEN", "secret"}}), testing::HasSubstr("32 hexadecimal"));
  EXPECT_THAT(refusal_of({}), testing::AllOf(testing::HasSubstr("TRAINWIRE_TOKEN,"),
                                             testing::HasSubstr("TRAINWIRE_TOKEN_FILE")));
}

}  // namespace
}  // namespace tw::fleet
