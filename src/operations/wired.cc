// SPDX-License-Identifier: Apache-2.0
#include "trainwire/operations/wired.h"

#include "trainwire/base/printable.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>

namespace tw::operations {
namespace {

constexpr std::array<std::string_view, 5> kMemoryCalls{"fallocate", "ftruncate", "mmap", "shm_open",
                                                       "shared memory"};
constexpr std::size_t kMostNames = 4;  ///< of hosts, in a sentence
constexpr std::size_t kMostRanks = 8;  ///< of a host, in a sentence

template <typename T>
void append_new(std::vector<T>& into, const std::vector<T>& from) {
  for (const T& each : from) {
    if (std::find(into.begin(), into.end(), each) == into.end()) into.push_back(each);
  }
}

void merge(Wiring& into, const Wiring& from) {
  if (into.version.empty()) into.version = from.version;
  if (into.network.empty()) into.network = from.network;
  for (const auto& [kind, names] : from.devices)
    into.devices[kind].insert(names.begin(), names.end());
  for (const auto& [network, hosts] : from.networks)
    into.networks[network].insert(hosts.begin(), hosts.end());
  append_new(into.other_nics, from.other_nics);
  append_new(into.warnings, from.warnings);
  into.addresses.insert(from.addresses.begin(), from.addresses.end());
  into.settings.insert(from.settings.begin(), from.settings.end());
  into.channels = std::max(into.channels, from.channels);
  into.sockets = std::max(into.sockets, from.sockets);
  if (from.ranks > into.ranks) {
    into.ranks = from.ranks;
    into.hosts.clear();
    into.rings.clear();
  }
  if (from.ranks == into.ranks) {
    into.hosts.insert(from.hosts.begin(), from.hosts.end());
    into.rings.insert(from.rings.begin(), from.rings.end());
  }
  into.ways.insert(into.ways.end(), from.ways.begin(), from.ways.end());
  into.tree_edges.insert(into.tree_edges.end(), from.tree_edges.begin(), from.tree_edges.end());
}

bool is_network(const Way& way) { return way.transport.starts_with("NET/"); }

/// "NET/Socket" of "NET/Socket/0", "P2P" of "P2P/CUMEM".
std::string family_of(const Way& way) {
  const std::size_t first = way.transport.find('/');
  if (!is_network(way)) return way.transport.substr(0, first);
  return way.transport.substr(0, way.transport.find('/', first + 1));
}

/// 0 of "NET/IB/0/GDRDMA".
std::string nic_of(const Way& way) {
  const std::size_t first = way.transport.find('/');
  const std::size_t second = way.transport.find('/', first + 1);
  if (second == std::string::npos) return {};
  const std::size_t third = way.transport.find_first_of("/(", second + 1);
  return way.transport.substr(second + 1, third == std::string::npos ? third : third - second - 1);
}

/// Cards for RDMA that carry nothing: those that NCCL did not take, and those that it took and then left.
std::set<std::string> idle_cards(const Wiring& wiring) {
  std::set<std::string> idle(wiring.other_nics.begin(), wiring.other_nics.end());
  const bool others_used = std::any_of(wiring.ways.begin(), wiring.ways.end(), [](const Way& way) {
    return is_network(way) && !way.transport.starts_with("NET/Socket");
  });
  const auto taken = wiring.devices.find("NET/IB");
  if (!others_used && taken != wiring.devices.end())
    idle.insert(taken->second.begin(), taken->second.end());
  return idle;
}

bool is_by_socket(const Wiring& wiring) {
  return wiring.network == "Socket" ||
         std::any_of(wiring.ways.begin(), wiring.ways.end(),
                     [](const Way& way) { return way.transport.starts_with("NET/Socket"); });
}

std::optional<Remark> fallback(const Wiring& wiring) {
  const std::set<std::string> idle = idle_cards(wiring);
  if (!is_by_socket(wiring) || idle.empty()) return {};
  const auto disabled = wiring.settings.find("NCCL_IB_DISABLE");
  const bool is_disabled = disabled != wiring.settings.end() && disabled->second.starts_with('1');
  return Remark{
      .kind = "socket_fallback",
      .text = fmt::format("NCCL moves bytes between hosts by sockets although {} {} there: {}",
                          fmt::join(idle, ", "), idle.size() == 1 ? "is" : "are",
                          is_disabled ? "NCCL_IB_DISABLE is set to 1"
                                      : "see the NET/IB and NET/Plugin lines of the log for why"),
      .is_trouble = true};
}

/// Ranks by sockets and ranks by RDMA do not understand each other, and NCCL ends with "wrong type".
std::optional<Remark> several_networks(const Wiring& wiring) {
  if (wiring.networks.size() < 2) return {};
  std::vector<std::string> parts;
  for (const auto& [network, hosts] : wiring.networks) {
    std::vector<std::string> some(hosts.begin(), hosts.end());
    if (some.size() > kMostNames) {
      some.resize(kMostNames);
      some.emplace_back("...");
    }
    parts.push_back(fmt::format("{} on {}", network, fmt::join(some, ", ")));
  }
  return Remark{.kind = "several_networks",
                .text = fmt::format("ranks do not use the same network, and cannot talk to each "
                                    "other: {}",
                                    fmt::join(parts, "; ")),
                .is_trouble = true};
}

/// Interfaces that programs make on each host for itself: an address on one leads to no other host.
bool is_of_one_host(std::string_view name) {
  constexpr std::array<std::string_view, 7> kBegins{"docker", "virbr", "lxcbr", "podman",
                                                    "cni",    "br-",   "vmnet"};
  return name == "lo" || std::any_of(kBegins.begin(), kBegins.end(), [&](std::string_view begin) {
           return name.starts_with(begin);
         });
}

/// Only where ranks are on several hosts and speak by sockets, or their connections failed: beside RDMA, sockets do no more than the
/// start, for which NCCL takes the first interface that works.
std::optional<Remark> wrong_interface(const Wiring& wiring) {
  const auto taken = wiring.devices.find("NET/Socket");
  const bool has_failed = !failure_text(wiring).empty();
  if (taken == wiring.devices.end() || (!is_by_socket(wiring) && !has_failed)) return {};
  const auto found = std::find_if(taken->second.begin(), taken->second.end(), is_of_one_host);
  std::set<std::string> hosts;
  for (const auto& [rank, host] : wiring.hosts) hosts.insert(host);
  if (found == taken->second.end() || (hosts.size() < 2 && !has_failed)) return {};
  return Remark{
      .kind = "wrong_interface",
      .text = fmt::format("NCCL's sockets take {}, which each host has for itself: name the "
                          "interface that leads to the others in NCCL_SOCKET_IFNAME",
                          *found),
      .is_trouble = true};
}

/// NICs of what a way goes by: those of "NET/IB" for "NET/IBext_v8", which a plugin says.
std::set<std::string> nics_for(const Wiring& wiring, const std::string& family) {
  for (const auto& [kind, names] : wiring.devices) {
    if (family.starts_with(kind)) return names;
  }
  return {};
}

/// Only where every rank has told its ways: one rank alone rightly uses the NIC beside it.
std::optional<Remark> one_nic(const Wiring& wiring) {
  std::set<int> told;
  std::set<std::pair<std::string, std::string>> used;
  std::size_t ways = 0;
  for (const Way& way : wiring.ways) {
    told.insert(way.from);
    if (!is_network(way)) continue;
    used.emplace(family_of(way), nic_of(way));
    ++ways;
  }
  const bool all_told = wiring.ranks > 1 && told.size() >= static_cast<std::size_t>(wiring.ranks);
  if (!all_told || used.size() != 1 || ways < 2) return {};
  const std::set<std::string> nics = nics_for(wiring, used.begin()->first);
  if (nics.size() < 2) return {};
  return Remark{.kind = "one_nic",
                .text = fmt::format(
                    "all {} ways between hosts go over NIC {} of {} ({}): the others are idle",
                    ways, used.begin()->second, nics.size(), fmt::join(nics, ", ")),
                .is_trouble = true};
}

std::string ways_text(const Wiring& wiring) {
  std::map<std::string, std::size_t> families;
  for (const Way& way : wiring.ways) ++families[family_of(way)];
  std::vector<std::string> parts;
  for (const auto& [family, count] : families)
    parts.push_back(fmt::format("{} x {}", count, family));
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// The first ring by hosts, with ranks where several in a row are on one; by ranks where some rank's host is not told, or all
/// are on the same.
std::vector<std::string> order_text(const Wiring& wiring) {
  const std::vector<int>& ring = wiring.rings.begin()->second;
  std::vector<std::pair<std::string, std::vector<int>>> parts;
  std::set<std::string> hosts;
  for (const int rank : ring) {
    const auto host = wiring.hosts.find(rank);
    if (host == wiring.hosts.end()) hosts.insert("");
    const std::string name = host == wiring.hosts.end() ? "" : host->second;
    hosts.insert(name);
    if (parts.empty() || parts.back().first != name) parts.push_back({name, {}});
    parts.back().second.push_back(rank);
  }
  std::vector<std::string> order;
  if (hosts.contains("") || hosts.size() == 1) {
    for (const int rank : ring) order.push_back(fmt::format("rank {}", rank));
    return order;
  }
  for (const auto& [host, ranks] : parts) {
    order.push_back(ranks.size() == 1 ? host
                                      : fmt::format("{} (ranks {})", host, fmt::join(ranks, ", ")));
  }
  return order;
}

bool are_on_one_host(const Wiring& wiring) {
  std::set<std::string> hosts;
  for (const auto& [rank, host] : wiring.hosts) hosts.insert(host);
  return hosts.size() == 1 && wiring.hosts.size() == static_cast<std::size_t>(wiring.ranks);
}

/// What the number of a completion that failed means.
std::string_view meaning_of(std::string_view warning) {
  if (warning.find("wrong type") != warning.npos) {
    return "the two do not use the same network, as where one has sockets and the other RDMA, or "
           "other versions of NCCL: compare their lines \"Using network\" and \"NCCL version\"";
  }
  if (warning.find("ibv_modify_qp") != warning.npos) {
    return "the two cards do not reach each other: look at NCCL_IB_GID_INDEX, at subnets and "
           "routes "
           "between them, and at which cards NCCL_IB_HCA takes";
  }
  if (warning.find("ibv_create_qp") != warning.npos)
    return "the card gives no connection: look at the limit of locked memory (ulimit -l)";
  if (warning.find("Call to connect") != warning.npos)
    return "the address that the other rank told does not answer: look at NCCL_SOCKET_IFNAME";
  for (const std::string_view word : {"status=", "with error "}) {
    const std::size_t at = warning.find(word);
    if (at == std::string_view::npos) continue;
    const std::string_view number = warning.substr(at + word.size());
    if (number.starts_with("12")) {
      return "12: the peer did not answer any more; look at cable, switch and routes between the "
             "two, and whether the peer lives";
    }
    if (number.starts_with("13")) return "13: the peer was never ready to receive";
    if (number.starts_with("10")) return "10: the peer's memory cannot be reached";
    if (number.starts_with("4"))
      return "4: the card cannot reach memory of this side, as where GPUDirect is not allowed";
    if (number.starts_with("5"))
      return "5: it follows from another failure, of which more is told before";
  }
  return {};
}

std::string ranks_text(const std::vector<int>& ranks) {
  if (ranks.size() > kMostRanks) return fmt::format("{} ranks", ranks.size());
  return fmt::format("rank{} {}", ranks.size() == 1 ? "" : "s", fmt::join(ranks, ", "));
}

/// ", ranks 0, 1 on host0, rank 2 on host1", or " on host0" where all are; "" where no rank's host is told.
std::string places_text(const Wiring& wiring) {
  std::map<std::string, std::vector<int>> ranks;
  for (const auto& [rank, host] : wiring.hosts) ranks[host].push_back(rank);
  if (ranks.empty()) return {};
  const bool are_all = wiring.hosts.size() == static_cast<std::size_t>(wiring.ranks);
  if (are_all && ranks.size() == 1) return " on " + ranks.begin()->first;
  if (ranks.size() > kMostNames)
    return fmt::format("{} on {} hosts",
                       are_all ? "" : fmt::format(", of which {} are told", wiring.hosts.size()),
                       ranks.size());
  std::string text;
  for (const auto& [host, of_host] : ranks)
    text += fmt::format(", {} on {}", ranks_text(of_host), host);
  return text;
}

Remark summary(const Wiring& wiring) {
  std::string text = "NCCL";
  if (!wiring.version.empty()) text += " " + wiring.version;
  if (wiring.ranks > 0) text += fmt::format(", {} ranks", wiring.ranks);
  if (!wiring.rings.empty()) {
    const std::vector<std::string> order = order_text(wiring);
    if (are_on_one_host(wiring)) text += places_text(wiring);
    if (order.size() <= 16) text += fmt::format(", ring {}", fmt::join(order, " → "));
    const auto channels = std::max(static_cast<int>(wiring.rings.size()), wiring.channels);
    text += fmt::format(", {} channel{}", channels, channels == 1 ? "" : "s");
  } else {
    text += places_text(wiring);
    if (wiring.channels > 0)
      text += fmt::format(", {} channel{}", wiring.channels, wiring.channels == 1 ? "" : "s");
  }
  if (!wiring.network.empty()) text += fmt::format(", network {}", wiring.network);
  if (!wiring.ways.empty()) text += fmt::format("; ways: {}", ways_text(wiring));
  return {.kind = "wiring", .text = text, .is_trouble = false};
}

/// Calls by which ranks of one host share memory.
bool is_of_memory(std::string_view warning) {
  return std::any_of(kMemoryCalls.begin(), kMemoryCalls.end(),
                     [&](std::string_view call) { return warning.find(call) != warning.npos; });
}

}  // namespace

Wiring wired(const std::vector<Told>& told) {
  Wiring made;
  for (const Told& file : told) merge(made, file.wiring);
  return made;
}

std::string failure_text(const Wiring& wiring) {
  constexpr std::array<std::string_view, 10> kFailures{
      "Got completion from peer", "Got async event",
      "async fatal event",        "wrong type",
      "Call to ibv_modify_qp",    "Call to ibv_create_qp",
      "Call to connect",          "Connection closed by remote peer",
      "completed with error",     " failed : "};
  for (const std::string& warning : wiring.warnings) {
    const bool is_failure =
        warning.find("Cuda failure") == warning.npos &&
        std::any_of(kFailures.begin(), kFailures.end(),
                    [&](std::string_view words) { return warning.find(words) != warning.npos; });
    if (!is_failure) continue;
    if (is_of_memory(warning)) {
      return fmt::format(
          "NCCL says that a host's shared memory failed, not its network: {} (in a container "
          "/dev/shm is 64 MB unless it is given more).",
          warning);
    }
    const std::string_view meaning = meaning_of(warning);
    return fmt::format("NCCL says that its network failed: {}{}.", warning,
                       meaning.empty() ? "" : fmt::format(" ({})", meaning));
  }
  return {};
}

std::string place_of(const Wiring& wiring, int rank) {
  const auto host = wiring.hosts.find(rank);
  return host == wiring.hosts.end() ? fmt::format("rank {}", rank) : host->second;
}

std::vector<Remark> remarks_on(const Wiring& wiring) {
  std::vector<Remark> made;
  if (wiring.empty()) return made;
  for (auto&& each :
       {several_networks(wiring), wrong_interface(wiring), fallback(wiring), one_nic(wiring)}) {
    if (each) made.push_back(*each);
  }
  for (const std::string& warning : wiring.warnings) {
    made.push_back({.kind = "nccl_warning", .text = "NCCL warns: " + warning, .is_trouble = true});
  }
  if (Remark of_all = summary(wiring); of_all.text != "NCCL") made.push_back(std::move(of_all));
  return made;
}

std::optional<double> ring_wire_bytes(const Operation& operation) {
  if (!operation.bytes || operation.group_size < 2) return {};
  if (!operation.algorithm.empty() && operation.algorithm != "ring") return {};
  const double others = operation.group_size - 1;
  const double bytes = static_cast<double>(*operation.bytes);
  const double added = operation.protocol == "ll"      ? 2
                       : operation.protocol == "ll128" ? 128.0 / 120
                                                       : 1;
  if (operation.op == "all_reduce") return added * 2 * others * bytes;
  if (operation.op == "all_gather" || operation.op == "reduce_scatter" ||
      operation.op == "broadcast" || operation.op == "reduce") {
    return added * others * bytes;
  }
  return {};
}

}  // namespace tw::operations
