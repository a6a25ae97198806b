// SPDX-License-Identifier: Apache-2.0
#include "trainwire/record/phase.h"

#include <gmock/gmock.h>

#include <sstream>

namespace tw::record {
namespace {

using testing::ElementsAre;
using testing::Optional;

TEST(Phase, IsFoundByItsName) {
  for (int i = 0; i <= static_cast<int>(Phase::Step); ++i) {
    const auto phase = static_cast<Phase>(i);
    EXPECT_THAT(phase_named(name_of(phase)), Optional(phase));
  }
  EXPECT_EQ(phase_named("lunch"), std::nullopt);
}

TEST(PhaseLines, AreReadAsTheyAreWritten) {
  const PhaseRow row{.rank = 3,
                     .step = -1,
                     .phase = Phase::Exchange,
                     .bucket = 2,
                     .start_ns = 5,
                     .end_ns = 9,
                     .bytes = 100,
                     .queued = 7};
  std::string text;
  append_phase_line(text, row);
  EXPECT_EQ(text, "-1,exchange,2,5,9,100,7\n");
  std::istringstream file(text + "0,lunch,-1,5,9,0,0\n0,wait,-1,5,9,0\n0,step,-1,5,9,0,0");
  std::vector<PhaseRow> rows;
  // Of the others the first has no known phase, the second a field too few, the third no end.
  read_phase_lines(file, 3, rows);
  EXPECT_THAT(rows, ElementsAre(row));
}

}  // namespace
}  // namespace tw::record
