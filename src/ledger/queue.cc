// SPDX-License-Identifier: Apache-2.0
#include "trainwire/ledger/queue.h"

#include "trainwire/os/errno_error.h"
#include "trainwire/os/netlink.h"

#include <fmt/format.h>
#include <libmnl/libmnl.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <net/if.h>

#include <cerrno>

namespace tw::ledger {
namespace {

tcmsg of_root(const std::string& device) {
  tcmsg header = {};
  header.tcm_ifindex = static_cast<int>(::if_nametoindex(device.c_str()));
  if (header.tcm_ifindex == 0) throw os::errno_error("finding link " + device, errno);
  header.tcm_parent = TC_H_ROOT;
  return header;
}

}  // namespace

std::uint32_t root_queue(const std::string& device) {
  const tcmsg wanted = of_root(device);
  os::NetlinkMessage message(RTM_GETQDISC, NLM_F_DUMP);
  message.header(wanted);
  std::uint32_t handle = 0;
  os::NetlinkSocket(NETLINK_ROUTE)
      .query(std::move(message), fmt::format("asking for the queue of {}", device),
             [&](const nlmsghdr& answer) {
               const auto* found = static_cast<const tcmsg*>(mnl_nlmsg_get_payload(&answer));
               const bool is_it = answer.nlmsg_type == RTM_NEWQDISC &&
                                  found->tcm_ifindex == wanted.tcm_ifindex &&
                                  found->tcm_parent == TC_H_ROOT;
               if (is_it) handle = found->tcm_handle;
             });
  return handle;
}

bool take_back_queue(const std::string& device) {
  if (root_queue(device) != kOurQueue) return false;
  tcmsg header = of_root(device);
  header.tcm_handle = kOurQueue;
  os::NetlinkMessage message(RTM_DELQDISC, 0);
  message.header(header);
  os::NetlinkSocket(NETLINK_ROUTE)
      .request(std::move(message), fmt::format("taking back the shaping of {}", device));
  return true;
}

}  // namespace tw::ledger
