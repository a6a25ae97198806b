// SPDX-License-Identifier: Apache-2.0
#include "trainwire/carrier/carried.h"

#include "trainwire/base/error.h"

#include <gmock/gmock.h>

namespace tw::carrier {
namespace {

using testing::HasSubstr;
using testing::Property;
using testing::Throws;

TEST(Carried, AProgramThatEndsIsNamed) {
  EXPECT_THAT([] { Carried({.transport = "gloo", .program = "/bin/false"}, {}); },
              Throws<Error>(Property(&Error::what, HasSubstr("/bin/false exited with code 1"))));
}

TEST(Carried, AProgramThatSaysNothingIsWaitedForOnlySoLong) {
  Assignment assignment;
  assignment.patience = std::chrono::milliseconds(100);
  EXPECT_THAT([&] { Carried({.transport = "grpc", .program = "/bin/cat"}, assignment); },
              Throws<Error>(Property(&Error::what, HasSubstr("/bin/cat"))));
}

TEST(Carried, DocumentsComeBackAsTheyWere) {
  const Assignment assignment{.rank = 2,
                              .ranks = 4,
                              .address = "10.0.0.3",
                              .wires = {{.rank = 1, .lane = 0}, {.rank = 3, .lane = 1}},
                              .patience = std::chrono::seconds(3)};
  EXPECT_EQ(assignment_from(to_json(assignment)), assignment);
  const std::vector<TcpCount> counts{{.from = "a:1", .to = "b:2", .sent = 3, .received = 4}};
  EXPECT_EQ(tcp_counts_from(to_json(counts)), counts);
  const std::vector<Contact> contacts{{.address = "10.0.0.1", .carrier = {1, "x"}}};
  EXPECT_EQ(contacts_from(to_json(contacts)), contacts);
  EXPECT_THROW(contacts_from({{"10.0.0.1"}}), DataError);
  EXPECT_THROW(assignment_from(nlohmann::json::object()), DataError);
  EXPECT_THROW(tcp_counts_from({{"a"}}), DataError);
  EXPECT_THROW(tcp_counts_from({{"a", "b", -1, 0}}), DataError);
}

TEST(Carried, RanksThatAreNotThereAreNotCarriedFor) {
  const Assignment good{.rank = 1, .ranks = 2, .address = "a", .wires = {{.rank = 0, .lane = 0}}};
  EXPECT_NO_THROW(assignment_from(to_json(good)));
  for (const Wire wire : {Wire{.rank = 2, .lane = 0}, Wire{.rank = 1, .lane = 0},
                          Wire{.rank = 0, .lane = -1}, Wire{.rank = -1, .lane = 0}}) {
    Assignment bad = good;
    bad.wires = {wire};
    EXPECT_THROW(assignment_from(to_json(bad)), DataError) << wire.rank << " " << wire.lane;
  }
}

}  // namespace
}  // namespace tw::carrier
