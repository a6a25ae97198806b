// SPDX-License-Identifier: Apache-2.0
// Lines of NCCL's log that tell how ranks are joined: communicators, rings, trees, ways, NICs.
#include "trainwire/base/printable.h"
#include "trainwire/base/words.h"
#include "trainwire/readers/nccl_log_state.h"

#include <algorithm>

namespace tw::readers {
namespace {

using operations::Way;

constexpr std::size_t kMostWays = 1'000'000;
constexpr std::size_t kMostDevices = 4096;

/// "mlx5_2+mlx5_3" of "={[0] mlx5_2:1/RoCE, [1] mlx5_3:1/RoCE}": ports that NCCL takes as one.
std::string merged_name(std::string_view device) {
  std::string made;
  Words words(device.substr(0, device.find('}')));
  while (words.go_behind("] ")) {
    const std::string_view rest = words.rest();
    if (!made.empty()) made += '+';
    made += rest.substr(0, rest.find_first_of(": /<[,"));
  }
  return made;
}

}  // namespace

bool is_rdma_name(std::string_view name) {
  return name.starts_with("mlx") || name.starts_with("bnxt_re") || name.starts_with("rdmap") ||
         name.starts_with("efa") || name.starts_with("irdma") || name.starts_with("rocep") ||
         name.starts_with("ibp");
}

const Communicator* NcclLog::State::find(const std::string& process,
                                         std::string_view pointer) const {
  const auto of_process = communicators.find(process);
  if (of_process == communicators.end()) return nullptr;
  const auto found = of_process->second.find(std::string(pointer));
  return found == of_process->second.end() ? nullptr : &found->second;
}

/// With `pointer` in it.
Side& NcclLog::State::side_of(const NcclLine& line, int ranks, const std::string& pointer) {
  const std::string device(line.device);
  const int seen = static_cast<int>(devices_seen.size());
  const int number = devices_seen.try_emplace({line.process, device}, seen + 1).first->second;
  Side& side = sides[{line.process, device, ranks}];
  side.number = number;
  side.orders.try_emplace(pointer, static_cast<int>(side.orders.size()) + 1);
  return side;
}

/// "[ncclCommInitRank ]comm 0x.. rank 0 nranks 4 ... commId 0x.. - Init START", "comm 0x.. rank 0 nRanks 4 nNodes 2".
bool NcclLog::State::communicator(const NcclLine& line) {
  Words words(line.text);
  if (!words.go_behind("comm 0x")) return took_rank(line);
  const std::string pointer(words.word());
  if (!words.take("rank ")) return false;
  const auto rank = words.small();
  if (!rank || !(words.take("nranks ") || words.take("nRanks "))) return false;
  const auto ranks = words.small();
  if (!ranks) return false;
  auto& of_process = communicators[line.process];
  const auto [at, is_new] = of_process.try_emplace(pointer);
  Communicator& made = at->second;
  if (is_new) made.order = side_of(line, *ranks, pointer).orders[pointer];
  made.rank = rank;
  made.ranks = *ranks;
  if (words.go_behind("commId 0x")) made.id = words.word();
  put_rank(*rank, *ranks, line.host);
  return true;
}

/// Up to 2.3: "rank 6 nranks 8".
bool NcclLog::State::took_rank(const NcclLine& line) {
  Words words(line.text);
  const auto rank = words.take("rank ") ? words.small() : std::nullopt;
  const auto ranks = rank && words.take("nranks ") ? words.small() : std::nullopt;
  if (!ranks || *ranks <= *rank) return false;
  put_rank(*rank, *ranks, line.host);
  return true;
}

/// Of the largest communicator.
void NcclLog::State::put_rank(int rank, int ranks, const std::string& host) {
  if (ranks > wiring.ranks) {
    wiring.ranks = ranks;
    wiring.hosts.clear();
  }
  if (ranks == wiring.ranks && !host.empty()) wiring.hosts.try_emplace(rank, host);
}

/// "Channel 00/24 : 0 1 2 3", "Channel 00/02 :    0   1", up to 2.3 "Ring 00 :    0   1".
bool NcclLog::State::took_order(Words words) {
  const auto channel = words.small();
  if (!channel) return false;
  const auto channels = words.take("/") ? words.small() : std::optional(0);
  if (!channels || !words.take(":")) return false;
  std::vector<int> order;
  while (const auto rank = words.small()) {
    words.skip_blanks();
    if (words.rest().starts_with('[')) return false;  // a way: 0[0] -> 1[0]
    order.push_back(*rank);
  }
  words.skip_blanks();
  if (order.size() < 2 || !words.rest().empty()) return false;
  Drawn& into = drawn[static_cast<int>(order.size())];
  if (*channels < 1000) into.channels = std::max(into.channels, *channels);
  into.rings.try_emplace(*channel, std::move(order));
  return true;
}

bool NcclLog::State::ring(const NcclLine& line) {
  Words words(line.text);
  if (words.take("Channel ")) return took_order(words);
  if (Words old(line.text); old.take("Ring ") && took_order(old)) return true;
  // "Ring 00 : prev -> rank -> next"
  if (!words.take("Ring ")) return false;
  const auto channel = words.small();
  if (!channel || !words.take(":") || !words.small() || !words.take("->")) return false;
  const auto rank = words.small();
  if (!rank || !words.take("->")) return false;
  const auto next = words.small();
  if (!next) return false;
  drawn[0].next[*channel].try_emplace(*rank, *next);
  if (!line.host.empty() && hosts_of_ways.size() < kMostWays)
    hosts_of_ways[*rank].insert(line.host);
  return true;
}

/// "Trees [0] 2/-1/-1->0->-1 [1] ...": the first channel's child and parent; 2.4 tells the parent first, "-1->0->2/-1/-1".
bool NcclLog::State::tree(const NcclLine& line) {
  Words words(line.text);
  if (!words.take("Trees [0] ")) return false;
  const std::string_view all = words.word();
  const std::size_t first = all.find("->");
  const std::size_t second = first == std::string_view::npos ? first : all.find("->", first + 2);
  if (second == std::string_view::npos) return false;
  const bool is_old = all.substr(0, first).find('/') == std::string_view::npos;
  Words middle(all.substr(first + 2));
  Words above(is_old ? all : all.substr(second + 2));
  const auto rank = middle.small();
  const auto parent = above.small();
  if (rank && !line.host.empty() && hosts_of_ways.size() < kMostWays)
    hosts_of_ways[*rank].insert(line.host);
  if (rank && parent && wiring.tree_edges.size() < kMostWays) {
    wiring.tree_edges.emplace_back(*rank, *parent);
  }
  return true;
}

/// "Channel 00/0 : 3[0] -> 0[0] [receive] via NET/Socket/0", "Ring 01 : 0[201000] -> 6[a01000] [send] via ...".
bool NcclLog::State::way(const NcclLine& line) {
  const std::string_view text = line.text;
  const std::size_t via = text.find(" via ");
  if (via == std::string_view::npos) return false;
  Words words(text);
  if (!words.take("Channel ") && !words.take("Ring ")) return false;
  const auto channel = words.small();
  if (!channel || !words.go_behind(":")) return false;
  const auto from = words.small();
  if (!from || !words.go_behind("->")) return false;
  const auto to = words.small();
  if (!to) return false;
  Words behind(text.substr(via + 5));
  std::string transport(behind.word());
  if (behind.take("Libfabric")) transport += " Libfabric" + std::string(behind.word());
  if (transport == "direct" && behind.take("shared memory")) transport = "SHM";  // up to 2.8
  // RCCL's ends with "comm 0x.. nRanks 08".
  const auto ranks = number_behind(text, " nRanks ");
  if (ranks && *ranks > wiring.ranks && *ranks < 10'000'000)
    wiring.ranks = static_cast<int>(*ranks);
  // Both ends tell; one is enough.
  const bool is_receiver = text.find("[receive]") != std::string_view::npos;
  if (!line.host.empty() && hosts_of_ways.size() < kMostWays)
    hosts_of_ways[is_receiver ? *to : *from].insert(line.host);
  auto& ways = is_receiver ? received : wiring.ways;
  if (ways.size() < kMostWays) {
    ways.push_back(
        {.from = *from, .to = *to, .channel = *channel, .transport = std::move(transport)});
  }
  return true;
}

/// Of ways whose sending ends are not in the log the receiving ones count, each once.
void NcclLog::State::close_ways() {
  std::set<std::tuple<int, int, int>> told;
  for (const operations::Way& way : wiring.ways) told.emplace(way.channel, way.from, way.to);
  for (operations::Way& way : received) {
    if (wiring.ways.size() >= kMostWays) break;
    if (told.emplace(way.channel, way.from, way.to).second) wiring.ways.push_back(std::move(way));
  }
  received.clear();
}

/// "NET/IB : Using [0]mlx5_0:1/RoCE [1]mlx5_1:1/RoCE [RO]; OOB eth0:..<0>", "NET/Socket : Using [0]eth0:10.0.0.1<0>": a
/// number in brackets begins a NIC, other words in brackets do not, and behind the semicolon are none.
bool NcclLog::State::took_devices(const NcclLine& line) {
  Words words(line.text);
  if (!words.take("NET/")) return false;
  const std::string kind =
      "NET/" + printable(words.rest().substr(0, words.rest().find_first_of(" :")));
  has_no_ib =
      has_no_ib || (kind == "NET/IB" && line.text.find("No device found") != line.text.npos);
  // Up to 2.3 each in a line of its own: "NET/IB: [0] mlx5_1:1/IB".
  Words one(line.text.substr(std::min(kind.size(), line.text.size())));
  const bool is_one = one.take(": [");
  if (!is_one && (!words.go_behind("Using ") || !words.rest().starts_with('['))) return false;
  const std::string_view all = words.rest().substr(0, words.rest().find(';'));
  for (std::size_t at = all.find('['); at != std::string_view::npos; at = all.find('[', at + 1)) {
    const std::size_t close = all.find(']', at);
    if (close == std::string_view::npos) break;
    if (close == at + 1 || all[at + 1] < '0' || all[at + 1] > '9') continue;
    std::string_view device = all.substr(close + 1);
    if (is_one) device.remove_prefix(std::min(device.find_first_not_of(' '), device.size()));
    const bool is_merged = device.starts_with("={");
    const std::string name = is_merged
                                 ? merged_name(device)
                                 : std::string(device.substr(0, device.find_first_of(": /<[")));
    if (is_merged) at = std::min(all.find('}', at), all.size() - 1);
    if (name.empty()) continue;
    if (wiring.devices.size() >= 64 && !wiring.devices.contains(kind)) break;
    auto& of_kind = wiring.devices[kind];
    if (of_kind.size() < kMostDevices) of_kind.insert(printable(name));
    if (kind != "NET/Socket" || line.host.empty() || wiring.addresses.size() >= kMostWays) continue;
    const std::string_view address = device.substr(std::min(name.size() + 1, device.size()));
    wiring.addresses.try_emplace(line.host, printable(address.substr(0, address.find('<'))));
  }
  return true;
}

/// "NET/Socket: Using 2 threads and 2 sockets per thread".
bool NcclLog::State::took_sockets(std::string_view text) {
  Words words(text);
  if (!words.take("NET/Socket") || !words.go_behind("Using ")) return false;
  const auto threads = words.small();
  const auto each = threads && words.take("threads and ") ? words.small() : std::nullopt;
  if (!each || !words.take("sockets per thread") || *threads > 64 || *each > 64) return false;
  wiring.sockets = *threads * *each;
  return true;
}

bool NcclLog::State::network(const NcclLine& line) {
  Words words(line.text);
  if (words.go_behind("CCL version ")) {
    words.take(":");  // RCCL's
    if (wiring.version.empty()) wiring.version = printable(words.word());
    int minor = 0;
    Words number(wiring.version);
    if (number.take("2.")) minor = number.small().value_or(0);
    has_old_sizes = minor > 0 && minor < 21;
    return true;
  }
  if (Words using_network(line.text);
      using_network.take("Using network ") || using_network.take("Using internal Network ")) {
    wiring.network = printable(using_network.rest());
    while (wiring.network.ends_with(' ')) wiring.network.pop_back();
    if (wiring.networks.size() < 64 || wiring.networks.contains(wiring.network)) {
      auto& hosts = wiring.networks[wiring.network];
      if (!line.host.empty() && hosts.size() < kMostDevices) hosts.insert(printable(line.host));
    }
    return true;
  }
  if (took_devices(line) || took_sockets(line.text)) return true;
  constexpr std::string_view kSet = " set by environment to ";
  if (const std::size_t set = line.text.find(kSet);
      set != std::string_view::npos && line.text.starts_with("NCCL_")) {
    if (wiring.settings.size() < 256) {
      const std::string_view value = line.text.substr(set + kSet.size());
      wiring.settings[printable(line.text.substr(0, set))] =
          printable(value.substr(0, value.find_first_of(" \r")));
    }
    return true;
  }
  // Any other mention of an RDMA card: it is in the machine.
  for (const std::string_view name : {"mlx5_", "mlx4_", "bnxt_re", "rdmap", "irdma", "rocep"}) {
    const std::size_t at = line.text.find(name);
    if (at == std::string_view::npos || mentioned.size() >= 64) continue;
    const std::string_view found = line.text.substr(at);
    mentioned.insert(printable(found.substr(0, found.find_first_of(" :/,;'\")]<[=\r"))));
  }
  return false;
}

/// "Using network" came with 2.5. Before, cards for RDMA were taken where there were any, and sockets where it said that there were none.
void NcclLog::State::close_network() {
  if (!wiring.network.empty()) return;
  if (wiring.devices.contains("NET/IB")) {
    wiring.network = "IB";
  } else if (has_no_ib && wiring.devices.contains("NET/Socket")) {
    wiring.network = "Socket";
  }
}

/// Where no communicator is told of, ranks are where they tell their ways; of a rank on two hosts several communicators speak.
void NcclLog::State::close_hosts() {
  if (!wiring.hosts.empty()) return;
  for (const auto& [rank, hosts] : hosts_of_ways) {
    if (hosts.size() == 1) wiring.hosts.emplace(rank, *hosts.begin());
  }
}

/// Rings that no rank told whole, from what each told of its neighbours.
void NcclLog::State::close_rings() {
  if (drawn.contains(wiring.ranks) || (wiring.ranks == 0 && !drawn.empty())) {
    const Drawn& of = wiring.ranks == 0 ? drawn.rbegin()->second : drawn[wiring.ranks];
    wiring.rings = of.rings;
    wiring.channels = std::max(wiring.channels, of.channels);
  }
  for (const auto& [channel, next] : drawn[0].next) {
    if (wiring.rings.contains(channel)) continue;
    std::vector<int> order;
    int at = next.begin()->first;
    while (order.size() < next.size()) {
      order.push_back(at);
      const auto found = next.find(at);
      if (found == next.end()) break;
      at = found->second;
    }
    const bool closed = at == next.begin()->first && order.size() == next.size();
    if (closed && order.size() > 1) wiring.rings.emplace(channel, std::move(order));
  }
}

}  // namespace tw::readers
