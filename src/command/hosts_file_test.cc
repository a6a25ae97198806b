// SPDX-License-Identifier: Apache-2.0
#include "trainwire/command/hosts_file.h"

#include "trainwire/base/error.h"

#include <gmock/gmock.h>

namespace tw::command {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using testing::ThrowsMessage;
using testing::UnorderedElementsAre;

TEST(HostsFile, CsvNamesAddresses) {
  EXPECT_THAT(parse_hosts("10.0.0.1,worker0\n10.0.0.2,worker1\n", "h"),
              ElementsAre(Pair("10.0.0.1", "worker0"), Pair("10.0.0.2", "worker1")));
}

TEST(HostsFile, CsvHeaderDecidesTheColumns) {
  EXPECT_THAT(parse_hosts("rank,host,ip\r\n0,worker0,FD00::0:1\r\n", "h"),
              ElementsAre(Pair("fd00::1", "worker0")));
}

TEST(HostsFile, TomlTakesEitherDirection) {
  EXPECT_THAT(
      parse_hosts("\"10.0.0.1\" = \"a\"\n[hosts]\nb = [\"10.0.0.2\", \"10.1.0.2\"]\n", "h"),
      UnorderedElementsAre(Pair("10.0.0.1", "a"), Pair("10.0.0.2", "b"), Pair("10.1.0.2", "b")));
}

TEST(HostsFile, RefusalsNameTheLine) {
  const auto refused = [](std::string_view text, std::string_view what) {
    EXPECT_THAT([&] { parse_hosts(text, "hosts.csv"); },
                ThrowsMessage<DataError>(HasSubstr(std::string(what))));
  };
  refused("10.0.0.1,a\nhost2,b\n", "hosts.csv: row 2: \"host2\" is no address");
  refused("10.0.0.1\n", "row 1: a name is missing");
  refused("10.0.0.1,\n", "10.0.0.1 has no name");
  refused("10.0.0.1,a\n10.0.0.1,b\n", "row 2: 10.0.0.1 is named twice");
  refused("", "it names no host");
  refused("a = \n", "line 1");
  refused("a = 5\n", "a is no text");
  refused("a = \"b\"\n", "neither \"a\" nor \"b\" is an address");
}

TEST(HostsFile, AMissingFileIsAnEnvironmentError) {
  EXPECT_THROW(read_hosts("/nonexistent/hosts.csv"), SystemError);
}

}  // namespace
}  // namespace tw::command
