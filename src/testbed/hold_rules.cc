// SPDX-License-Identifier: Apache-2.0
#include "trainwire/testbed/hold_rules.h"

#include "trainwire/base/error.h"
#include "trainwire/os/errno_error.h"
#include "trainwire/os/netlink.h"
#include "trainwire/testbed/links.h"

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nf_tables_compat.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/xt_NFQUEUE.h>
#include <linux/netfilter/xt_physdev.h>
#include <linux/netlink.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string_view>

namespace tw::testbed {
namespace {

using os::NetlinkMessage;

constexpr std::string_view kTable = "trainwire";
constexpr std::string_view kChain = "hold";
/// NF_BR_FORWARD; linux/netfilter_bridge.h does not compile as C++.
constexpr std::uint32_t kBridgeForward = 2;

/// Two ways to say the same. Native: rules of the bridge itself, with the kernel's own queue
/// statement. Compatible: rules of the IP layer, to which the bridge hands its packets, with the
/// statements that iptables brought; kernels built without the former have these.
enum class Way { Native, Compatible };

std::uint32_t big(std::uint32_t value) { return htonl(value); }

NetlinkMessage filter_message(int type, int flags, Way way, int ip_version) {
  NetlinkMessage message((NFNL_SUBSYS_NFTABLES << 8) | type, flags);
  const int family = way == Way::Native ? NFPROTO_BRIDGE
                     : ip_version == 4  ? NFPROTO_IPV4
                                        : NFPROTO_IPV6;
  message.header(nfgenmsg{
      .nfgen_family = static_cast<std::uint8_t>(family), .version = NFNETLINK_V0, .res_id = 0});
  return message;
}

void expression(NetlinkMessage& rule, std::string_view name,
                const std::function<void(NetlinkMessage&)>& fill) {
  rule.nest(NFTA_LIST_ELEM, [&](NetlinkMessage& element) {
    element.text(NFTA_EXPR_NAME, name).nest(NFTA_EXPR_DATA, fill);
  });
}

/// Goes on with the rule only where the packet's property `key` has that value.
template <typename Value>
void require(NetlinkMessage& rule, std::uint32_t key, const Value& value) {
  expression(rule, "meta", [&](NetlinkMessage& meta) {
    meta.put(NFTA_META_KEY, big(key)).put(NFTA_META_DREG, big(NFT_REG_1));
  });
  expression(rule, "cmp", [&](NetlinkMessage& cmp) {
    cmp.put(NFTA_CMP_SREG, big(NFT_REG_1))
        .put(NFTA_CMP_OP, big(NFT_CMP_EQ))
        .nest(NFTA_CMP_DATA, [&](NetlinkMessage& data) { data.put(NFTA_DATA_VALUE, value); });
  });
}

/// Goes on with the rule only for packets that go through these bridge ports.
void require_devices(NetlinkMessage& rule, const Hold& hold, Way way) {
  if (way == Way::Native) {
    if (hold.in != 0) require(rule, NFT_META_IIF, static_cast<std::uint32_t>(hold.in));
    if (hold.out != 0) require(rule, NFT_META_OIF, static_cast<std::uint32_t>(hold.out));
    return;
  }
  if (hold.in == 0 && hold.out == 0) return;
  xt_physdev_info info = {};
  if (hold.in != 0) {
    hold.in_name.copy(info.physindev, sizeof info.physindev - 1);
    std::memset(info.in_mask, 0xff, sizeof info.in_mask);
    info.bitmask |= XT_PHYSDEV_OP_IN;
  }
  if (hold.out != 0) {
    hold.out_name.copy(info.physoutdev, sizeof info.physoutdev - 1);
    std::memset(info.out_mask, 0xff, sizeof info.out_mask);
    info.bitmask |= XT_PHYSDEV_OP_OUT;
  }
  expression(rule, "match", [&](NetlinkMessage& e) {
    e.text(NFTA_MATCH_NAME, "physdev").put(NFTA_MATCH_REV, big(0)).put(NFTA_MATCH_INFO, info);
  });
}

void hand_over(NetlinkMessage& rule, Way way, int queue) {
  const auto number = static_cast<std::uint16_t>(queue);
  if (way == Way::Native) {
    expression(rule, "queue", [&](NetlinkMessage& e) {
      e.put(NFTA_QUEUE_NUM, htons(number)).put(NFTA_QUEUE_TOTAL, htons(1));
    });
    return;
  }
  const xt_NFQ_info_v3 info{.queuenum = number, .queues_total = 1, .flags = 0};
  expression(rule, "target", [&](NetlinkMessage& e) {
    e.text(NFTA_TARGET_NAME, "NFQUEUE").put(NFTA_TARGET_REV, big(3)).put(NFTA_TARGET_INFO, info);
  });
}

NetlinkMessage rule_for(const Hold& hold, Way way, int ip_version) {
  NetlinkMessage rule =
      filter_message(NFT_MSG_NEWRULE, NLM_F_CREATE | NLM_F_APPEND, way, ip_version);
  rule.text(NFTA_RULE_TABLE, kTable).text(NFTA_RULE_CHAIN, kChain);
  rule.nest(NFTA_RULE_EXPRESSIONS, [&](NetlinkMessage& list) {
    const auto protocol = static_cast<std::uint16_t>(ip_version == 4 ? ETH_P_IP : ETH_P_IPV6);
    if (way == Way::Native) require(list, NFT_META_PROTOCOL, htons(protocol));
    require_devices(list, hold, way);
    hand_over(list, way, hold.queue);
  });
  if (way == Way::Compatible) {
    rule.nest(NFTA_RULE_COMPAT, [&](NetlinkMessage& compat) {
      compat.put(NFTA_RULE_COMPAT_PROTO, big(0)).put(NFTA_RULE_COMPAT_FLAGS, big(0));
    });
  }
  return rule;
}

std::vector<NetlinkMessage> messages_for(const std::vector<Hold>& holds, Way way, int ip_version) {
  std::vector<NetlinkMessage> messages;
  messages.push_back(filter_message(NFT_MSG_NEWTABLE, NLM_F_CREATE, way, ip_version));
  messages.back().text(NFTA_TABLE_NAME, kTable);
  messages.push_back(filter_message(NFT_MSG_NEWCHAIN, NLM_F_CREATE, way, ip_version));
  const std::uint32_t hook = way == Way::Native ? kBridgeForward : std::uint32_t{NF_INET_FORWARD};
  messages.back()
      .text(NFTA_CHAIN_TABLE, kTable)
      .text(NFTA_CHAIN_NAME, kChain)
      .nest(NFTA_CHAIN_HOOK,
            [&](NetlinkMessage& nested) {
              nested.put(NFTA_HOOK_HOOKNUM, big(hook)).put(NFTA_HOOK_PRIORITY, big(0));
            })
      .text(NFTA_CHAIN_TYPE, "filter");
  for (const Hold& hold : holds) messages.push_back(rule_for(hold, way, ip_version));
  return messages;
}

/// The value that most devices have.
Duration usual(const std::map<Duration, int>& counts) {
  return std::max_element(counts.begin(), counts.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

/// Times of one side of a switch, and the devices that differ from the usual one.
struct Side {
  Duration usual_time = {};
  std::vector<std::pair<const SwitchDevice*, Duration>> exceptions = {};
};

template <typename Time>
Side side_of(const std::vector<SwitchDevice>& devices, const Time& time) {
  std::map<Duration, int> counts;
  for (const SwitchDevice& device : devices) ++counts[time(device)];
  Side side{.usual_time = usual(counts)};
  for (const SwitchDevice& device : devices) {
    if (time(device) != side.usual_time) side.exceptions.push_back({&device, time(device)});
  }
  return side;
}

Duration arriving_time(const network::NetPlan& plan, const SwitchDevice& device) {
  return plan.ports[static_cast<std::size_t>(device.arriving)].delay;
}

Duration departing_time(const network::NetPlan& plan, const SwitchDevice& device) {
  if (!faces_host(plan, device)) return {};
  return plan.ports[static_cast<std::size_t>(device.departing)].delay;
}

}  // namespace

bool faces_host(const network::NetPlan& plan, const SwitchDevice& device) {
  const network::Port& port = plan.ports[static_cast<std::size_t>(device.departing)];
  return port.to < static_cast<int>(plan.hosts.size());
}

Duration hold_time(const network::NetPlan& plan, const SwitchDevice& in, const SwitchDevice& out) {
  return arriving_time(plan, in) + departing_time(plan, out);
}

std::vector<Hold> make_holds(const network::NetPlan& plan,
                             const std::vector<SwitchDevice>& devices) {
  const bool delays =
      std::any_of(plan.ports.begin(), plan.ports.end(), [](const network::Port& port) {
        return port.delay > Duration(0) || port.jitter > Duration(0) || port.loss > 0;
      });
  if ((!delays && !plan.breaks && !plan.will_lose) || devices.empty()) return {};
  const Side in = side_of(devices, [&](const SwitchDevice& d) { return arriving_time(plan, d); });
  const Side out = side_of(devices, [&](const SwitchDevice& d) { return departing_time(plan, d); });
  std::vector<Hold> holds;
  const auto add = [&](const SwitchDevice* from, const SwitchDevice* to, Duration time) {
    holds.push_back({.in = from != nullptr ? from->index : 0,
                     .in_name = from != nullptr ? from->name : "",
                     .out = to != nullptr ? to->index : 0,
                     .out_name = to != nullptr ? to->name : "",
                     .time = time});
  };
  for (const auto& [from, first] : in.exceptions) {
    for (const auto& [to, second] : out.exceptions) add(from, to, first + second);
  }
  for (const auto& [from, first] : in.exceptions) add(from, nullptr, first + out.usual_time);
  for (const auto& [to, second] : out.exceptions) add(nullptr, to, in.usual_time + second);
  add(nullptr, nullptr, in.usual_time + out.usual_time);
  std::map<Duration, int> queues;
  for (const Hold& hold : holds) queues.try_emplace(hold.time, static_cast<int>(queues.size()));
  for (Hold& hold : holds) hold.queue = queues[hold.time];
  return holds;
}

void apply_holds(const std::vector<Hold>& holds, int ip_version) {
  if (holds.empty()) return;
  constexpr std::string_view kAttempt = "asking the kernel to hold packets (NFQUEUE)";
  try {
    os::NetlinkSocket socket(NETLINK_NETFILTER);
    socket.transaction(messages_for(holds, Way::Native, ip_version), kAttempt);
    return;
  } catch (const SystemError&) {
    // The other way, whose refusal is the one to tell.
  }
  set_sysctl(ip_version == 4 ? "net/bridge/bridge-nf-call-iptables"
                             : "net/bridge/bridge-nf-call-ip6tables",
             "1");
  os::NetlinkSocket socket(NETLINK_NETFILTER);
  socket.transaction(messages_for(holds, Way::Compatible, ip_version), kAttempt);
}

}  // namespace tw::testbed
