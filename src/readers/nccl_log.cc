// SPDX-License-Identifier: Apache-2.0
#include "trainwire/readers/nccl_log.h"

#include "trainwire/base/printable.h"
#include "trainwire/readers/nccl_lines.h"
#include "trainwire/readers/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace tw::readers {
namespace {

using operations::Operation;
using operations::Told;
using operations::Way;
using operations::Wiring;

constexpr std::size_t kMostOperations = 4'000'000;
constexpr std::size_t kMostWays = 1'000'000;
constexpr std::size_t kMostWarnings = 5;

/// A communicator as one rank has it.
struct Communicator {
  std::optional<int> rank = {};
  int ranks = 0;
  std::string id = {};  ///< commId: the same for all ranks
  int order = 0;        ///< which of its process, for logs without commId
};

/// Where an operation waits for the line that says its algorithm.
struct Waiting {
  std::string process;
  std::string op;
  std::int64_t stated_bytes;
  std::size_t index;
};

/// What was said by ranks whose communicator is not known by name: by channel.
struct Drawn {
  std::map<int, std::vector<int>> rings = {};
  std::map<int, std::map<int, int>> next = {};  ///< channel: rank to the next one
  std::vector<std::pair<int, int>> edges = {};
};

bool is_rdma_name(std::string_view name) {
  return name.starts_with("mlx") || name.starts_with("bnxt_re") || name.starts_with("rdmap") ||
         name.starts_with("efa") || name.starts_with("irdma") || name.starts_with("rocep") ||
         name.starts_with("ibp");
}

}  // namespace

struct NcclLog::State {
  std::map<std::string, std::map<std::string, Communicator>> communicators;  ///< process, pointer
  std::map<std::string, std::string> host_of;                                ///< process
  std::vector<Operation> operations;
  std::vector<Waiting> waiting;
  std::map<int, Drawn> drawn;  ///< by number of ranks of the ring; 0: not yet known
  Wiring wiring;
  std::set<std::string> devices;
  std::set<std::string> mentioned;
  operations::Skips skips;
  std::uint64_t lines = 0;
  std::uint64_t used = 0;
  bool has_old_sizes = false;  ///< TUNING tells the large side, as before 2.21

  void take(const NcclLine& line);
  bool communicator(const NcclLine& line);
  bool ring(std::string_view text);
  bool tree(std::string_view text);
  bool way(std::string_view text);
  bool network(const NcclLine& line);
  bool collective(const NcclLine& line);
  bool tuning(const NcclLine& line);
  const Communicator* find(const std::string& process, std::string_view pointer) const;
  void close_rings();
};

const Communicator* NcclLog::State::find(const std::string& process,
                                         std::string_view pointer) const {
  const auto of_process = communicators.find(process);
  if (of_process == communicators.end()) return nullptr;
  const auto found = of_process->second.find(std::string(pointer));
  return found == of_process->second.end() ? nullptr : &found->second;
}

/// "[ncclCommInitRank ]comm 0x.. rank 0 nranks 4 ... commId 0x.. - Init START", "comm 0x.. rank 0 nRanks 4 nNodes 2".
bool NcclLog::State::communicator(const NcclLine& line) {
  Words words(line.text);
  if (!words.go_behind("comm 0x")) return false;
  const std::string pointer(words.word());
  if (!words.take("rank ")) return false;
  const auto rank = words.small();
  if (!rank || !(words.take("nranks ") || words.take("nRanks "))) return false;
  const auto ranks = words.small();
  if (!ranks) return false;
  auto& of_process = communicators[line.process];
  const auto [at, is_new] = of_process.try_emplace(pointer);
  Communicator& made = at->second;
  if (is_new) made.order = static_cast<int>(of_process.size());
  made.rank = rank;
  made.ranks = *ranks;
  if (words.go_behind("commId 0x")) made.id = words.word();
  if (*ranks > wiring.ranks) {
    wiring.ranks = *ranks;
    wiring.hosts.clear();
  }
  if (*ranks == wiring.ranks) wiring.hosts.try_emplace(*rank, line.host);
  return true;
}

/// "Channel 00/24 : 0 1 2 3", "Channel 00/02 :    0   1".
bool NcclLog::State::ring(std::string_view text) {
  Words words(text);
  if (words.take("Channel ")) {
    const auto channel = words.small();
    if (!channel) return false;
    if (words.take("/") && !words.small()) return false;
    if (!words.take(":")) return false;
    std::vector<int> order;
    while (const auto rank = words.small()) {
      words.skip_blanks();
      if (words.rest().starts_with('[')) return false;  // a way: 0[0] -> 1[0]
      order.push_back(*rank);
    }
    words.skip_blanks();
    if (order.size() < 2 || !words.rest().empty()) return false;
    drawn[static_cast<int>(order.size())].rings.try_emplace(*channel, std::move(order));
    return true;
  }
  // "Ring 00 : prev -> rank -> next"
  if (!words.take("Ring ")) return false;
  const auto channel = words.small();
  if (!channel || !words.take(":") || !words.small() || !words.take("->")) return false;
  const auto rank = words.small();
  if (!rank || !words.take("->")) return false;
  const auto next = words.small();
  if (!next) return false;
  drawn[0].next[*channel].try_emplace(*rank, *next);
  return true;
}

/// "Trees [0] 2/-1/-1->0->-1 [1] ...": the first channel's child and parent.
bool NcclLog::State::tree(std::string_view text) {
  Words words(text);
  if (!words.take("Trees [0] ")) return false;
  const std::string_view all = words.word();
  const std::size_t first = all.find("->");
  const std::size_t second = first == std::string_view::npos ? first : all.find("->", first + 2);
  if (second == std::string_view::npos) return false;
  Words middle(all.substr(first + 2));
  Words behind(all.substr(second + 2));
  const auto rank = middle.small();
  const auto parent = behind.small();
  if (rank && parent && wiring.tree_edges.size() < kMostWays) {
    wiring.tree_edges.emplace_back(*rank, *parent);
  }
  return true;
}

/// "Channel 00/0 : 3[0] -> 0[0] [receive] via NET/Socket/0", "Ring 01 : 0[201000] -> 6[a01000] [send] via ...".
bool NcclLog::State::way(std::string_view text) {
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
  // Both ends tell; one is enough.
  if (text.find("[receive]") != std::string_view::npos) return true;
  if (wiring.ways.size() < kMostWays) {
    wiring.ways.push_back(
        {.from = *from, .to = *to, .channel = *channel, .transport = std::move(transport)});
  }
  return true;
}

bool NcclLog::State::network(const NcclLine& line) {
  Words words(line.text);
  if (words.go_behind("CCL version ")) {
    if (wiring.version.empty()) wiring.version = printable(words.word());
    int minor = 0;
    Words number(wiring.version);
    if (number.take("2.")) minor = number.small().value_or(0);
    has_old_sizes = minor > 0 && minor < 21;
    return true;
  }
  if (Words using_network(line.text); using_network.take("Using network ")) {
    wiring.network = printable(using_network.rest());
    while (wiring.network.ends_with(' ')) wiring.network.pop_back();
    return true;
  }
  // "NET/IB : Using [0]mlx5_0:1/RoCE [1]mlx5_1:1/RoCE ; OOB eth0:..<0>", "NET/Socket : Using [0]eth0:10.0.0.1<0>"
  if (Words net(line.text); net.take("NET/") && net.go_behind("Using [")) {
    do {
      if (!net.go_behind("]")) break;
      const std::string_view name = net.rest().substr(0, net.rest().find_first_of(": /<"));
      if (!name.empty() && devices.size() < kMostWays) devices.insert(printable(name));
      const std::string_view address =
          net.rest().substr(std::min(name.size() + 1, net.rest().size()));
      if (line.text.find("NET/Socket") != std::string_view::npos &&
          wiring.addresses.size() < kMostWays) {
        wiring.addresses.try_emplace(line.host, printable(address.substr(0, address.find('<'))));
      }
    } while (net.rest().substr(0, net.rest().find(';')).find('[') != std::string_view::npos &&
             net.go_behind("["));
    return true;
  }
  if (const std::size_t set = line.text.find(" set by environment to ");
      set != std::string_view::npos && line.text.starts_with("NCCL_")) {
    if (wiring.settings.size() < 256) {
      const std::string_view value = line.text.substr(set + 24);
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

/// "AllReduce: opCount 0 sendbuff 0x.. recvbuff 0x.. count 2097152 datatype 7 op 0 root 0 comm 0x.. [nranks=2] stream 0x..".
bool NcclLog::State::collective(const NcclLine& line) {
  const std::size_t at = line.text.find(": opCount ");
  if (at == std::string_view::npos) return false;
  std::string_view name = line.text.substr(0, at);
  name = name.substr(name.rfind(' ') == std::string_view::npos ? 0 : name.rfind(' ') + 1);
  Operation made{.host = line.host, .op = operations::canonical_op(name)};
  if (made.op.empty()) {
    skips.add("operations of a kind that is not known");
    return true;
  }
  const std::string_view rest = line.text.substr(at);
  made.sequence = number_behind(rest, "opCount ", 16);
  const auto count = number_behind(rest, " count ");
  const auto type = number_behind(rest, " datatype ");
  const auto root = number_behind(rest, " root ");
  const auto ranks = number_behind(rest, "[nranks=");
  Words words(rest);
  const Communicator* known = nullptr;
  if (words.go_behind(" comm 0x")) known = find(line.process, words.word());
  if (ranks && *ranks > 0 && *ranks < 10'000'000) made.group_size = static_cast<int>(*ranks);
  if (known != nullptr) {
    made.rank = known->rank;
    made.group_size = known->ranks;
    made.group = known->id.empty()
                     ? fmt::format("communicator {} of {} ranks", known->order, known->ranks)
                     : known->id;
  }
  if (!count || *count < 0 || !type || !nccl_type(*type)) {
    skips.add("operations without a size");
    return true;
  }
  const NcclType element = *nccl_type(*type);
  made.dtype = element.name;
  if ((made.op == "send" || made.op == "recv") && root && *root >= 0 && *root < 10'000'000) {
    made.peer = static_cast<int>(*root);
  }
  const bool in_parts = made.op == "all_gather" || made.op == "reduce_scatter" ||
                        made.op == "all_to_all" || made.op == "gather" || made.op == "scatter";
  const auto stated = operations::product(*count, element.bytes);
  if (stated) {
    made.bytes = in_parts ? operations::product(*stated, std::max(made.group_size, 1)) : stated;
  }
  if (operations.size() >= kMostOperations) {
    skips.add("operations beyond four million");
    return true;
  }
  if (stated) waiting.push_back({line.process, made.op, *stated, operations.size()});
  if (waiting.size() > 4096) waiting.erase(waiting.begin(), waiting.begin() + 2048);
  operations.push_back(std::move(made));
  return true;
}

/// "AllReduce: 8388608 Bytes -> Algo RING proto SIMPLE channel{Lo..Hi}={0..23}"; older: "Algo 1 proto 2 time 93.4".
bool NcclLog::State::tuning(const NcclLine& line) {
  const std::size_t at = line.text.find(" Bytes -> Algo ");
  if (at == std::string_view::npos) return false;
  const std::size_t colon = line.text.rfind(": ", at);
  if (colon == std::string_view::npos) return false;
  std::string_view name = line.text.substr(0, colon);
  name = name.substr(name.rfind(' ') == std::string_view::npos ? 0 : name.rfind(' ') + 1);
  const std::string op = operations::canonical_op(name);
  Words words(line.text.substr(colon + 2));
  const auto bytes = words.whole();
  if (op.empty() || !bytes || *bytes < 0 || !words.go_behind("Algo ")) return false;
  const std::string algorithm = algorithm_name(words.word());
  const std::string protocol = words.take("proto ") ? protocol_name(words.word()) : std::string();
  int channels = 0;
  if (Words range(words.rest()); range.go_behind("={")) {
    const auto low = range.small();
    const auto high = range.take("..") ? range.small() : std::nullopt;
    if (low && high && *high >= *low) channels = *high - *low + 1;
  }
  const auto known = std::find_if(waiting.begin(), waiting.end(), [&](const Waiting& each) {
    return each.process == line.process && each.op == op && each.stated_bytes == *bytes;
  });
  Operation* into = nullptr;
  if (known != waiting.end()) {
    into = &operations[known->index];
    waiting.erase(known);
  } else if (operations.size() < kMostOperations) {
    // Only TUNING was asked for. Before 2.21 it tells the large side, since then a rank's part.
    const auto of_process = communicators.find(line.process);
    Operation made{.host = line.host, .op = op};
    if (of_process != communicators.end() && of_process->second.size() == 1) {
      const Communicator& only = of_process->second.begin()->second;
      made.rank = only.rank;
      made.group_size = only.ranks;
      made.group = only.id;
    }
    const bool in_parts = op == "all_gather" || op == "reduce_scatter";
    made.bytes = in_parts && !has_old_sizes
                     ? operations::product(*bytes, std::max(made.group_size, 1))
                     : std::optional(*bytes);
    into = &operations.emplace_back(std::move(made));
  }
  if (into == nullptr) return true;
  into->algorithm = algorithm;
  into->protocol = protocol;
  into->channels = channels;
  return true;
}

void NcclLog::State::take(const NcclLine& line) {
  ++lines;
  if (line.warns && wiring.warnings.size() < kMostWarnings) {
    const std::string text = printable(line.text.substr(0, 200));
    if (std::find(wiring.warnings.begin(), wiring.warnings.end(), text) == wiring.warnings.end()) {
      wiring.warnings.push_back(text);
    }
  }
  if (const auto channels = number_behind(line.text, "");
      channels && *channels < 1000 && line.text.find(" coll channels") != std::string_view::npos) {
    wiring.channels = std::max(wiring.channels, static_cast<int>(*channels));
    ++used;
    return;
  }
  if (collective(line) || tuning(line) || communicator(line) || way(line.text) || ring(line.text) ||
      tree(line.text) || network(line)) {
    ++used;
  }
}

/// Rings that no rank told whole, from what each told of its neighbours.
void NcclLog::State::close_rings() {
  if (drawn.contains(wiring.ranks)) {
    wiring.rings = drawn[wiring.ranks].rings;
  } else if (wiring.ranks == 0 && !drawn.empty()) {
    wiring.rings = drawn.rbegin()->second.rings;
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

NcclLog::NcclLog() : state_(std::make_unique<State>()) {}
NcclLog::~NcclLog() = default;

bool NcclLog::line(std::string_view text) {
  if (const auto line = nccl_line(text)) {
    state_->take(*line);
    return true;
  }
  // Rank 0 also prints this without host and process.
  if (!text.starts_with("NCCL version ") && !text.starts_with("RCCL version ")) return false;
  return state_->network({.host = {}, .process = {}, .text = text});
}

void NcclLog::finish(Told& told) {
  State& state = *state_;
  state.close_rings();
  Wiring& wiring = state.wiring;
  wiring.devices.assign(state.devices.begin(), state.devices.end());
  for (const std::string& name : state.mentioned) {
    const bool taken = std::any_of(wiring.devices.begin(), wiring.devices.end(),
                                   [&](const auto& each) { return name.starts_with(each); });
    if (!taken && is_rdma_name(name)) wiring.other_nics.push_back(name);
  }
  std::set<int> ranks;
  for (const auto& [process, of_process] : state.communicators) {
    for (const auto& [pointer, each] : of_process) {
      if (each.rank && each.ranks == wiring.ranks) ranks.insert(*each.rank);
    }
  }
  if (ranks.size() == 1) told.rank = *ranks.begin();
  told.operations = std::move(state.operations);
  told.wiring = std::move(wiring);
  told.records = state.used;
  state.skips.write_to(told);
  if (told.operations.empty()) {
    told.reasons.emplace_back(
        "no line tells a size: NCCL_DEBUG_SUBSYS=INIT,ENV,NET,GRAPH,COLL,TUNING has them");
  }
}

}  // namespace tw::readers
