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
#include <utility>

namespace tw::ledger {
namespace {

int index_of(const std::string& device) {
  const auto index = static_cast<int>(::if_nametoindex(device.c_str()));
  if (index == 0) throw os::errno_error("finding the network device " + device, errno);
  return index;
}

/// What the kernel lists of a device.
struct Listed {
  std::uint32_t leaving = 0;  ///< the queue's number; 0 is the kernel's own
  bool arriving = false;      ///< somebody looks at what arrives
};

Listed listed(const std::string& device) {
  const int index = index_of(device);
  os::NetlinkMessage message(RTM_GETQDISC, NLM_F_DUMP);
  tcmsg wanted = {};
  wanted.tcm_ifindex = index;
  message.header(wanted);
  Listed found;
  os::NetlinkSocket(NETLINK_ROUTE)
      .query(std::move(message), fmt::format("asking for the queues of {}", device),
             [&](const nlmsghdr& answer) {
               if (answer.nlmsg_type != RTM_NEWQDISC) return;
               const auto* one = static_cast<const tcmsg*>(mnl_nlmsg_get_payload(&answer));
               if (one->tcm_ifindex != index) return;
               if (one->tcm_parent == TC_H_ROOT) found.leaving = one->tcm_handle;
               if (one->tcm_parent == TC_H_INGRESS) found.arriving = true;
             });
  return found;
}

void remove_queue(const std::string& device, std::uint32_t parent, std::uint32_t number) {
  os::NetlinkMessage message(RTM_DELQDISC, 0);
  tcmsg header = {};
  header.tcm_ifindex = index_of(device);
  header.tcm_parent = parent;
  header.tcm_handle = number;
  message.header(header);
  os::NetlinkSocket(NETLINK_ROUTE)
      .request(std::move(message), fmt::format("taking back the shaping of {}", device));
}

void remove_device(const std::string& device) {
  os::NetlinkMessage message(RTM_DELLINK, 0);
  ifinfomsg header = {};
  header.ifi_index = index_of(device);
  message.header(header);
  os::NetlinkSocket(NETLINK_ROUTE)
      .request(std::move(message), fmt::format("taking back the device {}", device));
}

bool is_there(const std::string& device) { return ::if_nametoindex(device.c_str()) != 0; }

}  // namespace

std::string incoming_device(const std::string& device) {
  return fmt::format("tw-in{}", index_of(device));
}

Queues queues_of(const std::string& device) {
  const Listed found = listed(device);
  const bool leads = is_there(incoming_device(device));
  const bool others =
      (found.leaving != 0 && found.leaving != kOurQueue) || (found.arriving && !leads);
  if (others) return Queues::Others;
  return leads || found.leaving == kOurQueue ? Queues::Ours : Queues::Kernels;
}

bool take_back_queues(const std::string& device) {
  const Listed found = listed(device);
  const std::string incoming = incoming_device(device);
  const bool leads = is_there(incoming);
  // Nobody's packets are led to a device that is gone.
  if (leads && found.arriving) remove_queue(device, TC_H_INGRESS, TC_H_MAKE(TC_H_INGRESS, 0));
  if (leads) remove_device(incoming);
  if (found.leaving == kOurQueue) remove_queue(device, TC_H_ROOT, kOurQueue);
  return leads || found.leaving == kOurQueue;
}

}  // namespace tw::ledger
