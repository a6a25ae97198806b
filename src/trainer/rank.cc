// SPDX-License-Identifier: Apache-2.0
#include "trainwire/trainer/rank.h"

#include "trainwire/base/error.h"
#include "trainwire/os/clock.h"
#include "trainwire/trainer/loop.h"
#include "trainwire/trainer/side_talk.h"
#include "trainwire/trainer/task.h"
#include "trainwire/transport/control.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <optional>

namespace tw::trainer {
namespace {

using nlohmann::json;

/// Often enough for people, too seldom to cost anything.
constexpr std::int64_t kTellNs = 20'000'000;
constexpr std::int64_t kTellBytesNs = 250'000'000;

class Rank {
 public:
  explicit Rank(os::FileDescriptor control) : control_(std::move(control)) {}

  int run() {
    try {
      work();
      return 0;
    } catch (const PeerLost& error) {
      return fail(error.what(), true);
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
    task_ = task_from(control_.receive());
    // Before anybody waits for this rank.
    if (task_.training.learning) {
      data_ = learn::load_data(task_.training.learning->data, task_.training.arrangement.seed);
    }
    const transport::tcp::Listener listener(task_.address);
    control_.send({{"port", listener.endpoint().port}});
    const RankConnections connections =
        sorted_out(connect_all(listener, peering(control_.receive())));
    control_.send({{"ready", true}});
    control_.receive();  // everybody is ready
    os::sleep_until(os::monotonic_ns() + task_.training.start.count());
    const LoopResult result = run_loop(
        task_, connections, [&](std::int64_t step) { tell(step, connections); },
        [this] { leave(); }, data_ ? &*data_ : nullptr);
    control_.send(counts(result, connections));
  }

  transport::tcp::Peering peering(const json& message) const {
    transport::tcp::Peering peering{.token = task_.token,
                                    .rank = task_.rank,
                                    .peers = peers_of(task_.training, task_.rank),
                                    .lanes = lanes_of(task_),
                                    .more = side_connections(task_.training, task_.rank),
                                    .patience = task_.patience};
    for (const json& endpoint : message.at("endpoints")) {
      peering.endpoints.push_back({.address = endpoint.at(0).get<std::string>(),
                                   .port = endpoint.at(1).get<std::uint16_t>()});
    }
    return peering;
  }

  void tell(std::int64_t step, const RankConnections& connections) {
    step_ = step;
    const std::int64_t now = os::monotonic_ns();
    if (now - told_ns_ < kTellNs) return;
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
    control_.send({{"done", true}});
    control_.receive();
  }

  static json counts(const LoopResult& result, const RankConnections& connections) {
    json wires = json::array();
    const auto add = [&](const transport::tcp::Connection& connection) {
      const WireCount& count = result.counts[wires.size()];
      wires.push_back(
          {{"peer", connection.peer},
           {"sent", count.sent},
           {"framing", count.framing + static_cast<std::int64_t>(transport::tcp::kHelloBytes)}});
    };
    std::ranges::for_each(connections.gradient, add);
    std::ranges::for_each(connections.side, add);
    json bench = json::array();
    for (const BenchResult& row : result.bench) {
      bench.push_back({row.elements, row.time_ns, row.wrong, row.cpu_ns});
    }
    json told{
        {"counts", wires}, {"checked", result.checked}, {"wrong", result.wrong}, {"bench", bench}};
    if (result.learnt) told["learnt"] = to_json(*result.learnt);
    return told;
  }

  transport::Control control_;
  Task task_;
  std::optional<learn::DataSet> data_;
  std::int64_t step_ = 0;
  std::int64_t told_ns_ = 0;
  std::int64_t told_bytes_ns_ = 0;
};

}  // namespace

int run_rank(os::FileDescriptor control) { return Rank(std::move(control)).run(); }

}  // namespace tw::trainer
