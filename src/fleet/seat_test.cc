// SPDX-License-Identifier: Apache-2.0
#include "trainwire/fleet/seat.h"

#include "trainwire/base/error.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace tw::fleet
