// SPDX-License-Identifier: Apache-2.0
#include "trainwire/readers/nccl_log.h"

#include "trainwire/base/colours.h"
#include "trainwire/base/printable.h"
#include "trainwire/base/words.h"
#include "trainwire/readers/nccl_lines.h"
#include "trainwire/readers/nccl_log_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tw::readers {
namespace {

constexpr std::size_t kLongestPrefix =
    64;  ///< "[1,0]<stdout>:", "(RayTrainWorker pid=1234, ip=10.0.0.1) "

using operations::Operation;
using operations::Told;
using operations::Wiring;

constexpr std::size_t kMostOperations = 4'000'000;
constexpr std::size_t kMostWarnings = 5;
constexpr std::size_t kLongestWarning = 200;

/// The beginning, whole words of it.
std::string shortened(std::string_view text) {
  if (text.size() <= kLongestWarning) return printable(text);
  text = text.substr(0, kLongestWarning);
  return printable(text.substr(0, text.rfind(' '))) + " ...";
}

}  // namespace

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
  std::string pointer;
  if (words.go_behind(" comm 0x")) pointer = words.word();
  if (!pointer.empty()) known = find(line.process, pointer);
  if (ranks && *ranks > 0 && *ranks < 10'000'000) made.group_size = static_cast<int>(*ranks);
  // RCCL's tells the rank.
  const auto rank = number_behind(rest, " globalrank ");
  if (rank && *rank >= 0 && *rank < 10'000'000) made.rank = static_cast<int>(*rank);
  if (known != nullptr) {
    made.rank = known->rank;
    made.group_size = known->ranks;
    made.group = known->id.empty()
                     ? fmt::format("communicator {} of {} ranks", known->order, known->ranks)
                     : known->id;
  }
  if (known == nullptr && !made.rank && !pointer.empty()) {
    Side& side = side_of(line, made.group_size, pointer);
    made.teller = side.number;
    made.group = fmt::format("communicator {} of {} ranks", side.orders[pointer], made.group_size);
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

/// "AllReduce: 8388608 Bytes -> Algo RING proto SIMPLE channel{Lo..Hi}={0..23}"; older: "8388608 Bytes -> Algo 1 proto 2 time 93.4", where the
/// operation is not told.
bool NcclLog::State::tuning(const NcclLine& line) {
  const std::size_t at = line.text.find(" Bytes -> Algo ");
  if (at == std::string_view::npos) return false;
  const std::size_t colon = line.text.rfind(": ", at);
  const bool is_named = colon != std::string_view::npos;
  std::string_view name = line.text.substr(0, is_named ? colon : 0);
  name = name.substr(name.rfind(' ') == std::string_view::npos ? 0 : name.rfind(' ') + 1);
  const std::string op = is_named ? operations::canonical_op(name) : "unknown";
  Words words(line.text.substr(is_named ? colon + 2 : 0));
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
    if (each.process != line.process) return false;
    // The large side, as before 2.21.
    if (!is_named) return operations[each.index].bytes == *bytes;
    return each.op == op && each.stated_bytes == *bytes;
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
  if (line.warns) {
    ++used;
    const std::string text = shortened(line.text);
    if (wiring.warnings.size() < kMostWarnings &&
        std::find(wiring.warnings.begin(), wiring.warnings.end(), text) == wiring.warnings.end()) {
      wiring.warnings.push_back(text);
    }
  }
  if (const auto channels = number_behind(line.text, "");
      channels && *channels < 1000 && line.text.find(" coll channels") != std::string_view::npos) {
    wiring.channels = std::max(wiring.channels, static_cast<int>(*channels));
    ++used;
    return;
  }
  if (collective(line) || tuning(line) || communicator(line) || way(line) || ring(line) ||
      tree(line) || network(line)) {
    ++used;
  }
}

NcclLog::NcclLog() : state_(std::make_unique<State>()) {}
NcclLog::~NcclLog() = default;

bool NcclLog::line(std::string_view shown) {
  std::string kept;
  const std::string_view text = without_colours(shown, kept);
  if (const auto line = nccl_line(text)) {
    if (text.find("NCCL INFO ") != text.rfind("NCCL INFO "))
      state_->skips.add("lines into which another was written");
    state_->take(*line);
    return true;
  }
  if (state_->watchdog.line(text)) return true;
  if (state_->stalls.line(text)) {
    ++state_->used;
    return true;
  }
  // Rank 0 also prints this without host and process, behind what launchers put before it.
  const std::size_t at = std::min(text.find("NCCL version "), text.find("RCCL version "));
  if (at > kLongestPrefix) return false;
  return state_->network({.host = {}, .process = {}, .text = text.substr(at)});
}

void NcclLog::finish(Told& told) {
  State& state = *state_;
  state.close_ways();
  state.close_hosts();
  state.close_rings();
  state.close_network();
  state.watchdog.finish(state.operations);
  state.used += state.watchdog.used();
  for (std::uint64_t i = 0; i < state.watchdog.unclear(); ++i)
    state.skips.add("lines of the watchdog that name no rank or collective");
  Wiring& wiring = state.wiring;
  for (const std::string& name : state.mentioned) {
    const bool taken =
        std::any_of(wiring.devices.begin(), wiring.devices.end(), [&](const auto& of_kind) {
          return std::any_of(of_kind.second.begin(), of_kind.second.end(), [&](const auto& each) {
            return name.starts_with(each) || each.find(name) != each.npos;
          });
        });
    if (!taken && is_rdma_name(name)) wiring.other_nics.push_back(name);
  }
  std::set<int> ranks;
  for (const auto& [process, of_process] : state.communicators) {
    for (const auto& [pointer, each] : of_process) {
      if (each.rank && each.ranks == wiring.ranks) ranks.insert(*each.rank);
    }
  }
  if (ranks.size() == 1) told.rank = *ranks.begin();
  told.stall = state.stalls.told();
  told.operations = std::move(state.operations);
  told.wiring = std::move(wiring);
  told.records = state.used;
  state.skips.write_to(told);
  if (told.records == 0) {
    told.reasons.emplace_back(
        "no line of NCCL's tells ranks, rings, ways, NICs or sizes: "
        "NCCL_DEBUG_SUBSYS=INIT,ENV,NET,GRAPH,COLL,TUNING has them");
  } else if (told.operations.empty() && !told.wiring.empty()) {
    told.reasons.emplace_back(
        "no line tells a size: NCCL_DEBUG_SUBSYS=INIT,ENV,NET,GRAPH,COLL,TUNING has them");
  }
}

}  // namespace tw::readers
