// SPDX-License-Identifier: Apache-2.0
#include "trainwire/os/namespace.h"

#include "trainwire/base/error.h"
#include "trainwire/os/netlink.h"

#include <gtest/gtest.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <unistd.h>

namespace tw::os {
namespace {

TEST(Namespace, TheThreadComesBack) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  const std::uint64_t before = namespace_number(current_network_namespace());
  const FileDescriptor made = make_network_namespace();
  EXPECT_NE(namespace_number(made), before);
  EXPECT_EQ(namespace_number(current_network_namespace()), before);
  {
    const InNetwork inside(made);
    EXPECT_EQ(namespace_number(current_network_namespace()), namespace_number(made));
  }
  EXPECT_EQ(namespace_number(current_network_namespace()), before);
}

TEST(Netlink, MakesAndListsLinks) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  const FileDescriptor made = make_network_namespace();
  const InNetwork inside(made);
  NetlinkSocket socket(NETLINK_ROUTE);
  NetlinkMessage bridge(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL);
  bridge.header(ifinfomsg{}).text(IFLA_IFNAME, "b0").nest(IFLA_LINKINFO, [](NetlinkMessage& m) {
    m.text(IFLA_INFO_KIND, "bridge");
  });
  socket.request(std::move(bridge), "making b0");
  EXPECT_NE(::if_nametoindex("b0"), 0);

  NetlinkMessage all(RTM_GETLINK, NLM_F_DUMP);
  all.header(ifinfomsg{});
  std::vector<std::string> names;
  socket.query(std::move(all), "listing links", [&](const nlmsghdr& message) {
    const auto name = value_of(find_attribute(message, sizeof(ifinfomsg), IFLA_IFNAME));
    names.emplace_back(reinterpret_cast<const char*>(name.data()));
  });
  EXPECT_EQ(names, (std::vector<std::string>{"lo", "b0"}));
}

TEST(Netlink, SaysWhatWasRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  const FileDescriptor made = make_network_namespace();
  const InNetwork inside(made);
  NetlinkSocket socket(NETLINK_ROUTE);
  NetlinkMessage gone(RTM_DELLINK, 0);
  gone.header(ifinfomsg{.ifi_family = 0,
                        .__ifi_pad = 0,
                        .ifi_type = 0,
                        .ifi_index = 77,
                        .ifi_flags = 0,
                        .ifi_change = 0});
  try {
    socket.request(std::move(gone), "removing link 77");
    FAIL() << "the kernel removed a link that was not there";
  } catch (const SystemError& error) {
    EXPECT_STREQ(error.what(), "removing link 77: No such device");
  }
}

}  // namespace
}  // namespace tw::os
