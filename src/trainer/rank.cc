// SPDX-License-Identifier: Apache-2.0
#include "trainwire/trainer/rank.h"

#include "trainwire/base/error.h"
#include "trainwire/carrier/carried.h"
#include "trainwire/os/clock.h"
#include "trainwire/trainer/loop.h"
#include "trainwire/trainer/side_talk.h"
#include "trainwire/trainer/task.h"
#include "trainwire/transport/control.h"

#include <nlohmann/json.hpp>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <optional>
#include <utility>

namespace tw::trainer {
namespace {

using nlohmann::json;

/// Often enough for people, too seldom to cost anything.
constexpr std::int64_t kTellNs = 20'000'000;
constexpr std::int64_t kTellBytesNs = 250'000'000;
/// A lossy link may lose a repetition too.
constexpr int kUnanswered = 2;
constexpr int kVisitMs = 200;
/// Where nobody listens (tcpmux, which no host of ours runs).
constexpr std::uint16_t kNobodysPort = 1;
/// Timers of poll count milliseconds; the rest of a wait is slept.
constexpr std::int64_t kFineNs = 2'000'000;

class Rank {
 public:
  explicit Rank(os::FileDescriptor control) : control_(std::move(control)) {}

  int run() {
    try {
      work();
      return 0;
    } catch (const PeerLost& error) {
      const auto own = carried_ ? carried_->failure() : std::nullopt;
      return own ? fail(own->c_str(), false) : fail(error.what(), true);
    } catch (const std::exception& error) {
      return fail(error.what(), false);
    }
  }

 private:
  int fail(const char* why, bool peer_lost) const {
    std::fprintf(stderr, "%s\n", why);
    control_.send({{"failed", why}, {"peer_lost", peer_lost}, {"step", step_}});
    return 1;
  }

  void work() {
    std::optional<transport::tcp::Listener> listener;
    while (true) {
      const json message = next_message();
      if (message.contains("leave")) return;  // the job ended without it
      if (message.contains("halt")) {
        answer_halt();
      } else if (message.contains("visit")) {
        visit(message.at("visit"));
      } else {
        task_ = task_from(message);
        // Before anybody waits for this rank.
        if (task_.training.learning && !data_) {
          data_ = learn::load_data(task_.training.learning->data, task_.training.arrangement.seed);
        }
        if (!listener) listener.emplace(task_.address);
        if (take_part(*listener)) return;
      }
    }
  }

  /// In one group, to the end; false when it was given up.
  bool take_part(const transport::tcp::Listener& listener) {
    cuts_.clear();
    RankConnections connections;
    try {
      if (!task_.carrier.empty()) begin_carrying();
      control_.send({{"port", listener.endpoint().port},
                     {"group", task_.survival.group},
                     {"carrier", carried_ ? carried_->contact() : json()}});
      connections = connected(listener, expect("endpoints"));
      control_.send({{"ready", true}});
      expect("go");  // everybody is ready
      os::sleep_until(os::monotonic_ns() + task_.training.start.count());
      const LoopResult result =
          run_loop(task_, connections, hooks(connections), memory_, data_ ? &*data_ : nullptr);
      control_.send(counts(result, connections));
      return true;
    } catch (const Halted&) {
      note_cuts(connections);
    } catch (const PeerLost& error) {
      if (!task_.survival.waits) throw;
      note_cuts(connections);
      tell_lost(error.what(), error.how == PeerLost::How::Silent);
    } catch (const transport::tcp::Unreachable& error) {
      if (!task_.survival.waits) throw;
      cuts_ = error.ranks;
      tell_lost(error.what(), true);
    }
    return false;
  }

  json next_message() {
    if (pending_) return *std::exchange(pending_, std::nullopt);
    return control_.receive();
  }

  /// The next message, which is of that kind, or Halted.
  json expect(const char* key) {
    json message = control_.receive();
    if (message.contains(key)) return message;
    pending_ = std::move(message);
    throw Halted();
  }

  void tell_lost(const char* why, bool silent) const {
    control_.send({{"lost", why}, {"silent", silent}, {"time_ns", os::monotonic_ns()}});
  }

  void answer_halt() const {
    control_.send({{"halted", memory_.next}, {"has_model", memory_.has_model}, {"cuts", cuts_}});
  }

  /// Peers to which something was sent again and again.
  void note_cuts(const RankConnections& connections) {
    for (const auto* kind : {&connections.gradient, &connections.side}) {
      for (const transport::tcp::Connection& c : *kind) {
        const bool cut = transport::tcp::tcp_state(c.socket.get()).unanswered >= kUnanswered;
        if (cut && (cuts_.empty() || cuts_.back() != c.peer)) cuts_.push_back(c.peer);
      }
    }
  }

  /// Tries until it reaches the group that it wants to join, or is told otherwise.
  void visit(const json& where) {
    const transport::tcp::Endpoint to{.address = where.at("address").get<std::string>(),
                                      .port = where.at("port").get<std::uint16_t>()};
    const auto from = where.at("from").get<std::string>();
    while (!control_.wait(0)) {
      const os::FileDescriptor socket = transport::tcp::begin_connect(to, from);
      pollfd waited{.fd = socket.get(), .events = POLLOUT, .revents = 0};
      const bool answered = ::poll(&waited, 1, kVisitMs) > 0;
      const int error = transport::tcp::pending_error(socket);
      if (answered && (error == 0 || error == ECONNREFUSED)) {
        control_.send({{"here", true}});
        return;
      }
      if (control_.wait(kVisitMs)) return;
    }
  }

  LoopHooks hooks(const RankConnections& connections) {
    LoopHooks hooks{.told = [&](std::int64_t step) { tell(step, connections); },
                    .leave = [this] { leave(); }};
    hooks.saved = [this](const Saved& saved) {
      control_.send({{"saved", saved.step},
                     {"bytes", saved.bytes},
                     {"time_ns", saved.time_ns},
                     {"problem", saved.problem}});
    };
    hooks.synchronised = [this](std::int64_t bytes) { control_.send({{"synchronised", bytes}}); };
    if (!task_.survival.waits) return hooks;
    hooks.look = [this] { look(); };
    hooks.sleep_until = [this](std::int64_t until) {
      for (std::int64_t left = until - os::monotonic_ns(); left > kFineNs;
           left = until - os::monotonic_ns()) {
        if (control_.wait(static_cast<int>((left - kFineNs / 2) / 1'000'000))) throw Halted();
      }
      os::sleep_until(until);
    };
    return hooks;
  }

  void look() const {
    if (control_.wait(0)) throw Halted();
  }

  /// Wires of the gradients: with whom, and how many.
  std::vector<carrier::Wire> wires() const {
    std::vector<carrier::Wire> wires;
    for (const int peer : peers_of(task_.training, task_.rank)) {
      for (int lane = 0; lane < lanes_of(task_); ++lane)
        wires.push_back({.rank = peer, .lane = lane});
    }
    return wires;
  }

  void begin_carrying() {
    carried_.emplace(carrier::Carriage{.transport = task_.transport, .program = task_.carrier},
                     carrier::Assignment{.rank = task_.rank,
                                         .ranks = task_.training.ranks(),
                                         .address = task_.address,
                                         .wires = wires(),
                                         .patience = task_.patience});
  }

  /// Side connections are our own whoever carries the gradients.
  RankConnections connected(const transport::tcp::Listener& listener, const json& message) {
    transport::tcp::Peering all = peering(message);
    for (const int peer : task_.refused_by) {
      try_in_vain(all.endpoints.at(static_cast<std::size_t>(peer)).address);
    }
    if (!carried_) {
      RankConnections connections = sorted_out(connect_all(listener, all));
      if (task_.casting.multicasts) begin_casting(connections);
      return connections;
    }
    all.peers.clear();
    RankConnections connections;
    if (!all.more.empty()) connections = sorted_out(connect_all(listener, all));
    std::vector<carrier::Contact> contacts;
    for (const json& endpoint : message.at("endpoints")) {
      contacts.push_back({.address = endpoint.at(0).get<std::string>(), .carrier = endpoint.at(2)});
    }
    connections.gradient = carried_->connect(contacts);
    connections.carrier_cpu_ns = [this] { return carried_->cpu_ns(); };
    return connections;
  }

  void begin_casting(RankConnections& connections) const {
    connections.casts = std::make_shared<Casts>(task_);
    for (transport::tcp::Connection& cast : connections.casts->take_connections()) {
      connections.gradient.push_back(std::move(cast));
    }
  }

  /// As a framework does that connects before the others listen: one SYN, and the RST that answers.
  void try_in_vain(const std::string& address) const {
    const os::FileDescriptor socket =
        transport::tcp::begin_connect({.address = address, .port = kNobodysPort}, task_.address);
    pollfd waited{.fd = socket.get(), .events = POLLOUT, .revents = 0};
    ::poll(&waited, 1, kVisitMs);
  }

  transport::tcp::Peering peering(const json& message) const {
    transport::tcp::Peering peering{.token = task_.token,
                                    .rank = task_.rank,
                                    .peers = peers_of(task_.training, task_.rank),
                                    .lanes = lanes_of(task_),
                                    .more = side_connections(task_.training, task_.rank),
                                    .patience = task_.patience};
    const auto idle = idle_connections(task_.idle_connections, task_.rank, task_.training.ranks());
    peering.more.insert(peering.more.end(), idle.begin(), idle.end());
    if (task_.survival.waits) peering.look = [this] { look(); };
    for (const json& endpoint : message.at("endpoints")) {
      peering.endpoints.push_back({.address = endpoint.at(0).get<std::string>(),
                                   .port = endpoint.at(1).get<std::uint16_t>()});
    }
    return peering;
  }

  void tell(std::int64_t step, const RankConnections& connections) {
    step_ = step;
    const std::int64_t now = os::monotonic_ns();
    const Survival& survival = task_.survival;
    const bool at_once = std::ranges::find(survival.told_steps, step) != survival.told_steps.end();
    for (const OwnSignal& own : survival.signals) {
      if (own.step != step) continue;
      control_.send({{"fault", own.fault}, {"time_ns", os::monotonic_ns()}, {"step", step}});
      ::kill(::getpid(), own.signal);
    }
    if (now - told_ns_ < kTellNs && !at_once) return;
    told_ns_ = now;
    json message{{"step", step}};
    if (now - told_bytes_ns_ >= kTellBytesNs) {
      told_bytes_ns_ = now;
      message["acknowledged"] = acknowledged(connections);
    }
    control_.send(message);
  }

  /// Bytes that have reached each peer.
  json acknowledged(const RankConnections& connections) const {
    std::vector<std::int64_t> bytes(
        static_cast<std::size_t>(task_.training.arrangement.layout.ranks()));
    for (const auto* kind : {&connections.gradient, &connections.side}) {
      for (const transport::tcp::Connection& c : *kind) {
        bytes[static_cast<std::size_t>(c.peer)] +=
            transport::tcp::tcp_state(c.socket.get()).acknowledged_bytes;
      }
    }
    return bytes;
  }

  void leave() {
    if (carried_) carried_->hold();
    control_.send({{"done", true}});
    expect("leave");
  }

  /// What a carrier adds to the bytes that it gets is the kernel's to count.
  json counts(const LoopResult& result, const RankConnections& connections) {
    json wires = json::array();
    std::size_t next = 0;
    const auto add = [&](const transport::tcp::Connection& connection, bool greets) {
      const WireCount& count = result.counts[next++];
      const auto hello = greets ? static_cast<std::int64_t>(transport::tcp::kHelloBytes) : 0;
      wires.push_back(
          {{"peer", connection.peer}, {"sent", count.sent}, {"framing", count.framing + hello}});
    };
    json casts = json::array();
    for (const auto& connection : connections.gradient) {
      if (connection.lane >= workload::kFirstCastLane) {
        casts.push_back(connections.casts->told(connection.lane, result.counts[next++].sent));
      } else {
        add(connection, !carried_);
      }
    }
    for (const auto& connection : connections.side) add(connection, true);
    json bench = json::array();
    for (const BenchResult& row : result.bench) {
      bench.push_back({row.elements, row.time_ns, row.wrong, row.cpu_ns});
    }
    json pairs = json::array();
    for (const PairResult& pair : result.pairs) {
      pairs.push_back(
          {pair.peer, pair.round_trip_ns, pair.received_bytes, pair.time_ns, pair.retransmitted});
    }
    json told{{"counts", wires},
              {"checked", result.checked + memory_.checked},
              {"wrong", result.wrong + memory_.wrong},
              {"sent_before", memory_.sent},
              {"bench", bench},
              {"pairs", pairs},
              {"casts", casts},
              {"tcp", carried_ ? to_json(carried_->finish()) : json::array()}};
    if (result.learnt) told["learnt"] = to_json(*result.learnt);
    return told;
  }

  transport::Control control_;
  Task task_;
  std::optional<learn::DataSet> data_;
  Memory memory_;
  std::optional<json> pending_;  ///< that ended what went on
  std::vector<int> cuts_;        ///< ranks of the last group that were not reached
  std::optional<carrier::Carried> carried_;
  std::int64_t step_ = 0;
  std::int64_t told_ns_ = 0;
  std::int64_t told_bytes_ns_ = 0;
};

}  // namespace

int run_rank(os::FileDescriptor control) { return Rank(std::move(control)).run(); }

}  // namespace tw::trainer
