// SPDX-License-Identifier: Apache-2.0
#include "trainwire/operations/matrix.h"

#include "trainwire/operations/imported.h"
#include "trainwire/operations/summary.h"
#include "trainwire/record/json.h"

#include <gmock/gmock.h>

namespace tw::operations {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Four hosts, each of which sends `most` to the next and 10 bytes back to the one before.
Told ring_of_four(std::uint64_t most) {
  Told told{.path = "conn.log", .kind = "zeek", .records = 8};
  const std::vector<std::string> hosts{"a", "c", "b", "d"};
  for (std::size_t i = 0; i < 4; ++i) {
    told.pairs.push_back({.from = hosts[i], .to = hosts[(i + 1) % 4], .wire_bytes = most});
    told.pairs.push_back({.from = hosts[i], .to = hosts[(i + 3) % 4], .wire_bytes = 10});
  }
  return told;
}

TEST(Matrix, OfAPairTheLargestCountIsTaken) {
  const auto pairs = matrix_of({ring_of_four(1000), ring_of_four(900)});
  EXPECT_EQ(pairs.size(), 8U);
  EXPECT_EQ(pairs[0].from, "a");
  EXPECT_EQ(pairs[0].to, "c");
  EXPECT_EQ(pairs[0].wire_bytes, 1000U);
}

TEST(Matrix, ARingIsSeenAndNothingElseTakenForOne) {
  EXPECT_THAT(ring_in(matrix_of({ring_of_four(1000)})), ElementsAre("a", "c", "b", "d"));
  // As much back as forth is no ring, nor are two that talk to each other.
  EXPECT_THAT(ring_in(matrix_of({ring_of_four(10)})), IsEmpty());
  Told two;
  two.pairs = {{.from = "a", .to = "b", .wire_bytes = 9},
               {.from = "b", .to = "a", .wire_bytes = 9}};
  EXPECT_THAT(ring_in(matrix_of({two})), IsEmpty());
}

TEST(Matrix, IsPartOfTheRecord) {
  record::Run run;
  add_to(run, imported({ring_of_four(1000)}));
  EXPECT_EQ(run.pairs.size(), 8U);
  EXPECT_EQ(run.hosts.size(), 4U);
  EXPECT_THAT(run.verdict->text, HasSubstr("flow records tell who sent how much to whom"));
  EXPECT_THAT(run.findings[0].text, HasSubstr("4040 B between 4 addresses"));
  EXPECT_THAT(run.findings[1].text, HasSubstr("a → c → b → d"));
  EXPECT_THAT(record::dumped(run), HasSubstr("\"pairs\""));
  EXPECT_THAT(imported_text(run, {}, "x.run", ""), HasSubstr("tables: x.run/pairs.csv and run"));
}

}  // namespace
}  // namespace tw::operations
